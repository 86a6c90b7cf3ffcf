package gitcommit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/usergit"
)

var background = context.Background()

// fixture is a planner beside a repository with one commit. Captured blobs are in memory.
type fixture struct {
	*testing.T
	*Planner
	dir   string
	git   *gittest.Oracle
	blobs map[string]string
}

func newFixture(t *testing.T, tree gittest.Tree) *fixture {
	t.Helper()
	f := &fixture{T: t, dir: t.TempDir(), git: gittest.NewOracle(t), blobs: make(map[string]string)}
	f.git.Init(f.dir)
	gittest.Create(t, f.dir, tree)
	f.git.Commit(f.dir, "first")
	repo, err := usergit.Open(background, f.dir, f.git.Env())
	f.must(err)
	head, err := repo.Head(background)
	f.must(err)
	scratch, err := repo.NewScratch(t.TempDir(), head)
	f.must(err)
	t.Cleanup(func() { f.must(scratch.Close()) })
	f.Planner = &Planner{Repo: repo, Scratch: scratch, Known: func() map[string][]KnownChange { return nil }}
	f.Open = func(id string) (int64, io.ReadCloser, error) {
		content, ok := f.blobs[id]
		if !ok {
			return 0, nil, fmt.Errorf("no blob %s", id)
		}
		return int64(len(content)), io.NopCloser(strings.NewReader(content)), nil
	}
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) start(ways ...[]history.Change) {
	f.Helper()
	head, err := f.Repo.Head(background)
	f.must(err)
	f.must(f.Start(background, head, ways))
}

// absent is a side of a change without a file.
const absent = "absent"

func (f *fixture) side(content string) (mode uint32, id string) {
	if content == absent {
		return 0, ""
	}
	id = object.Sum(object.Blob, []byte(content)).String()
	f.blobs[id] = content
	return 0o100644, id
}

// change is a change of a regular file.
func (f *fixture) change(path, from, to string) history.Change {
	c := history.Change{Path: path}
	c.OldMode, c.OldID = f.side(from)
	c.NewMode, c.NewID = f.side(to)
	return c
}

// content is what an entry has.
func (f *fixture) content(e usergit.Entry) string {
	f.Helper()
	if e == (usergit.Entry{}) {
		return absent
	}
	content, _, err := f.Scratch.Blob(background, e.ID, maxMerge)
	f.must(err)
	return string(content)
}

func TestPlanMergesOntoHead(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n2\n3\n4\n5\n"), "b": gittest.File("b\n"), "gone": gittest.File("g\n")})
	ways := [][]history.Change{
		{f.change("a", "user\n2\n3\n4\n5\n", "user\n2\nagent\n4\n5\n"), f.change("a", "user\n2\nagent\n4\nmore\n", "user\n2\nagain\n4\nmore\n")},
		{f.change("b", "a\n", "b\n")}, // HEAD has it
		{f.change("gone", "g\n", absent)},
		{f.change("new", absent, "n\n")},
	}
	f.start(ways...)
	w, files, skipped, err := f.Plan(background, ways)
	f.must(err)
	got := make(map[string]string)
	for path, e := range w.Entries {
		got[path] = f.content(e)
	}
	if want := map[string]string{"a": "1\n2\nagain\n4\n5\n", "gone": absent, "new": "n\n"}; !maps.Equal(got, want) || len(skipped) > 0 {
		t.Errorf("got %q, want %q; skipped %v", got, want, skipped)
	}
	if !maps.Equal(w.Entries, w.Staged) {
		t.Errorf("the index gets %v, the commit %v", w.Staged, w.Entries)
	}
	for i, want := range []File{{Path: "a", Additions: 1, Deletions: 1}, {Path: "gone", Deletions: 1}, {Path: "new", Additions: 1}} {
		files[i].Before, files[i].After = usergit.Entry{}, usergit.Entry{}
		if files[i] != want {
			t.Errorf("got %+v, want %+v", files[i], want)
		}
	}
	if w, files, _, err := f.Plan(background, ways[1:]); err != nil || len(files) > 0 || len(w.Entries) > 0 {
		t.Errorf("planned again: %v, %v", files, err)
	}
}

func TestPlanRefusesOverlaps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n2\n3\n"), "b": gittest.File("1\n2\n3\n")})
	ways := [][]history.Change{{f.change("a", "1\nother\n3\n", "1\nagent\n3\n")}, {f.change("b", "1\n2\n3\n", "1\n2\nagent\n")}, {f.change("c", "c\n", absent)}}
	f.must(os.WriteFile(filepath.Join(f.dir, "a"), []byte("1\nagent\n3\n"), 0o644))
	f.start(ways...)
	_, _, _, err := f.Plan(background, ways)
	var conflict *Conflict
	if !errors.As(err, &conflict) || conflict.Path != "a" || strings.Contains(err.Error(), "b: ") {
		t.Errorf("got %v", err)
	}
	f.Known = func() map[string][]KnownChange {
		return map[string][]KnownChange{"a": {{f.change("a", absent, "1\n2\n3\n"), 1}}}
	}
	f.start(ways...)
	if _, files, _, err := f.Plan(background, ways); err != nil || len(files) != 1 || files[0].Path != "b" {
		t.Errorf("HEAD has a state that the session knows: %v, %v", files, err)
	}
}

func TestPlanBesideStagedLines(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n2\n3\n4\n5\n"), "b": gittest.File("1\n2\n3\n")})
	write := func(name, text string) {
		f.must(os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o644))
		f.git.In(f.dir, "add", name)
	}
	write("a", "1\n2\n3\n4\nstaged\n")
	ways := [][]history.Change{{f.change("a", "1\n2\n3\n4\n5\n", "agent\n2\n3\n4\n5\n")}}
	f.start(ways...)
	w, _, _, err := f.Plan(background, ways)
	f.must(err)
	if got := f.content(w.Entries["a"]); got != "agent\n2\n3\n4\n5\n" {
		t.Errorf("the commit has %q", got)
	}
	if got := f.content(w.Staged["a"]); got != "agent\n2\n3\n4\nstaged\n" {
		t.Errorf("the index has %q", got)
	}
	write("b", "1\nstaged\n3\n")
	f.must(os.WriteFile(filepath.Join(f.dir, "b"), []byte("1\nagent\n3\n"), 0o644))
	ways = [][]history.Change{{f.change("b", "1\n2\n3\n", "1\nagent\n3\n")}}
	f.start(ways...)
	if _, _, _, err := f.Plan(background, ways); err == nil || !strings.Contains(err.Error(), "git restore --staged") {
		t.Errorf("staged lines that overlap: %v", err)
	}
}

func TestPlanLeavesOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("*.log\n"), "kept.log": gittest.File("1\n"), "nested/a": gittest.File("a\n")})
	f.git.In(f.dir, "add", "-f", "kept.log")
	f.git.In(f.dir, "commit", "-q", "-m", "an ignored file")
	f.git.Init(filepath.Join(f.dir, "nested"))
	var ways [][]history.Change
	for _, path := range []string{"kept.log", "nested/a", "x.log", "y"} {
		ways = append(ways, []history.Change{f.change(path, "1\n", "2\n")})
	}
	ways[3] = []history.Change{f.change("y", absent, "2\n")}
	f.start(ways...)
	_, files, skipped, err := f.Plan(background, ways)
	f.must(err)
	if len(files) != 2 || files[0].Path != "kept.log" || files[1].Path != "y" {
		t.Errorf("files %v", files)
	}
	if want := []Skip{{"nested/a", "in the nested repository nested: commit there"}, {"x.log", "ignored by git"}}; !slices.Equal(skipped, want) {
		t.Errorf("skipped %v, want %v", skipped, want)
	}
}

func TestPlanNeedsTheCapturedBlobs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	way := []history.Change{f.change("a", "a\n", "b\n")}
	clear(f.blobs)
	head, err := f.Repo.Head(background)
	f.must(err)
	if err := f.Start(background, head, [][]history.Change{way}); err == nil || !strings.Contains(err.Error(), "no blob") {
		t.Errorf("got %v", err)
	}
}

func TestLayer(t *testing.T) {
	t.Parallel()
	open := func() (io.ReadCloser, error) { return nil, nil }
	l := newLayer(false)
	for _, c := range []struct{ name, id string }{
		{"d/x", "1"}, {"d/x", "2"}, {"d", "3"}, {"d/x/below", "4"}, {"e", "5"}, {"e/below", "6"}, {"d/y", "7"}, {"d/.gitattributes", "8"},
	} {
		l.add(c.name, c.id, open)
	}
	if want := map[string]string{"d/x": "1", "e": "5", "d/y": "7"}; !maps.Equal(l.ids, want) {
		t.Errorf("got %v, want %v", l.ids, want)
	}
	l = newLayer(true)
	l.add("d/x", "1", open)
	l.add("d/.gitattributes", "2", open)
	if want := map[string]string{"d/.gitattributes": "2"}; !maps.Equal(l.ids, want) {
		t.Errorf("got %v, want %v", l.ids, want)
	}
}
