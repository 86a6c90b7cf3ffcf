package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// site is the directory of a project with its data and scratch directories.
type site string

func (p site) in(name string) string { return filepath.Join(string(p), name) }

func (p site) open() (*cairn.Repo, error) {
	return cairn.Open(cairn.Options{Root: p.in("project"), DataDir: p.in("data")})
}

// search finds the first state whose file n holds at least 5. The command makes files of its own.
func (p site) search(ctx context.Context) (found *Result, err error) {
	repo, err := p.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	last, err := repo.Lookup(ctx, "@")
	if err != nil {
		return nil, err
	}
	steps, err := Steps(ctx, repo, nil, last)
	if err != nil {
		return nil, err
	}
	r := &Runner{Repo: repo, Command: []string{"check"}, Scratch: p.in("scratch")}
	defer func() { err = errors.Join(err, r.Close()) }()
	r.Run = func(_ context.Context, dir string, _ *cairn.Checkpoint) (int, error) {
		text, err := os.ReadFile(filepath.Join(dir, "n"))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "built"), text, 0o600)
		}
		return map[bool]int{true: 1}[string(text) >= "5"], err
	}
	return Bisect(ctx, steps, r.Test)
}

// harmed is a project in which searches are harmed, over and over from the same state.
type harmed struct {
	site
	pristine string
	want     string // the first state at which the command fails
	project  gittest.Listing
}

func newHarmed(t *testing.T) *harmed {
	t.Helper()
	p := &harmed{site: site(t.TempDir()), pristine: filepath.Join(t.TempDir(), "data")}
	if err := os.Mkdir(p.in("project"), 0o755); err != nil {
		t.Fatal(err)
	}
	repo, err := p.open()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		gittest.Create(t, p.in("new"), gittest.Tree{"n": gittest.File(fmt.Sprint(i)), "d/same": gittest.File("same"), "link": gittest.Link("n")})
		if err := errors.Join(os.RemoveAll(p.in("project")), os.Rename(p.in("new"), p.in("project"))); err != nil {
			t.Fatal(err)
		}
		if _, err := repo.Track(t.Context(), cairn.TrackOptions{Verify: true}); err != nil {
			t.Fatal(err)
		}
	}
	want, err := repo.Lookup(t.Context(), "@~2")
	if err = errors.Join(err, repo.Close(), os.Mkdir(p.in("scratch"), 0o700)); err != nil {
		t.Fatal(err)
	}
	p.want = want.ID
	gittest.CopyTree(t, p.in("data"), p.pristine)
	p.project = gittest.Manifest(t, p.in("project"))
	return p
}

// again brings the first state back, and returns the search that is harmed and its environment.
func (p *harmed) again(t *testing.T) (argv, env []string) {
	t.Helper()
	gittest.CopyTree(t, p.pristine, p.in("data"))
	return []string{os.Args[0]}, append(os.Environ(), "CAIRN_TEST_BISECT="+string(p.site), "GOMAXPROCS=2")
}

// look fails unless the next search finds the answer, leaves no copy behind, and nothing but store and scratch
// directory has changed. It returns how many runs of the command the search took.
func (p *harmed) look(t *testing.T, when string) (tested int) {
	t.Helper()
	gittest.AssertEqual(t, "the project, "+when, p.project, gittest.Manifest(t, p.in("project")))
	found, err := p.search(t.Context())
	if err != nil || found.First == nil || found.First.ID != p.want {
		t.Fatalf("%s: %+v, %v", when, found, err)
	}
	gittest.AssertEqual(t, "the project, after a search, "+when, p.project, gittest.Manifest(t, p.in("project")))
	for dir, names := range map[string]int{"scratch": 0, "": 3} {
		if left, err := os.ReadDir(p.in(dir)); err != nil || len(left) != names {
			t.Errorf("%s: %s has %v, %v", when, dir, left, err)
		}
	}
	p.check(t)
	return found.Tested
}

// TestBisectKilled kills a search. One that ended is not repeated.
func TestBisectKilled(t *testing.T) {
	t.Parallel()
	p := newHarmed(t)
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		argv, env := p.again(t)
		return gittest.KillAt(t, argv, env, gittest.WriteCalls, n)
	}, func(when string) { p.look(t, when) })
	if tested := p.look(t, "undisturbed"); tested > 0 {
		t.Errorf("a search that ended is repeated: %d runs", tested)
	}
}

// TestBisectWriteErrors lets one system call fail, as on a full disk.
func TestBisectWriteErrors(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			p := newHarmed(t)
			gittest.Failed(t, []syscall.Errno{errno}, gittest.First(), gittest.Stride(), func(n int, errno syscall.Errno) gittest.Crash {
				argv, env := p.again(t)
				return gittest.FailAt(t, argv, env, gittest.WriteCalls, n, errno)
			}, func(when string, _ gittest.Crash) { p.look(t, when) })
		})
	}
}

// check fails if the store has a fault.
func (p site) check(t *testing.T) {
	t.Helper()
	repo, err := p.open()
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	faults, err := repo.Check(t.Context(), cairn.CheckOptions{})
	faults = slices.DeleteFunc(faults, func(f cairn.Fault) bool { return f.Kind == "temporary" }) // temporary files, swept later
	if err != nil || len(faults) > 0 {
		t.Errorf("%+v, %v", faults, err)
	}
}

// BenchmarkLay measures what it costs to lay out a state of 2,000 files in an empty copy, and to go from
// one state to another that differs in one file.
func BenchmarkLay(b *testing.B) {
	for _, step := range []bool{false, true} {
		b.Run(map[bool]string{false: "first", true: "step"}[step], func(b *testing.B) {
			p := site(b.TempDir())
			tree := gittest.Tree{}
			for i := range 2000 {
				tree[fmt.Sprintf("d%d/f%d", i%50, i)] = gittest.File(fmt.Sprintf("%d %s", i, gittest.Noise(uint64(i), 2000)))
			}
			gittest.Create(b, p.in("project"), tree)
			repo, err := p.open()
			if err != nil {
				b.Fatal(err)
			}
			defer repo.Close()
			var states []*cairn.Checkpoint
			for i := range 2 {
				gittest.Create(b, p.in("project"), gittest.Tree{fmt.Sprint("more", i): gittest.File("x")})
				if _, err := repo.Track(b.Context(), cairn.TrackOptions{}); err != nil {
					b.Fatal(err)
				}
				c, err := repo.Lookup(b.Context(), "@")
				if err != nil {
					b.Fatal(err)
				}
				states = append(states, c)
			}
			at := 0
			var c *Copy
			fresh := func() {
				if c != nil {
					if err := c.Remove(); err != nil {
						b.Fatal(err)
					}
				}
				if c, err = NewCopy(repo, p.in("scratch")); err != nil {
					b.Fatal(err)
				}
			}
			fresh()
			defer func() { c.Remove() }()
			if err := c.To(b.Context(), states[0]); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if !step {
					b.StopTimer()
					fresh()
					b.StartTimer()
				}
				at = 1 - at
				if err := c.To(b.Context(), states[at]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
