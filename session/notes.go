package session

import (
	"path/filepath"
	"slices"
	"strconv"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/toolnames"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// PartMissed is the type of a part that counts steps which the host could not capture, between the step
// before and its own. Going back says so in Result.Notes.
const PartMissed = "missed"

const metaCount, metaWhy = "count", "why" // of a part of type PartMissed

// MissedPart returns the part that tells of steps which could not be captured, and why the latest could
// not.
func MissedPart(id string, count int, why string) Part {
	return Part{ID: id, Type: PartMissed, Meta: map[string]string{metaCount: strconv.Itoa(count), metaWhy: why}}
}

// addNotes tells of the steps that go now what their lists of paths do not say. Steps behind the
// boundary were told of before.
func (f *family) addNotes(res *cairn.Result, undone []stepRef, behind *boundary) {
	moved := make(map[string]bool)
	for _, list := range []cairn.Paths{res.Restored, res.Deleted} {
		for _, path := range list {
			moved[path] = true
		}
	}
	var unnamed []string
	missed, why := 0, ""
	for _, ref := range undone {
		st := f.members[ref.Session].step(ref.Step)
		if st == nil || behind != nil && slices.Contains(behind.Undone, ref) {
			continue
		}
		for _, path := range st.unnamed(f.head.root) {
			if moved[path] {
				unnamed = append(unnamed, path)
			}
		}
		for _, p := range st.Parts {
			if n, err := strconv.Atoi(p.Meta[metaCount]); err == nil && p.Type == PartMissed {
				missed, why = missed+n, p.Meta[metaWhy]
			}
		}
	}
	if len(unnamed) > 0 {
		slices.Sort(unnamed)
		res.Notes = append(res.Notes, wording.UnnamedLine(slices.Compact(unnamed), pathtext.Quote))
	}
	if missed > 0 {
		res.Notes = append(res.Notes, wording.MissedLine(missed, why))
	}
}

// unnamed lists the changed paths of a step that none of its tools named, where all of its tools name
// what they change. Another process changed them in that time, for instance the user's editor.
func (s *step) unnamed(root string) (paths []string) {
	if s.ended == 0 || !s.files || len(s.Paths) == 0 || len(s.Calls) == 0 ||
		slices.ContainsFunc(s.Calls, func(c Call) bool { return c.Command != "" || !toolnames.EditsOnly(c.Tool) }) {
		return nil
	}
	named := make([]string, 0, len(s.Paths))
	for _, path := range s.Paths {
		named = append(named, fromRoot(root, path))
	}
	scope := state.NewPathScope(named)
	for _, file := range s.Patch.Files {
		if path := fromRoot(root, filepath.FromSlash(file)); !scope.Covers(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// fromRoot names a path from the root, with '/', whatever links lead to it.
func fromRoot(root, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}
