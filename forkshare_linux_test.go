package cairn_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// onDisk sums the bytes of the files below a directory, a file with several names once.
func onDisk(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	seen := make(map[uint64]bool)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if inode := info.Sys().(*syscall.Stat_t).Ino; !seen[inode] {
			seen[inode] = true
			bytes += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// TestTenForksShareOneStore: the stores of ten forks, each with work of its own, take less than 1.1 times
// the room of one store and that work, stat caches and all.
func TestTenForksShareOneStore(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	const files, size = 2000, 8 << 10 // on a busy machine times are less regular, and stat caches larger
	tree := make(gittest.Tree, files)
	for i := range files {
		tree[fmt.Sprintf("d%d/f%d", i%40, i)] = gittest.File(string(gittest.Noise(uint64(i), size)))
	}
	f := newFixture(t, tree)
	f.trackAll()
	one := onDisk(t, f.data)
	base, work := t.TempDir(), int64(0)
	for i := range 10 {
		k, res := f.fork(filepath.Join(base, fmt.Sprint(i)), cairn.ForkOptions{})
		if res.PacksCopied.Files > 0 {
			t.Fatalf("%+v", res)
		}
		k.write("d0/f0", string(gittest.Noise(uint64(files+i), size)))
		k.track()
		k.closeAll()
		work += size
	}
	all := onDisk(t, f.data)
	ratio := float64(all-work) / float64(one)
	t.Logf("one store %d bytes, eleven %d, work %d: %.3f times one store", one, all, work, ratio)
	if ratio >= 1.1 {
		t.Errorf("eleven stores take %.3f times the room of one", ratio)
	}
}

// TestForksOutliveEachOther: a cleaning, a purge or the removal of one store takes nothing from another.
func TestForksOutliveEachOther(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, copiedTree)
	first := f.trackAll()
	f.write("a", "two\n")
	f.track()
	k, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
	g, _ := k.fork(copyPlace(t), cairn.ForkOptions{})
	want := k.manifest()
	if _, err := f.repo().Purge(t.Context(), []string{"a", "big"}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*fixture{f, g} {
		if _, err := s.repo().Clean(t.Context(), cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 1, KeepLast: 1}, Thorough: true}); err != nil {
			t.Fatal(err)
		}
		s.closeAll()
	}
	for _, s := range []*fixture{f, k, g} {
		o.Fsck(cairn.StorePath(f.data, s.root))
	}
	if err := os.RemoveAll(cairn.StorePath(f.data, f.root)); err != nil {
		t.Fatal(err)
	}
	if text := readAt(t, k, first, "a"); text != "one\n" {
		t.Errorf("%q", text)
	}
	if faults, err := k.repo().Check(t.Context(), cairn.CheckOptions{}); err != nil || len(faults) > 0 {
		t.Errorf("%v %v", faults, err)
	}
	k.remove("a")
	k.restoreAll("@")
	gittest.AssertEqual(t, "the fork", want, k.manifest())
}
