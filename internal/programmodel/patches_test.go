//go:build unix

package programmodel

import (
	"encoding/json"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// patch is files that go back to a checkpoint.
type patch struct {
	point *point
	files scope
}

// revertPatches takes some files back to one checkpoint and others to another. A file that
// both patches name goes to the first.
func (w *world) revertPatches() {
	if len(w.points) == 0 {
		w.track()
		return
	}
	var patches []patch
	var named scope
	for range 1 + w.rng.IntN(2) {
		p := pick(w.rng, w.points)
		patches = append(patches, patch{p, w.someFiles(p, named)})
		named = slices.Concat(named, patches[len(patches)-1].files)
	}
	file := w.base + "/patches.json"
	w.private(file, patchesJSON(patches))
	w.goBack(wayBack{args: []string{"revert", "--patches", file}, judge: func(m *move) { m.patched(patches) }})
}

// someFiles chooses files of the disk or of a checkpoint. No path lies at, above or below
// one that is named already, so that a path has one target.
func (w *world) someFiles(p *point, named scope) scope {
	v, _ := w.look()
	var files scope
	for _, path := range paths(p.held, v) {
		taken := slices.Concat(named, files)
		if p.held[path].kind == 'd' || v[path].kind == 'd' || taken.leads(path) || len(taken) > 0 && taken.covers(path) {
			continue
		}
		if w.rng.IntN(2) == 0 {
			files = append(files, path)
		}
	}
	return files
}

func patchesJSON(patches []patch) string {
	type one struct {
		Hash  string          `json:"hash"`
		Files []pathtext.Text `json:"files"`
	}
	var list []one
	for _, p := range patches {
		list = append(list, one{p.point.id, pathtext.Texts(p.files)})
	}
	list = append(list, one{patches[len(patches)-1].point.id, pathtext.Texts(patches[0].files)}) // the first counts
	text, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// patched holds each path against the patch that names it.
func (m *move) patched(patches []patch) {
	for _, path := range m.allPaths(patches) {
		i := slices.IndexFunc(patches, func(p patch) bool { return len(p.files) > 0 && p.files.covers(path) })
		switch {
		case i >= 0:
			m.restoredPath(patches[i].point, path, false)
		case !slices.ContainsFunc(patches, func(p patch) bool { return m.mayChange(p.point, path, p.files) }):
			m.fail("out of scope", "%q was %v and is %v", path, m.before[path], m.after[path])
		}
	}
}

func (m *move) allPaths(patches []patch) []string {
	views := []view{m.before, m.after}
	for _, p := range patches {
		views = append(views, p.point.disk)
	}
	return paths(views...)
}
