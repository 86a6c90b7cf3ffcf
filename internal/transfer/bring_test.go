package transfer

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// bring brings a checkpoint of another store. Nothing is kept after an error.
func (m *machine) bring(from *machine, c, known *history.Checkpoint) (*history.Checkpoint, int, error) {
	m.Helper()
	var id object.ID
	objects := 0
	err := m.Exclusive(m.Context(), func(*history.Locked) (err error) {
		batch := m.DB.NewBatch()
		defer batch.Discard()
		if id, err = m.Bring(m.Context(), batch, from.Store, c, known); err != nil {
			return err
		}
		objects = batch.Len()
		return batch.Commit()
	})
	if err != nil {
		return nil, 0, err
	}
	brought, err := m.ReadCheckpoint(id)
	return brought, objects, err
}

// holding makes a store hold objects as they are, the checkpoint first, and returns the checkpoint.
func (m *machine) holding(objects ...packed) *history.Checkpoint {
	m.Helper()
	batch := m.DB.NewBatch()
	defer batch.Discard()
	for _, o := range objects {
		if _, err := batch.Add(o.kind, []byte(o.content)); err != nil {
			m.Fatal(err)
		}
	}
	if err := batch.Commit(); err != nil {
		m.Fatal(err)
	}
	c, err := m.ReadCheckpoint(objects[0].id())
	if err != nil {
		m.Fatal(err)
	}
	return c
}

// TestBring brings what is missing and nothing else, without the history. The pack that holds little else
// comes by hard link. A store with purged paths copies object by object.
func TestBring(t *testing.T) {
	t.Parallel()
	for _, purged := range []bool{false, true} {
		testBring(t, purged)
	}
}

func testBring(t *testing.T, purged bool) {
	t.Helper()
	here, there := newMachine(t), newMachine(t)
	want := 1 // the commit
	if purged {
		want = 5 // the large blob, the trees above it up to the root, and the commit
		if err := here.DB.WritePrivate(odb.PrivatePurged, []byte("[\"secret\"]\n")); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{"a": "a\n", "dir/b": "b\n", "dir/deep/c": "c\n", "other/d": "d\n"}
	known := here.track(files)
	there.track(files)
	files["dir/deep/c"], files["new"] = string(gittest.Noise(1, 300<<10)), "a\n"
	c := there.track(files)
	brought, objects, err := here.bring(there, c, known)
	if err != nil {
		t.Fatal(err)
	}
	if brought.Hash != c.Hash || brought.Parent != "" || history.Exported(brought) != c.ID || objects != want {
		t.Errorf("%+v, %d objects", brought, objects)
	}
	again, objects, err := here.bring(there, c, nil)
	if err != nil || again.ID != brought.ID || objects != 0 {
		t.Errorf("%+v, %d objects, %v", again, objects, err)
	}
	_, content, err := here.DB.Read(object.Sum(object.Blob, []byte(files["dir/deep/c"])))
	if err != nil || string(content) != files["dir/deep/c"] {
		t.Error("the large blob did not come", err)
	}
	if empty, _, err := here.bring(there, there.track(nil), nil); err != nil || history.TreeOf(empty) != object.EmptyTree {
		t.Errorf("an empty tree: %v, %v", empty, err)
	}
}

// TestBringRefuses names leading out of the root, submodules, missing and mistaken objects.
func TestBringRefuses(t *testing.T) {
	t.Parallel()
	blob := blobOf("x\n")
	entry := func(name string, mode object.Mode, of packed) object.Entry {
		return object.Entry{Name: name, Mode: mode, ID: of.id()}
	}
	inner := treeOf(entry("x", object.Regular, blob))
	for name, objects := range map[string][]packed{
		"a name above":       {treeOf(entry("..", object.Regular, blob)), blob},
		"a repository":       {treeOf(entry(".git", object.Dir, inner)), inner, blob},
		"a disguised one":    {treeOf(entry(".GIT", object.Dir, inner)), inner, blob},
		"a submodule":        {treeOf(entry("sub", object.Gitlink, blob)), blob},
		"a missing blob":     {treeOf(entry("x", object.Regular, blob))},
		"a missing tree":     {treeOf(entry("d", object.Dir, inner)), blob},
		"a tree as a blob":   {treeOf(entry("x", object.Regular, inner)), inner, blob},
		"a blob as a tree":   {treeOf(entry("d", object.Dir, blob)), blob},
		"entries out of row": {treeOf(entry("b", object.Regular, blob), entry("a", object.Regular, blob)), blob},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, there := newMachine(t), newMachine(t)
			known := here.track(map[string]string{"a": "a\n"})
			c := there.holding(append([]packed{commitOf(objects[0])}, objects...)...)
			before := here.listing()
			if _, _, err := here.bring(there, c, known); !errors.Is(err, state.ErrStore) || !strings.Contains(err.Error(), c.ID) {
				t.Errorf("%v", err)
			}
			here.same(before, name)
		})
	}
}
