package cairn_test

import (
	"crypto/sha1"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// historyModel drives edits, tracks and operations at random, some of them killed at a
// random system call, and checks one invariant: every byte that was ever on disk at a
// track, or that an operation replaced, can be restored.
type historyModel struct {
	f      *fixture
	owed   map[string]map[string]bool // path -> contents that must be restorable
	points []string
}

// owe notes that contents must be restorable from now on.
func (m *historyModel) owe(path, content string) {
	if m.owed[path] == nil {
		m.owed[path] = make(map[string]bool)
	}
	m.owed[path][content] = true
}

// settle looks every owed content up among the checkpoints and the states around
// operations.
func (m *historyModel) settle(t *rapid.T) {
	r := m.f.repo()
	found := make(map[string]bool)
	note := func(id string) {
		for e, err := range r.List(background, id, "") {
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			found[e.Path+"\x00"+e.ID] = true
		}
	}
	for c, err := range r.Checkpoints(background) {
		if err != nil {
			t.Fatal(err)
		}
		note(c.ID)
	}
	for op, err := range r.Operations(background) {
		if err != nil {
			t.Fatal(err)
		}
		note(op.Before)
		note(op.After)
	}
	for path, contents := range m.owed {
		for content := range contents {
			if !found[path+"\x00"+blobID(content)] {
				t.Errorf("%q: contents %q are in no checkpoint and in no state around an operation", path, content)
			}
		}
	}
}

// change edits a random path: files, directories and links take each other's place.
func (m *historyModel) change(t *rapid.T) {
	path := rapid.SampledFrom(modelPaths).Draw(t, "path")
	for _, p := range modelPaths {
		if isBelow(path, p) {
			if info, err := os.Lstat(m.f.path(p)); err == nil && !info.IsDir() {
				m.f.remove(p)
			}
		}
	}
	m.f.remove(path)
	switch rapid.SampledFrom([]string{"write", "write", "large", "link", "delete"}).Draw(t, "edit") {
	case "write":
		m.f.write(path, rapid.SampledFrom([]string{"one\n", "two\n", "three\n"}).Draw(t, "content"))
	case "large":
		m.f.write(path, fmt.Sprintf("%0600d", rapid.IntRange(0, 9).Draw(t, "content")))
	case "link":
		gittest.Create(m.f, m.f.root, gittest.Tree{path: gittest.Link("a")})
	}
}

func (m *historyModel) track(t *rapid.T) {
	got, err := m.f.repo().Track(background, cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for path, e := range m.f.manifest() {
		if e.Type == 'f' && e.Size < 500 {
			m.owe(path, m.f.read(path))
		}
	}
	m.points = append(m.points, got.Checkpoint)
}

// operate runs an operation and owes what it changed.
func (m *historyModel) operate(t *rapid.T, run func(r *cairn.Repo) (*cairn.Result, error)) (changed bool) {
	before := m.f.manifest()
	texts := make(map[string]string)
	for path, e := range before {
		if e.Type == 'f' {
			texts[path] = m.f.read(path)
		}
	}
	res, err := run(m.f.repo())
	if err != nil {
		return false // nothing to undo, no such checkpoint
	}
	after := m.f.manifest()
	for path, text := range texts {
		if before[path] != after[path] && (after[path].Type != 'f' || after[path].Sum != before[path].Sum) {
			m.owe(path, text)
		}
	}
	return res.Operation != ""
}

func (m *historyModel) point(t *rapid.T) string {
	if len(m.points) == 0 {
		t.Skip("nothing tracked yet")
	}
	return rapid.SampledFrom(m.points).Draw(t, "checkpoint")
}

// restoreAndBack goes to a checkpoint, undoes that and redoes it.
func (m *historyModel) restoreAndBack(t *rapid.T) {
	id := m.point(t)
	start := m.f.manifest()
	if !m.operate(t, func(r *cairn.Repo) (*cairn.Result, error) { return r.Restore(background, id, cairn.RestoreOptions{}) }) {
		return
	}
	there := m.f.manifest()
	m.operate(t, func(r *cairn.Repo) (*cairn.Result, error) { return r.Undo(background, cairn.RevertOptions{}) })
	if diff := gittest.Diff(start, m.f.manifest()); diff != "" {
		t.Fatalf("undo of a restore is not exact:\n%s", diff)
	}
	m.operate(t, func(r *cairn.Repo) (*cairn.Result, error) { return r.Redo(background, cairn.RevertOptions{}) })
	if diff := gittest.Diff(there, m.f.manifest()); diff != "" {
		t.Fatalf("redo of a restore is not exact:\n%s", diff)
	}
}

// killed runs a command in a process that dies at some system call. The next command
// finishes it or finds nothing done; either way nothing on disk is lost.
func (m *historyModel) killed(t *rapid.T) {
	id := m.point(t)
	n := rapid.IntRange(1, 120).Draw(t, "system call")
	command := rapid.SampledFrom([]string{"restore", "undo", "track"}).Draw(t, "command")
	m.operate(t, func(r *cairn.Repo) (*cairn.Result, error) {
		c := &crashRun{fixture: m.f, before: id}
		gittest.KillAt(m.f, []string{os.Args[0]}, c.env(command), gittest.WriteCalls, n)
		return r.Restore(background, id, cairn.RestoreOptions{})
	})
}

func TestHistoryModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(t, gittest.Tree{})
		f.opt.MaxFileSize = 500
		m := &historyModel{f: f, owed: make(map[string]map[string]bool)}
		op := func(run func(t *rapid.T, r *cairn.Repo) (*cairn.Result, error)) func(*rapid.T) {
			return func(t *rapid.T) {
				m.operate(t, func(r *cairn.Repo) (*cairn.Result, error) { return run(t, r) })
			}
		}
		kill := m.killed
		if !rapid.Bool().Draw(rt, "with kills") || rapid.IntRange(0, 3).Draw(rt, "rarely") != 0 {
			kill = m.change
		}
		rt.Repeat(map[string]func(*rapid.T){
			"change": m.change, "change more": m.change, "track": m.track, "restore, undo, redo": m.restoreAndBack, "killed": kill,
			"restore": op(func(t *rapid.T, r *cairn.Repo) (*cairn.Result, error) {
				return r.Restore(background, m.point(t), cairn.RestoreOptions{})
			}),
			"overlay": op(func(t *rapid.T, r *cairn.Repo) (*cairn.Result, error) {
				return r.Restore(background, m.point(t), cairn.RestoreOptions{KeepNew: true})
			}),
			"revert range": op(func(t *rapid.T, r *cairn.Repo) (*cairn.Result, error) {
				policy := rapid.SampledFrom([]cairn.Policy{cairn.Merge, cairn.Overwrite, cairn.Keep, cairn.Fail}).Draw(t, "policy")
				return r.Revert(background, cairn.Range{From: m.point(t), To: m.point(t)}, cairn.RevertOptions{OnConflict: policy})
			}),
			"undo": op(func(_ *rapid.T, r *cairn.Repo) (*cairn.Result, error) {
				return r.Undo(background, cairn.RevertOptions{})
			}),
			"redo": op(func(_ *rapid.T, r *cairn.Repo) (*cairn.Result, error) {
				return r.Redo(background, cairn.RevertOptions{})
			}),
		})
		m.settle(rt)
		f.closeAll()
	})
}

// blobID is the id that git gives to contents, worked out without any code of ours.
func blobID(content string) string {
	return fmt.Sprintf("%x", sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(content), content))))
}
