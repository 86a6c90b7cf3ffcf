package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// versions makes a repository of many versions of a file and returns its git directory
// and the objects to pack.
func versions(t *testing.T, o *gittest.Oracle) (gitDir, objects string) {
	t.Helper()
	dir := o.Init(tempDir(t))
	text := strings.Repeat("a line of text that is much like the others\n", 300)
	for i := range 12 {
		write(t, filepath.Join(dir, "f"), text[:i*44]+"changed\n"+text[i*44:])
		o.Commit(dir, "next")
	}
	return filepath.Join(dir, ".git"), o.In(dir, "rev-list", "--objects", "--all")
}

func TestPackObjects(t *testing.T) {
	t.Parallel()
	b, o := lookBinary(t), gittest.NewOracle(t)
	gitDir, objects := versions(t, o)
	out := t.TempDir()
	if err := b.PackObjects(context.Background(), gitDir, out, strings.NewReader(objects), PackLimits{}); err != nil {
		t.Fatal(err)
	}
	packs, err := filepath.Glob(filepath.Join(out, "pack-*.idx"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("packs %q, %v", packs, err)
	}
	report := o.In(filepath.Dir(gitDir), "verify-pack", "-v", packs[0])
	for line := range strings.Lines(objects) {
		if !strings.Contains(report, line[:40]) {
			t.Errorf("lacks %s", line)
		}
	}
	if !strings.Contains(report, "chain length = 2") {
		t.Errorf("no deltas:\n%s", report)
	}
	if left, _ := filepath.Glob(filepath.Join(gitDir, "objects", "pack", "*")); len(left) > 0 {
		t.Errorf("it has written into the repository: %q", left)
	}
}

// git compares no objects of the same pack, unless it is told to.
func TestPackObjectsAnew(t *testing.T) {
	t.Parallel()
	b, o := lookBinary(t), gittest.NewOracle(t)
	gitDir, objects := versions(t, o)
	o.In(filepath.Dir(gitDir), "repack", "-a", "-d", "-f", "--window=0", "--depth=0")
	packed := func(limits PackLimits) (size int64) {
		out := t.TempDir()
		if err := b.PackObjects(t.Context(), gitDir, out, strings.NewReader(objects), limits); err != nil {
			t.Fatal(err)
		}
		packs, err := filepath.Glob(filepath.Join(out, "pack-*.pack"))
		if err != nil || len(packs) != 1 {
			t.Fatalf("packs %q, %v", packs, err)
		}
		info, err := os.Stat(packs[0])
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if as, anew := packed(PackLimits{}), packed(PackLimits{Anew: true}); anew > as*3/4 {
		t.Errorf("%d bytes, and %d anew", as, anew)
	}
}

func TestPackObjectsFails(t *testing.T) {
	t.Parallel()
	b, o := lookBinary(t), gittest.NewOracle(t)
	gitDir, objects := versions(t, o)
	for name, input := range map[string]string{
		"missing object": objects + strings.Repeat("12", 20) + " x\n",
		"no id":          "what\n" + strings.Repeat(objects, 2000), // it ends long before it has read all
		"nothing":        "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			err := b.PackObjects(context.Background(), gitDir, out, strings.NewReader(input), PackLimits{Threads: 2, Memory: 1 << 20})
			packs, _ := filepath.Glob(filepath.Join(out, "*.pack"))
			if len(packs) > 0 || err == nil && input != "" {
				t.Errorf("%v, packs %q", err, packs)
			}
			if err != nil && !strings.Contains(err.Error(), "git pack-objects: ") {
				t.Errorf("error %q", err)
			}
		})
	}
}

// Cancelling ends git and its children, and the error is the context's.
func TestPackObjectsCancel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	b := fakeGit(t, `sleep 1000 & echo $! >'`+started+`.new'; mv '`+started+`.new' '`+started+`'; wait`)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	go func() { done <- b.PackObjects(ctx, dir, dir, r, PackLimits{}) }()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(started); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("not started within a minute")
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
