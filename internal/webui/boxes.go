package webui

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
)

// maxBoxes is the number of paths up to which the paths of a plan have boxes. The form of a larger plan
// confirms all of it.
const maxBoxes = 20000

// boxes are the ticked boxes of a preview. All boxes are ticked at first. A form names only the ticked
// ones, so it says how many there were. A file whose box is not ticked stays as it is. Of a ticked
// file with boxes for its changes only the ticked changes go back.
type boxes struct {
	total  int             // boxes for files
	files  map[string]bool // the ticked ones, by the hash of the path
	shown  map[string]int  // how many boxes for changes a file had
	hunks  map[string]bool
	steps  map[string]bool // the ticked ones, by the names of their boxes
	ofForm bool            // the form has boxes

	asksOutside, outside bool // the form has a box for paths outside the directory; it is ticked
}

func readBoxes(form url.Values) *boxes {
	b := &boxes{
		files: setOf(form["file"]), hunks: setOf(form["hunk"]), steps: setOf(form["step"]),
		shown: make(map[string]int), ofForm: form.Has("files"),
	}
	b.asksOutside, b.outside = form.Has("outsides"), form.Has("outside")
	b.total, _ = strconv.Atoi(form.Get("files")) // a wrong number is no number of boxes, so the plan is shown again
	for _, one := range form["shown"] {
		id, count, _ := strings.Cut(one, ":")
		b.shown[id], _ = strconv.Atoi(count)
	}
	return b
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, one := range list {
		set[one] = true
	}
	return set
}

// all reports whether every box of a file and of a change is ticked.
func (b *boxes) all() bool {
	hunks := 0
	for _, n := range b.shown {
		hunks += n
	}
	return !b.ofForm || len(b.files) == b.total && len(b.hunks) == hunks
}

// choose leads from the boxes of a preview to the preview of the ticked part.
func (h *handler) choose(v *visit) error {
	w, err := v.way()
	if err != nil {
		return err
	}
	narrow, err := v.ticked(w, readBoxes(v.r.PostForm))
	if err != nil {
		return err
	}
	return v.goTo(narrow)
}

// ticked is the way for the ticked part, w itself for all of it.
func (v *visit) ticked(w *way, b *boxes) (*way, error) {
	narrow, err := v.tickedInside(w, b)
	if err != nil {
		return nil, err
	}
	return narrow.outsideTicked(b), nil
}

func (v *visit) tickedInside(w *way, b *boxes) (*way, error) {
	if b.total > 0 && len(b.files) == 0 {
		return nil, errNothingChosen
	}
	narrow, other := w, false
	if b.ofForm && (w.Do == "session" || w.Do == "part") {
		steps, changed, err := v.tickedSteps(w, b)
		if err != nil {
			return nil, err
		}
		switch {
		case len(steps) == 0 && len(b.steps) > 0: // the form was confirmed before, or another client was faster
			return nil, fmt.Errorf("%w: the ticked steps are taken back already", cairn.ErrMoved)
		case len(steps) == 0:
			return nil, errNothingChosen
		}
		if other = changed; changed {
			narrow = w.ofSteps(steps, len(steps) == len(v.goes.ids))
		}
	}
	if b.all() && (!other || len(w.Hunks) == 0) {
		return narrow, nil
	}
	return v.tickedFiles(w, narrow, b)
}

// ofSteps is a part of a session: some steps, or all.
func (w *way) ofSteps(steps []string, all bool) *way {
	narrow := *w
	narrow.Do, narrow.Steps = "part", steps
	if all {
		narrow.Steps = nil
	}
	return &narrow
}

// tickedFiles narrows a way down to the ticked files and changes. The boxes are those of the way
// shown; narrow may have other steps.
func (v *visit) tickedFiles(shown, narrow *way, b *boxes) (*way, error) {
	from, err := v.takenBack(shown)
	if err != nil {
		return nil, err
	}
	if from == nil {
		return nil, fmt.Errorf("%w: it goes back as a whole", errInput)
	}
	res, err := shown.run(v, "")
	if err != nil {
		return nil, err
	}
	part, err := v.partOf(from, b, res.Plan)
	if err != nil {
		return nil, err
	}
	if len(part.some) == 0 && len(shown.Hunks) == 0 {
		return narrow.narrowed(part), nil
	}
	steps := from
	if narrow != shown {
		if steps, err = v.takenBack(narrow); err != nil {
			return nil, err
		}
	}
	out := steps.way
	if out.Hunks, err = v.hunksOfPart(steps, part, narrow != shown); err == nil && len(out.Hunks) == 0 {
		err = errNothingChosen
	}
	return &out, err
}

// narrowed is a way for some whole paths. Its address has the shorter list: the ticked paths, or the
// others.
func (w *way) narrowed(p *part) *way {
	narrow := *w
	if narrow.Do == "session" {
		narrow.Do = "part"
	}
	if len(p.whole) > len(p.stays) && len(w.Paths) == 0 {
		narrow.Without = append(slices.Clip(w.Without), p.stays...)
	} else {
		narrow.Paths, narrow.Without = p.whole, nil
	}
	return &narrow
}

// part is the ticked part of a plan.
type part struct {
	whole []string                   // paths
	some  map[string]map[string]bool // by path: the names of its hunks, and whether they are ticked
	stays []string                   // paths that are not ticked
}

func (v *visit) partOf(from *takenBack, b *boxes, plan []cairn.PlannedChange) (*part, error) {
	out, seen := &part{some: make(map[string]map[string]bool)}, 0
	for i := range plan {
		path := string(plan[i].Path)
		id := "f" + hash(path)
		if !b.files[id] {
			out.stays = append(out.stays, path)
			continue
		}
		seen++
		hunks, err := v.tickedHunks(from, path, b)
		if err != nil {
			return nil, err
		}
		switch n := countOf(hunks); {
		case b.shown[id] == 0 || n == b.shown[id]:
			out.whole = append(out.whole, path)
		case n == 0:
			out.stays = append(out.stays, path)
		default:
			out.some[path] = hunks
		}
	}
	if seen < len(b.files) {
		return nil, errGone
	}
	out.whole = withoutParents(out.whole, out.stays)
	if len(out.whole)+len(out.some) == 0 {
		return nil, errNothingChosen
	}
	return out, nil
}

// tickedHunks tells of each hunk of a file whether it is ticked, nil for a file whose changes have no
// boxes.
func (v *visit) tickedHunks(from *takenBack, path string, b *boxes) (map[string]bool, error) {
	back := from.changes[path]
	if b.shown["f"+hash(path)] == 0 || back == nil {
		return nil, nil
	}
	d, err := from.diffOf(v, back)
	hunks := make(map[string]bool, len(d.Hunks))
	for i := range d.Hunks {
		hunks[d.Hunks[i].ID] = b.hunks[d.Hunks[i].ID]
	}
	return hunks, err
}

func countOf(set map[string]bool) (n int) {
	for _, yes := range set {
		if yes {
			n++
		}
	}
	return n
}

// hunksOfPart names the hunks of a part. With other steps than those of the boxes a file may have
// hunks without a box: these go back, too.
func (v *visit) hunksOfPart(t *takenBack, p *part, other bool) (names []string, err error) {
	paths := slices.Concat(p.whole, slices.Collect(maps.Keys(p.some)))
	slices.Sort(paths)
	for _, path := range paths {
		if t.changes[path] == nil {
			continue
		}
		d, err := t.diffOf(v, t.changes[path])
		if err != nil {
			return nil, err
		}
		for i := range d.Hunks {
			id := d.Hunks[i].ID
			ticked, known := p.some[path][id]
			if (ticked || p.some[path] == nil || other && !known) && (t.only == nil || t.only[id]) {
				names = append(names, id)
			}
		}
	}
	return names, nil
}
