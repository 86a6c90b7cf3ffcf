package cairn_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// model drives a root at random and knows, without reading the disk, what it must
// hold: a map from path to literal node, and the same for every checkpoint.
type model struct {
	f      *fixture
	disk   gittest.Tree
	points []modelPoint
	open   [2]*cairn.Repo // for as long as the model lasts
}

// repo returns an open Repo, or a new one.
func (m *model) repo(t *rapid.T) *cairn.Repo {
	n := rapid.IntRange(0, len(m.open)).Draw(t, "repo")
	if n == len(m.open) {
		return m.f.repo()
	}
	if m.open[n] == nil {
		m.open[n] = m.f.repo()
	}
	return m.open[n]
}

type modelPoint struct {
	id   string
	tree gittest.Tree
}

// modelPaths collide on purpose: files, directories and links take each other's
// names.
var modelPaths = []string{"a", "a/b", "a/b/c", "a.b", "d/e", "d/é", "d\tx", "z", "z/\xff"}

// clear makes room for something at path: nothing at or below it, and no file above.
func (m *model) clear(path string) {
	for p := range m.disk {
		if p == path || isBelow(p, path) || isBelow(path, p) {
			delete(m.disk, p)
			m.f.remove(p)
		}
	}
	m.f.remove(path)
}

func isBelow(path, dir string) bool {
	return len(path) > len(dir) && path[:len(dir)] == dir && path[len(dir)] == '/'
}

func (m *model) put(path string, node gittest.Node) {
	m.clear(path)
	m.pruneEmptyDirs()
	gittest.Create(m.f, m.f.root, gittest.Tree{path: node})
	m.disk[path] = node
}

// pruneEmptyDirs removes the directories that clear left without a name: the model
// holds directories only as literal nodes.
func (m *model) pruneEmptyDirs() {
	for path, e := range m.f.manifest() {
		if e.Type != 'd' {
			continue
		}
		if _, literal := m.disk[path]; !literal {
			for p := path; p != "."; p = filepath.Dir(p) {
				if os.Remove(m.f.path(p)) != nil {
					break
				}
			}
		}
	}
}

func (m *model) actions() map[string]func(*rapid.T) {
	path := rapid.SampledFrom(modelPaths)
	return map[string]func(*rapid.T){
		"": func(t *rapid.T) {
			if diff := gittest.Diff(m.disk.Listing(), m.f.manifest()); diff != "" {
				t.Fatalf("the disk is not as the model says:\n%s", diff)
			}
		},
		"write": func(t *rapid.T) {
			perm := rapid.SampledFrom([]uint32{0o644, 0o755, 0o600, 0o444}).Draw(t, "perm")
			m.put(path.Draw(t, "path"), gittest.FileMode(rapid.StringN(0, 40, -1).Draw(t, "content"), perm))
		},
		"link":  func(t *rapid.T) { m.put(path.Draw(t, "path"), gittest.Link(path.Draw(t, "target"))) },
		"mkdir": func(t *rapid.T) { m.put(path.Draw(t, "path"), gittest.DirMode(0o755)) },
		"delete": func(t *rapid.T) {
			m.clear(path.Draw(t, "path"))
			m.pruneEmptyDirs()
		},
		"track":   m.track,
		"restore": m.restore,
		"revert":  m.revert,
		"clean":   m.clean,
	}
}

// clean drops old checkpoints. The remaining ones must be restorable; the newest always
// remains.
func (m *model) clean(t *rapid.T) {
	if len(m.points) == 0 {
		t.Skip("nothing tracked yet")
	}
	keep := cairn.Retention{MaxCount: rapid.IntRange(1, 4).Draw(t, "count"), KeepLast: 1}
	done, err := m.repo(t).Clean(background, cairn.CleanOptions{Retention: keep, Thorough: rapid.Bool().Draw(t, "thorough")})
	if err != nil || done.Blocked != nil || done.Kept > keep.MaxCount {
		t.Fatalf("%+v, %v", done, err)
	}
	newest := m.points[len(m.points)-1].id
	m.points = slices.DeleteFunc(m.points, func(p modelPoint) bool { return !m.f.has(p.id) })
	if len(m.points) == 0 || m.points[len(m.points)-1].id != newest {
		t.Fatalf("the newest checkpoint %s is gone", newest)
	}
}

func (m *model) track(t *rapid.T) {
	got, err := m.repo(t).Track(background, cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := m.repo(t).Track(background, cairn.TrackOptions{Verify: true}); err != nil || all.Hash != got.Hash {
		t.Fatalf("%s when every file is read, %s before (%v)", all.Hash, got.Hash, err)
	}
	m.points = append(m.points, modelPoint{got.Checkpoint, maps.Clone(m.disk)})
}

func (m *model) draw(t *rapid.T) modelPoint {
	if len(m.points) == 0 {
		t.Skip("nothing tracked yet")
	}
	return m.points[rapid.IntRange(0, len(m.points)-1).Draw(t, "checkpoint")]
}

func (m *model) restore(t *rapid.T) {
	p := m.draw(t)
	res, err := m.repo(t).Restore(background, p.id, cairn.RestoreOptions{})
	if err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res, err)
	}
	m.disk = maps.Clone(p.tree)
}

// revert takes some of the changed files back and checks that the others stay.
func (m *model) revert(t *rapid.T) {
	p := m.draw(t)
	r := m.repo(t)
	patch, err := r.Patch(background, p.id, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(patch.Files) == 0 {
		t.Skip("nothing changed")
	}
	keep := m.f.manifest()
	chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(patch.Files), 1, len(patch.Files), rapid.ID[string]).Draw(t, "files")
	res, err := r.RevertPatches(background, []cairn.Patch{{Hash: patch.Hash, Files: chosen}}, cairn.RevertPatchesOptions{})
	if err != nil || len(res.Conflicts) > 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	want := p.tree.Listing()
	got := m.f.manifest()
	for _, file := range chosen {
		rel, _ := filepath.Rel(r.Root(), file)
		if want[rel] != got[rel] && (want[rel].Type != 'd' || got[rel].Type != 'd') {
			t.Errorf("%q is %v, want %v", rel, got[rel], want[rel])
		}
	}
	touched := slices.Concat(res.Restored, res.Deleted)
	for path, e := range keep {
		if !slices.ContainsFunc(touched, func(p string) bool { return p == path || isBelow(path, p) || isBelow(p, path) }) && got[path] != e {
			t.Errorf("%q was not named and is %v, was %v", path, got[path], e)
		}
	}
	m.disk = literal(m.f)
}

// literal reads the disk back into a model, for states that only a listing tells.
func literal(f *fixture) gittest.Tree {
	tree := gittest.Tree{}
	listing := f.manifest()
	for path, e := range listing {
		switch e.Type {
		case 'f':
			tree[path] = gittest.FileMode(f.read(path), e.Perm)
		case 'l':
			tree[path] = gittest.Link(e.Target)
		case 'd':
			empty := true
			for p := range listing {
				empty = empty && !isBelow(p, path)
			}
			if empty {
				tree[path] = gittest.DirMode(e.Perm)
			}
		}
	}
	return tree
}

// TestModel checks random sequences of edits, tracks, restores and reverts, by several
// Repos, against the model.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{f: newFixture(t, gittest.Tree{}), disk: gittest.Tree{}}
		rt.Repeat(m.actions())
		m.f.closeAll()
	})
}
