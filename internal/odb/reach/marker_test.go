package reach

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// fake is a store in memory.
type fake map[object.ID]stored

type stored struct {
	kind    object.Kind
	content []byte
}

func (f fake) Has(id object.ID) (bool, error) { _, ok := f[id]; return ok, nil }

func (f fake) Stat(id object.ID) (object.Kind, int64, error) {
	kind, content, err := f.Read(id)
	return kind, int64(len(content)), err
}

func (f fake) Read(id object.ID) (object.Kind, []byte, error) {
	o, ok := f[id]
	if !ok {
		return 0, nil, fmt.Errorf("%s: %w", id, pack.ErrNotFound)
	}
	return o.kind, o.content, nil
}

func (f fake) add(k object.Kind, content string) object.ID {
	id := object.Sum(k, []byte(content))
	f[id] = stored{k, []byte(content)}
	return id
}

// commit adds a commit of a tree with one file.
func (f fake) commit(text string, parents ...object.ID) object.ID {
	blob := f.add(object.Blob, text)
	tree := f.add(object.Tree, string(object.AppendTree(nil, []object.Entry{{Name: "f", Mode: object.Regular, ID: blob}})))
	content := "tree " + tree.String() + "\n"
	for _, p := range parents {
		content += "parent " + p.String() + "\n"
	}
	return f.add(object.Commit, content+"\n"+text)
}

// census lists the objects that a fake store has now.
func (f fake) census() *Census {
	var ids []object.ID
	for id := range f {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b object.ID) int { return slices.Compare(a[:], b[:]) })
	return sortedCensus(ids)
}

func run(t *testing.T, m *Marker) {
	t.Helper()
	if err := m.Run(t.Context(), nil); err != nil || !m.Done() {
		t.Fatalf("done %v, %v", m.Done(), err)
	}
}

// TestMarkerWalksAll: a root marks its trees, blobs and parents, and no other object.
func TestMarkerWalksAll(t *testing.T) {
	t.Parallel()
	f := fake{}
	first := f.commit("first")
	second := f.commit("second", first)
	f.commit("other")
	m := NewMarker(f, f.census())
	m.Root(second, true, "ref")
	run(t, m)
	if m.Marked != 6 || m.Blocked() != nil {
		t.Errorf("%d marks, %v", m.Marked, m.Blocked())
	}
	// A commit that came after the census has no slot, and its objects are walked.
	blob := object.Sum(object.Blob, []byte("other"))
	tree := object.Sum(object.Tree, object.AppendTree(nil, []object.Entry{{Name: "f", Mode: object.Regular, ID: blob}}))
	late := f.add(object.Commit, "tree "+tree.String()+"\n\nlate")
	m.Recent = nil
	m.Root(late, true, "ref")
	run(t, m)
	if m.Marked != 8 || len(m.Recent) != 2 {
		t.Errorf("%d marks, %d of them recent", m.Marked, len(m.Recent))
	}
}

// TestMarkerCuts: the parents of a commit at a cut are not marked until the cut is gone.
func TestMarkerCuts(t *testing.T) {
	t.Parallel()
	f := fake{}
	first := f.commit("first")
	second := f.commit("second", first)
	m := NewMarker(f, f.census())
	m.SetCut([]object.ID{second})
	m.Root(second, true, "ref")
	run(t, m)
	if m.Marked != 3 {
		t.Errorf("%d marks with a cut", m.Marked)
	}
	m.SetCut(nil)
	run(t, m)
	if m.Marked != 6 {
		t.Errorf("%d marks without a cut", m.Marked)
	}
}

// TestMarkerBlocks: a missing blob is lost and does not block. A missing commit or tree does, and
// an optional root may be absent.
func TestMarkerBlocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		remove        func(f fake, tip object.ID)
		lost, blocked bool
	}{
		"whole": {remove: func(fake, object.ID) {}},
		"blob": {lost: true, remove: func(f fake, _ object.ID) {
			delete(f, object.Sum(object.Blob, []byte("first")))
		}},
		"commit": {lost: true, blocked: true, remove: func(f fake, tip object.ID) { delete(f, tip) }},
		"tree": {lost: true, blocked: true, remove: func(f fake, _ object.ID) {
			for id, o := range f {
				if o.kind == object.Tree {
					delete(f, id)
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fake{}
			tip := f.commit("first")
			c.remove(f, tip)
			m := NewMarker(f, f.census())
			var lost []Loss
			m.Lost = func(l Loss) { lost = append(lost, l) }
			m.Root(tip, true, "ref")
			m.Root(object.ID{9}, false, "journal")
			run(t, m)
			if len(lost) > 0 != c.lost || (m.Blocked() != nil) != c.blocked {
				t.Errorf("lost %v, blocked %v", lost, m.Blocked())
			}
			for _, l := range lost {
				if !l.Missing || !errors.Is(l.Err, pack.ErrNotFound) {
					t.Errorf("%+v", l)
				}
			}
		})
	}
}

// TestMarkerStops: the marker asks after some steps whether to stop, and goes on later.
func TestMarkerStops(t *testing.T) {
	t.Parallel()
	f := fake{}
	tip := f.commit("0")
	for i := range 3 * walkStep {
		tip = f.commit(fmt.Sprint(i+1), tip)
	}
	m := NewMarker(f, f.census())
	m.Root(tip, true, "ref")
	if err := m.Run(t.Context(), func() bool { return true }); err != nil || m.Done() {
		t.Fatalf("done %v, %v", m.Done(), err)
	}
	run(t, m)
	if m.Marked != len(f) {
		t.Errorf("%d marks of %d", m.Marked, len(f))
	}
}
