package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// PartUncaptured is the type of a part that lists changes of its step which no capture can hold.
// The host lists the paths that its tools changed or named. EndStep removes those that the captures
// hold. Going back lists the rest in Result.NotTakenBack.
const PartUncaptured = "stays"

// Reasons why going back leaves a change.
const (
	ReasonOutside = "outside this directory"
	ReasonIgnored = "ignored by rules"
)

// UncapturedChange is a change that no capture holds.
type UncapturedChange struct {
	Path   cairn.Path `json:"path"`             // from the root with '/', absolute outside the root
	Reason string     `json:"reason,omitempty"` // EndStep sets it
	Made   bool       `json:"made,omitempty"`   // nothing stood there before the step
}

const metaStays = "paths" // of a part of type PartUncaptured: a JSON list of UncapturedChange

// UncapturedPart returns the part that tells of changes of a step.
func UncapturedPart(id string, list []UncapturedChange) (Part, error) {
	data, err := json.Marshal(list)
	return Part{ID: id, Type: PartUncaptured, Meta: map[string]string{metaStays: string(data)}}, err
}

// Uncaptured lists the changes of the step that no capture holds, from its parts.
func (s *Step) Uncaptured() []UncapturedChange {
	list, _ := staysOf(s.Parts)
	return list
}

// staysOf reads the parts of type PartUncaptured. An unreadable part counts as empty.
func staysOf(parts []Part) (list []UncapturedChange, told bool) {
	for _, p := range parts {
		var some []UncapturedChange
		if p.Type == PartUncaptured && json.Unmarshal([]byte(p.Meta[metaStays]), &some) == nil {
			list, told = append(list, some...), true
		}
	}
	return list, told
}

// uncaptured returns the parts of a step that ends now, with those of type PartUncaptured
// reduced to what the captures do not hold.
func (s *Sessions) uncaptured(ctx context.Context, u *operation.LineUpdate, st *step, parts []Part) ([]Part, error) {
	list, told := staysOf(parts)
	if !told {
		return parts, nil
	}
	var inside []string
	for _, t := range list {
		if path := string(t.Path); !filepath.IsAbs(path) {
			inside = append(inside, path)
		}
	}
	why := make(map[string]string)
	if len(inside) > 0 {
		var err error
		if why, err = u.Uncaptured(ctx, st.Before.ID, inside); err != nil {
			return nil, err
		}
	}
	part, err := UncapturedPart(st.ID+"/stays", reasoned(list, why))
	if err != nil {
		return nil, err
	}
	rest := slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return p.Type == PartUncaptured })
	return append(rest, part), nil
}

// reasoned sets reasons. It leaves out paths below a listed directory.
func reasoned(list []UncapturedChange, why map[string]string) []UncapturedChange {
	out := make([]UncapturedChange, 0, len(list))
	for _, t := range list {
		path := string(t.Path)
		reason, uncaptured := why[path]
		switch {
		case filepath.IsAbs(path):
			t.Reason = ReasonOutside
		case !uncaptured || belowAnother(path, why):
			continue
		case reason == "ignored" || reason == "ignore rules":
			t.Reason = ReasonIgnored
		default:
			t.Reason = reason
		}
		out = append(out, t)
	}
	return out
}

// belowAnother reports whether a directory above the path is in the set.
func belowAnother(path string, set map[string]string) bool {
	for at := strings.LastIndexByte(path, '/'); at > 0; at = strings.LastIndexByte(path[:at], '/') {
		if _, ok := set[path[:at]]; ok {
			return true
		}
	}
	return false
}

// notTakenBack lists in a result the changes, of the steps that go now, that no capture holds. A path
// that a step made and that is gone does not count, nor does one outside the root that the result tells of.
// Steps behind the boundary were listed before. held: the steps do not go after all.
func (f *family) notTakenBack(u *operation.LineUpdate, res *cairn.Result, undone []stepRef, behind *boundary, held bool) error {
	left := leftovers{seen: make(map[string]bool), told: res.Outside != nil}
	var err error
	for _, ref := range undone {
		st := f.members[ref.Session].step(ref.Step)
		if st == nil || behind != nil && slices.Contains(behind.Undone, ref) {
			continue
		}
		if left.named, err = u.OutsideNamed(st.outside); err != nil {
			return err
		}
		for _, t := range st.stays(u) {
			left.add(f.head.root, &t)
		}
		for _, path := range slices.Sorted(maps.Keys(left.named)) {
			c := left.named[path]
			left.add(f.head.root, &UncapturedChange{Path: c.Path, Reason: ReasonOutside, Made: c.Change == "added"})
		}
	}
	slices.SortFunc(left.list, func(a, b cairn.PathReason) int { return cmp.Compare(a.Path, b.Path) })
	res.NotTakenBack = left.list
	if len(left.saved) > 0 {
		slices.Sort(left.saved)
		res.Notes = append(res.Notes, wording.SavedOutsideLine(left.saved, res.DryRun || held, pathtext.Quote))
	}
	return nil
}

// leftovers are the changes that stay after a way back.
type leftovers struct {
	list  []cairn.PathReason
	saved []string // outside the root: can come back
	seen  map[string]bool
	told  bool                     // those that can come back are told of elsewhere
	named map[string]OutsideChange // by the records of the step
}

// add adds a change of a step.
func (l *leftovers) add(root string, t *UncapturedChange) {
	path, reason, saved := string(t.Path), t.Reason, false
	if filepath.IsAbs(path) {
		if path = operation.OutsidePlace(path); path == "" {
			return
		}
	}
	if c, named := l.named[path]; named {
		switch saved = c.Left == ""; {
		case !saved:
			reason += ", not saved: " + c.Left
		case c.Change == "" || l.told:
			return
		}
	}
	if l.seen[path] || t.Made && !standsAt(root, path) {
		return
	}
	l.seen[path] = true
	l.list = append(l.list, cairn.PathReason{Path: cairn.Path(path), Reason: reason})
	if saved {
		l.saved = append(l.saved, path)
	}
}

// stays lists the changes of a step that no capture holds. If the host has not listed any, every
// path outside the root that the step named counts.
func (s *step) stays(u *operation.LineUpdate) []UncapturedChange {
	list, told := staysOf(s.Parts)
	if told {
		return list
	}
	for _, path := range s.Paths {
		if filepath.IsAbs(path) && u.Outside(path) {
			list = append(list, UncapturedChange{Path: cairn.Path(path), Reason: ReasonOutside})
		}
	}
	return list
}

// standsAt reports whether a path exists or may exist.
func standsAt(root, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, filepath.FromSlash(path))
	}
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
