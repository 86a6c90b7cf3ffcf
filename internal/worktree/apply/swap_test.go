//go:build unix

package apply

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// TestR43R44SwapAttack: while plans are carried out below a/, another goroutine keeps
// replacing a by a link to outside the root, by a link to c inside it, by a FIFO, a
// file and another directory. Nothing may ever be written, removed or altered in what
// the links lead to, and no call may hang on the FIFO.
func TestR43R44SwapAttack(t *testing.T) {
	t.Parallel()
	wantSwaps := int64(gittest.Rounds(3_000))
	root, outside := t.TempDir(), t.TempDir()
	victim := testTree{
		"f": aFile("precious"), "del": aFile("precious"), "mode": aFile("precious").bits(0o600), "dir": aFolder().bits(0o700), "rm": aFolder(),
		"sub/f": aFile("precious"), "sub/del": aFile("precious"), "l": aLink("precious"),
	}
	victim.build(t, outside)
	must(t, os.Mkdir(filepath.Join(root, "c"), 0o755))
	victim.build(t, filepath.Join(root, "c"))
	must(t, os.Mkdir(filepath.Join(root, "a"), 0o755))
	guarded := map[string]*dir.State{} // inode, times and all
	for path := range victim.full() {
		guarded[filepath.Join(outside, path)] = expect(t, outside, path)
		guarded[filepath.Join(root, "c", path)] = expect(t, filepath.Join(root, "c"), path)
	}

	var swaps atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		swapper{a: filepath.Join(root, "a"), outside: outside}.run(stop, &swaps)
	}()
	written := attackedApplies(t, root, func() bool { return swaps.Load() >= wantSwaps })
	close(stop)
	<-stopped

	for at, was := range guarded {
		now := expect(t, filepath.Dir(at), filepath.Base(at))
		if now == nil || *now != *was {
			t.Errorf("%s: was %+v, is %+v", at, was, now)
		}
	}
	victim.check(t, outside)
	victim.check(t, filepath.Join(root, "c"))
	if written == 0 {
		t.Error("not one write arrived: the attack proves nothing")
	}
	t.Logf("%d swaps, %d changes done", swaps.Load(), written)
}

// attackedApplies carries out changes of every kind below a/ until enough is true,
// and returns how many were done.
func attackedApplies(t *testing.T, root string, enough func() bool) (done int) {
	t.Helper()
	a, blobs := newExecutor(root)
	id, text := blobs.put("written by the plan"), blobs.put("link text")
	for round := 0; !enough() || done == 0; round++ {
		a.Resume = round%2 == 1
		var changes []Change
		for _, c := range []Change{
			{Path: "a/f", Action: Modify, Mode: object.Regular, Perm: 0o644, ID: id},
			{Path: "a/l", Action: Modify, Mode: object.Symlink, ID: text},
			{Path: "a/new", Action: Create, Mode: object.Regular, Perm: 0o644, ID: id},
			{Path: "a/sub/f", Action: Modify, Mode: object.Regular, Perm: 0o644, ID: id},
			{Path: "a/sub/deep/new", Action: Create, Mode: object.Executable, Perm: 0o755, ID: id},
			{Path: "a/made", Action: Mkdir, Mode: object.Dir, Perm: 0o755},
			{Path: "a/mode", Action: Chmod, Mode: object.Regular, Perm: 0o644},
			{Path: "a/dir", Action: Chmod, Mode: object.Dir, Perm: 0o755},
			{Path: "a/del", Action: Delete}, {Path: "a/sub/del", Action: Delete}, {Path: "a/rm", Action: Rmdir},
		} {
			// Through the link, a plan would even find what it expects.
			if c.Was = expectRaced(root, c.Path); c.Was != nil || c.Action != Chmod {
				changes = append(changes, c)
			}
		}
		outcomes, err := a.Run(context.Background(), changes, nil)
		must(t, err)
		for _, out := range outcomes {
			if out.Done {
				done++
			}
		}
		must(t, RemoveTemps(root, a.Token, changes))
	}
	return done
}

// expectRaced is what a planner that follows links sees, as well as it can be seen.
func expectRaced(root, path string) *dir.State {
	fi, err := os.Lstat(filepath.Join(root, path))
	if err != nil {
		return nil
	}
	look := dir.InfoOf(fi)
	return &dir.State{Mode: look.Mode, Perm: look.Perm, Stat: look.Stat}
}

type swapper struct{ a, outside string }

func (s swapper) run(stop chan struct{}, swaps *atomic.Int64) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		if os.Rename(s.a, s.a+".real") != nil {
			// Apply has made a directory of that name meanwhile: the old one gives way.
			os.RemoveAll(s.a + ".real")
			os.Mkdir(s.a, 0o755)
			continue
		}
		switch i % 8 {
		case 0, 1:
			os.Symlink(s.outside, s.a)
		case 2, 3:
			os.Symlink("c", s.a)
		case 4:
			syscall.Mkfifo(s.a, 0o600)
		case 5:
			os.WriteFile(s.a, nil, 0o600)
		case 6:
			os.Symlink("c/sub/..", s.a)
		case 7:
			os.Mkdir(s.a, 0o755)
		}
		os.Remove(s.a)
		if os.Rename(s.a+".real", s.a) == nil {
			swaps.Add(1)
		}
	}
}

// TestSwapOfTheFileItself: a path flips between a file and links; what the links
// lead to keeps its contents and its bits.
func TestSwapOfTheFileItself(t *testing.T) {
	t.Parallel()
	wantSwaps := int64(gittest.Rounds(1_500))
	root := t.TempDir()
	testTree{"f": aFile("file"), "victim": aFile("precious").bits(0o600)}.build(t, root)
	at := filepath.Join(root, "f")
	var swaps atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Symlink("victim", at+".l")
			os.Rename(at+".l", at)
			os.WriteFile(at+".f", []byte("file"), 0o644)
			os.Rename(at+".f", at)
			swaps.Add(1)
		}
	}()
	a, blobs := newExecutor(root)
	id := blobs.put("file")
	for i := 0; swaps.Load() < wantSwaps; i++ {
		a.Resume = i%2 == 0
		was := &dir.State{Mode: object.Regular, Perm: 0o644, ID: id}
		changes := []Change{{Path: "f", Action: Chmod, Mode: object.Executable, Perm: 0o755, Was: was}}
		if i%4 > 1 {
			changes[0].Action, changes[0].ID = Modify, blobs.put(strings.Repeat("w", i%7))
		}
		_, err := a.Run(context.Background(), changes, nil)
		must(t, err)
	}
	close(stop)
	<-stopped
	must(t, os.RemoveAll(at))
	os.Remove(at + ".l")
	os.Remove(at + ".f")
	testTree{"victim": aFile("precious").bits(0o600)}.check(t, root)
}
