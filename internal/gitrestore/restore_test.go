package gitrestore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestBack: after each harm everything is as before, as far as git tells, and the way back is open:
// the same again leads to the state after the harm.
func TestBack(t *testing.T) {
	t.Parallel()
	known := knownFormats(t)
	for i, name := range slices.Sorted(maps.Keys(harms)) {
		for _, format := range formatsFor(i) {
			if !slices.Contains(known, format) {
				t.Logf("SKIPPED: this git has no %s", format)
				continue
			}
			harm := harms[name]
			t.Run(format+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, formats[format]...)
				w.write("staged", "staged")
				w.git("add", "staged")
				before, want, files := w.record(), w.look(), w.files()
				harm(w)
				after, harmed, left := w.record(), w.look(), w.files()
				if p := w.back(before, after, Parts{}); len(p.Conflicts) > 0 {
					t.Errorf("conflicts %v", p.Conflicts)
				}
				w.putBack(files)
				w.same("back", want)
				if after == nil {
					return
				}
				again := w.record()
				w.back(after, again, Parts{})
				w.putBack(left)
				w.same("and back again", harmed)
			})
		}
	}
}

// TestOnlyWhatTheStepMoved: what another program has moved since stays, and is said.
func TestOnlyWhatTheStepMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.record()
	w.git("branch", "-q", "-D", "a")
	w.git("reset", "-q", "--hard", "HEAD~1")
	after := w.record()
	w.commit() // by the user, on main
	w.git("branch", "mine")
	main := w.git("rev-parse", "main")
	p := w.back(before, after, Parts{Refs: true})
	if len(p.Conflicts) != 1 || p.Conflicts[0].Ref != "refs/heads/main" {
		t.Errorf("conflicts %v", p.Conflicts)
	}
	if w.git("rev-parse", "main") != main {
		t.Error("the user's commit is gone from main")
	}
	w.git("rev-parse", "--verify", "mine")
	w.git("rev-parse", "--verify", "a")
}

// TestParts: only what is asked for goes back.
func TestParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		parts Parts
		want  string
	}{
		"head":  {Parts{Head: true}, "move HEAD to main"},
		"refs":  {Parts{Refs: true}, "create refs/heads/a"},
		"index": {Parts{Index: true}, "replace the index"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := w.record()
			w.git("branch", "-q", "-D", "a")
			w.git("checkout", "-q", "b")
			w.write("more", "more")
			w.git("add", "more")
			p := Make(before, nil, w.record(), c.parts)
			if lines := p.Changes(); len(lines) != 1 || !strings.HasPrefix(lines[0], c.want) {
				t.Errorf("plan %q", lines)
			}
		})
	}
}

// TestRefused: an operation that has begun since the step is not disturbed.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.record()
	w.git("reset", "-q", "--hard", "HEAD~1")
	after := w.record()
	w.write(".git/MERGE_HEAD", w.git("rev-parse", "HEAD"))
	want := w.look()
	p := Make(before, after, w.record(), Parts{})
	if p.Refused == "" {
		t.Errorf("not refused: %q", p.Changes())
	}
	if _, err := w.Apply(context.Background(), p); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
	w.same("refused", want)
}

// TestMeanwhile: a ref or an index that has moved since the plan was made stays, with all others.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(w *world){
		"ref":   func(w *world) { w.git("update-ref", "refs/heads/b", "HEAD") },
		"index": func(w *world) { w.write("other", "x"); w.git("add", "other") },
		"lock":  func(w *world) { w.write(".git/index.lock", "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := w.record()
			w.git("branch", "-q", "-D", "a", "b")
			w.git("branch", "b", "HEAD~2")
			w.write("more", "more")
			w.git("add", "more")
			p := Make(before, nil, w.record(), Parts{})
			meanwhile(w)
			os.Remove(filepath.Join(w.dir, ".git", "none"))
			want := w.git("for-each-ref") + w.git("ls-files")
			if _, err := w.Apply(context.Background(), p); err == nil {
				t.Error("carried out")
			}
			if got := w.git("for-each-ref") + w.git("ls-files"); got != want {
				t.Errorf("changed:\n%s\nwas:\n%s", got, want)
			}
		})
	}
}

// TestLinkedWorktree: a branch that another work tree has checked out stays.
func TestLinkedWorktree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.git("worktree", "add", "-q", filepath.Join(filepath.Dir(w.dir), "linked"), "a")
	before := w.record()
	w.git("update-ref", "refs/heads/a", "HEAD~2")
	p := w.back(before, nil, Parts{})
	if len(p.Conflicts) != 1 || !strings.Contains(p.Conflicts[0].Reason, "checked out in") {
		t.Errorf("conflicts %v", p.Conflicts)
	}
}

// TestNoHooks: no hook of the repository runs.
func TestNoHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.record()
	w.git("branch", "-q", "-D", "a")
	ran := filepath.Join(w.t.TempDir(), "ran")
	hooks := filepath.Join(w.dir, ".git", "hooks")
	w.must(os.MkdirAll(hooks, 0o755))
	for _, name := range []string{"reference-transaction", "post-index-change", "post-checkout"} {
		w.must(os.WriteFile(filepath.Join(hooks, name), []byte("#!/bin/sh\ntouch '"+ran+"'\n"), 0o755))
	}
	w.back(before, nil, Parts{})
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a hook ran")
	}
	w.git("rev-parse", "--verify", "a")
}

// TestReflog: each ref says in its reflog that it was moved, and why.
func TestReflog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.record()
	w.git("reset", "-q", "--hard", "HEAD~2")
	w.back(before, nil, Parts{})
	for _, ref := range []string{"HEAD", "main"} {
		if log := w.git("reflog", "-1", ref); !strings.Contains(log, "cairn: test") {
			t.Errorf("reflog of %s: %s", ref, log)
		}
	}
}

// TestTornStashes: a list whose ref and reflog differ, as a git leaves it that is cut short, is mended.
func TestTornStashes(t *testing.T) {
	t.Parallel()
	for name, tear := range map[string]func(w *world){
		"log ahead": func(w *world) {
			w.write(".git/refs/stash", w.git("rev-parse", "stash@{1}"))
		},
		"ref gone":  func(w *world) { w.must(os.Remove(filepath.Join(w.dir, ".git", "refs", "stash"))) },
		"ref alone": func(w *world) { w.must(os.Remove(filepath.Join(w.dir, ".git", "logs", "refs", "stash"))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before, want := w.record(), w.look()
			tear(w)
			w.back(before, nil, Parts{})
			w.same("mended", want)
		})
	}
}

// TestStashOfAnExpiredReflog: git reflog expire leaves the ref of the newest stash without a list. It is
// not lost by going back.
func TestStashOfAnExpiredReflog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	newest := w.git("rev-parse", "refs/stash")
	w.git("reflog", "expire", "--expire=now", "--all")
	before := w.record()
	w.git("branch", "-q", "-D", "a")
	after := w.record()
	w.back(before, after, Parts{})
	if got := w.git("rev-parse", "refs/stash"); got != newest {
		t.Errorf("refs/stash is %s, was %s", got, newest)
	}
	w.back(before, nil, Parts{})
	after = w.record()
	w.git("stash", "clear")
	w.lose()
	w.back(after, w.record(), Parts{})
	if got := w.git("rev-parse", "refs/stash"); got != newest {
		t.Errorf("refs/stash is %s, was %s", got, newest)
	}
}

// TestAnExpiredListComesBack: a restore lists stashes whose reflog had expired, and its undo leaves the ref alone again.
// What never had a list gets none.
func TestAnExpiredListComesBack(t *testing.T) {
	t.Parallel()
	for name, stashes := range map[string]int{"several": 2, "one": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for len(Stashes(w.record().Stash)) > stashes {
				w.git("stash", "drop", "-q", fmt.Sprintf("stash@{%d}", stashes))
			}
			listed, list := w.record(), w.look()
			w.git("reflog", "expire", "--expire=now", "--all")
			expired, want := w.record(), w.look()
			w.back(listed, nil, Parts{})
			w.same("restored", list)
			restored := w.record()
			w.back(expired, restored, Parts{})
			w.same("undone", want)
			w.back(restored, w.record(), Parts{})
			w.same("redone", list)
			w.back(expired, nil, Parts{})
			w.same("a restore keeps what is listed", list)
			w.git("reflog", "expire", "--expire=now", "--all")
			w.git("branch", "-q", "-D", "a")
			w.back(expired, nil, Parts{})
			w.same("another part restored", want)
		})
	}
}

// TestRandom: any sequence of commands goes back.
func TestRandom(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	names := make([]string, 0, len(harms))
	for name := range harms {
		if name != "rm -rf .git" && name != "orphan" {
			names = append(names, name)
		}
	}
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	known := knownFormats(t)
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(uint64(seed), 1))
			w := newWorld(t, formats[known[seed%len(known)]]...)
			before, want, files := w.record(), w.look(), w.files()
			w.lenient = true
			var done []string
			for range 1 + rnd.IntN(5) {
				name := names[rnd.IntN(len(names))]
				done = append(done, name)
				harms[name](w)
				w.record()
			}
			w.lenient = false
			w.back(before, w.record(), Parts{})
			w.putBack(files)
			w.same(fmt.Sprintf("back from %q", done), want)
		})
	}
}
