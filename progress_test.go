package cairn_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestProgressOfLongWork: a capture, a restore, a cleaning, a check, a push and a fetch tell how far
// they have come, never further than to the end.
func TestProgressOfLongWork(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	tree := gittest.Tree{}
	for i := range 300 {
		tree[fmt.Sprintf("d%d/f%d", i%100, i)] = gittest.File(fmt.Sprint("text ", i))
	}
	f := newFixture(t, tree)
	var mu sync.Mutex
	told := make(map[string]cairn.Progress)
	f.opt.Progress = func(p cairn.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.Total > 0 && p.Files > p.Total {
			t.Errorf("more than everything: %+v", p)
		}
		if last := told[p.Phase]; last.Total <= p.Total {
			told[p.Phase] = p
		}
	}
	after := func(what string, phases ...string) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		for _, phase := range phases {
			if p := told[phase]; p.Files == 0 || p.Total == 0 && phase != "scan" {
				t.Errorf("%s: %s: %+v", what, phase, p)
			}
		}
		clear(told)
	}
	r := f.repo()
	first := f.trackBy(r).Checkpoint
	after("capture", "scan")
	for path := range tree {
		f.write(path, path)
	}
	f.trackBy(r)
	after("capture", "scan")
	if _, err := r.Restore(background, first, cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	after("restore", "apply")
	if faults, err := r.Check(background, cairn.CheckOptions{}); err != nil || len(faults) > 0 {
		t.Fatal(faults, err)
	}
	after("check", "check", "mark")
	remote := t.TempDir()
	gittest.Bare(t, remote, "", "init", "-q", "--bare", ".")
	if _, err := r.Push(background, remote); err != nil {
		t.Fatal(err)
	}
	after("push", "count", "write")
	if _, err := r.Clean(background, cairn.CleanOptions{Thorough: true}); err != nil {
		t.Fatal(err)
	}
	after("cleaning", "mark")
	other := f.opt
	other.DataDir = t.TempDir()
	q, err := cairn.Open(other)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if lines, err := q.Fetch(background, remote); err != nil || !slices.ContainsFunc(lines, func(s string) bool { return s != "" }) {
		t.Fatal(lines, err)
	}
	after("fetch", "receive")
}
