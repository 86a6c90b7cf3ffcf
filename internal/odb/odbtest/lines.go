package odbtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// Lines is a store with lines of checkpoints, and a record of everything in it.
type Lines struct {
	*odb.DB
	T    testing.TB
	Objs map[object.ID][]byte          // contents of every object that was ever written
	Of   map[string]map[object.ID]bool // by ref: the objects that it leads to
}

// NewLines returns an empty store.
func NewLines(t testing.TB) *Lines {
	return &Lines{DB: New(t), T: t, Objs: make(map[object.ID][]byte), Of: make(map[string]map[object.ID]bool)}
}

// Path returns the path of a file inside the store. name has slashes.
func (l *Lines) Path(name string) string { return Path(l.DB, name) }

// Add adds an object to a batch and records it, also in reach.
func (l *Lines) Add(b *odb.Batch, k object.Kind, content []byte, reach map[object.ID]bool) object.ID {
	l.T.Helper()
	id, err := b.Add(k, content)
	Must(l.T, err)
	l.Objs[id] = content
	reach[id] = true
	return id
}

// Track puts a checkpoint onto a line. Each file lies in a directory of its own.
func (l *Lines) Track(ref string, files map[string]string) object.ID {
	l.T.Helper()
	reach := make(map[object.ID]bool)
	maps.Copy(reach, l.Of[ref])
	b := l.NewBatch()
	defer b.Discard()
	var entries []object.Entry
	for _, name := range slices.Sorted(maps.Keys(files)) {
		blob := l.Add(b, object.Blob, []byte(files[name]), reach)
		sub := l.Add(b, object.Tree, object.AppendTree(nil, []object.Entry{{Name: "f", Mode: object.Regular, ID: blob}}), reach)
		entries = append(entries, object.Entry{Name: name, Mode: object.Dir, ID: sub})
	}
	tree := l.Add(b, object.Tree, object.AppendTree(nil, entries), reach)
	c := &object.CommitData{Tree: tree, Message: fmt.Sprint(ref, len(l.Objs))}
	c.Author = object.Signature{Name: "a", Email: "a@b"}
	c.Committer = c.Author
	if old, err := l.Ref(ref); err == nil {
		c.Parents = append(c.Parents, old)
	}
	content, err := object.AppendCommit(nil, c)
	Must(l.T, err)
	id := l.Add(b, object.Commit, content, reach)
	Must(l.T, b.Commit())
	Must(l.T, l.SetRef(ref, id))
	l.Of[ref] = reach
	return id
}

// Forget deletes a line.
func (l *Lines) Forget(ref string) {
	l.T.Helper()
	Must(l.T, l.DeleteRef(ref))
	delete(l.Of, ref)
}

// Fill puts n checkpoints of a few files each onto a line.
func (l *Lines) Fill(ref string, n int) {
	for i := range n {
		l.Track(ref, map[string]string{
			"same": "the same in all", "line": ref, "new": fmt.Sprint(ref, " ", i), "prose": string(gittest.Prose(uint64(i+len(ref)), 2000)),
		})
	}
}

// Check compares the store with the record: every object that a ref leads to reads back, and, if
// exact is set, no other object is there.
func (l *Lines) Check(exact bool) {
	l.T.Helper()
	other := Reopen(l.T, l.DB)
	live := make(map[object.ID]bool)
	for _, reach := range l.Of {
		maps.Copy(live, reach)
	}
	for id, want := range l.Objs {
		_, got, err := other.Read(id)
		switch {
		case live[id] && (err != nil || string(got) != string(want)):
			l.T.Fatalf("object %s, which is needed: %d bytes, %v", id, len(got), err)
		case !live[id] && exact && !errors.Is(err, odb.ErrNotFound):
			l.T.Fatalf("object %s, which is garbage: %v", id, err)
		case !live[id] && err != nil && !errors.Is(err, odb.ErrNotFound):
			l.T.Fatalf("object %s: %v", id, err)
		}
	}
	gittest.FsckBare(l.T, l.Dir())
}

// CheckBytes compares every object that is there with the record. Unless some may be lost, all
// have to be there.
func (l *Lines) CheckBytes(lost bool) {
	l.T.Helper()
	db := Reopen(l.T, l.DB)
	missing := 0
	for id, want := range l.Objs {
		_, got, err := db.Read(id)
		switch {
		case err == nil && string(got) != string(want):
			l.T.Fatalf("object %s: wrong bytes", id)
		case err != nil:
			missing++
		}
	}
	if missing > 0 && !lost {
		l.T.Errorf("%d of %d objects are gone", missing, len(l.Objs))
	}
	if missing == len(l.Objs) {
		l.T.Error("everything is gone")
	}
}
