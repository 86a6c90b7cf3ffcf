package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// packInodes are the inodes of the packs of a store.
func packInodes(t *testing.T, store string) map[uint64]bool {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(store, "objects", "pack", "*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	inodes := make(map[uint64]bool)
	for _, pack := range packs {
		info, err := os.Lstat(pack)
		if err != nil {
			t.Fatal(err)
		}
		inodes[info.Sys().(*syscall.Stat_t).Ino] = true
	}
	return inodes
}

// forkWithNews is a root and a fork in which large new contents were captured.
func forkWithNews(t *testing.T) (f, k *fixture) {
	t.Helper()
	f = newFixture(t, gittest.Tree{"a": gittest.File("one\n"), "sub/b": gittest.File("one\n")})
	f.trackAll()
	k, _ = f.fork(copyPlace(t), cairn.ForkOptions{})
	k.write("sub/new", string(gittest.Noise(1, 300<<10)))
	k.write("sub/more", string(gittest.Noise(2, 300<<10)))
	k.track()
	return f, k
}

// shared counts the packs that two stores have in one place on the disk.
func (f *fixture) shared(k *fixture) (n int) {
	f.Helper()
	theirs := packInodes(f.T, cairn.StorePath(f.data, k.root))
	for inode := range packInodes(f.T, cairn.StorePath(f.data, f.root)) {
		if theirs[inode] {
			n++
		}
	}
	return n
}

// TestMergeLinksPacks: what a fork has captured comes by hard link, and takes no room twice. A cleaning,
// a purge or the removal of either store takes nothing from the other.
func TestMergeLinksPacks(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	clean := func(s *fixture) {
		opt := cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 1, KeepLast: 1}, Thorough: true}
		if _, err := s.repo().Clean(t.Context(), opt); err != nil {
			t.Fatal(err)
		}
	}
	purge := func(s *fixture) {
		s.purge("sub/new")
		s.wantNoTrace(string(gittest.Noise(1, 300<<10)[:40]))
	}
	remove := func(s *fixture) {
		s.closeAll()
		if err := os.RemoveAll(cairn.StorePath(s.data, s.root)); err != nil {
			t.Fatal(err)
		}
	}
	for name, harm := range map[string]func(*fixture){"clean": clean, "purge": purge, "remove": remove} {
		for _, there := range []bool{false, true} {
			f, k := forkWithNews(t)
			before, size := f.shared(k), onDisk(t, f.data)
			f.merge(k, cairn.MergeOptions{})
			if f.shared(k) <= before {
				t.Errorf("%s: a merge has linked no pack", name)
			}
			if grown := onDisk(t, f.data) - size; grown > 100<<10 {
				t.Errorf("%s: the stores have grown by %d bytes", name, grown)
			}
			harmed, other := f, k
			if there {
				harmed, other = k, f
			}
			harm(harmed)
			harmed.closeAll()
			gittest.NewOracle(t).Fsck(cairn.StorePath(f.data, other.root))
			hash := other.track().Hash
			other.remove("sub/new")
			other.restore(hash)
			if other.read("sub/new") != string(gittest.Noise(1, 300<<10)) {
				t.Errorf("%s: the other store has lost the contents", name)
			}
		}
	}
}

// TestMergeAfterAPurgeLinksNothing: a pack of the fork may hold what was purged here.
func TestMergeAfterAPurgeLinksNothing(t *testing.T) {
	t.Parallel()
	f, k := forkWithNews(t)
	base := f.track().Checkpoint
	if _, err := f.repo().Purge(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	before := f.shared(k)
	f.merge(k, cairn.MergeOptions{Base: base})
	if after := f.shared(k); after > before {
		t.Errorf("%d packs shared before, %d after", before, after)
	}
	if f.read("sub/more") != string(gittest.Noise(2, 300<<10)) {
		t.Error("the new file did not come")
	}
}

// TestMergeAfterAPurgeOfSecrets: such a purge may leave no path out of captures, and the pack of the fork may
// hold a secret that was purged here.
func TestMergeAfterAPurgeOfSecrets(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("one\n"), "key": gittest.File(madeToken("A") + "\n")})
	f.trackAll()
	f.remove("key")
	f.track()
	k, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
	for i := range 6 {
		k.write(fmt.Sprint("new", i), string(gittest.Noise(uint64(i), 60<<10)))
	}
	k.write("again", "# "+madeToken("A")+"\n")
	k.track()
	k.remove("again")
	k.track()
	if _, err := f.repo().PurgeSecrets(t.Context(), cairn.PurgeSecretsOptions{}); err != nil {
		t.Fatal(err)
	}
	f.wantNoTrace(madeToken("A"))
	f.merge(k, cairn.MergeOptions{})
	f.wantNoTrace(madeToken("A"))
	if f.read("new1") != string(gittest.Noise(1, 60<<10)) {
		t.Error("the new files did not come")
	}
}

// TestMergeWithinAPurgeThere: a pack of a store whose purge has not dropped everything may hold what goes.
func TestMergeWithinAPurgeThere(t *testing.T) {
	t.Parallel()
	f, k := forkWithNews(t)
	k.closeAll()
	unfinished := filepath.Join(cairn.StorePath(k.data, k.root), "cairn", "purging")
	if err := os.WriteFile(unfinished, []byte("unfinished\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := f.shared(k)
	f.merge(k, cairn.MergeOptions{})
	if after := f.shared(k); after > before {
		t.Errorf("%d packs shared before, %d after", before, after)
	}
}

// TestCompareLinksPacks: so does a comparison.
func TestCompareLinksPacks(t *testing.T) {
	t.Parallel()
	f, k := forkWithNews(t)
	before := f.shared(k)
	if _, err := f.repo().Compare(t.Context(), []cairn.MergeSource{{Repo: k.repo()}}, cairn.CompareOptions{}); err != nil {
		t.Fatal(err)
	}
	if f.shared(k) <= before {
		t.Error("a comparison has linked no pack")
	}
}
