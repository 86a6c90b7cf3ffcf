package webui

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
)

// boxes are what is ticked in a preview. All boxes are ticked at first. A form names only the ticked
// ones, so it says how many there were. A file whose box is not ticked stays as it is. Of a ticked
// file with boxes for its changes only the ticked changes go back.
type boxes struct {
	total  int             // boxes for files
	files  map[string]bool // the ticked ones, by the hash of the path
	shown  map[string]int  // how many boxes for changes a file had
	hunks  map[string]bool
	ofForm bool // the form has boxes
}

func readBoxes(form url.Values) *boxes {
	b := &boxes{files: setOf(form["file"]), hunks: setOf(form["hunk"]), shown: make(map[string]int), ofForm: form.Has("files")}
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

// all reports whether every box is ticked.
func (b *boxes) all() bool {
	hunks := 0
	for _, n := range b.shown {
		hunks += n
	}
	return !b.ofForm || len(b.files) == b.total && len(b.hunks) == hunks
}

// choose leads from the boxes of a preview to the preview of what is ticked.
func (h *handler) choose(v *visit) error {
	w, err := v.way()
	if err != nil {
		return err
	}
	return v.choosePart(w, readBoxes(v.r.PostForm))
}

func (v *visit) choosePart(w *way, b *boxes) error {
	if len(b.files) == 0 {
		return errNothingChosen
	}
	if b.all() {
		return v.goTo(w)
	}
	from, err := v.takenBack(w)
	if err != nil {
		return err
	}
	if from == nil {
		return fmt.Errorf("%w: it goes back as a whole", errInput)
	}
	res, err := w.run(v, "")
	if err != nil {
		return err
	}
	part, err := v.partOf(from, b, res.Plan)
	if err != nil {
		return err
	}
	if part.hunks == nil && len(w.Hunks) == 0 {
		return v.goTo(w.narrowed(part))
	}
	hunks, err := v.hunksOfFiles(from.in, part.whole)
	if err != nil {
		return err
	}
	if from.only != nil {
		hunks = slices.DeleteFunc(hunks, func(id string) bool { return !from.only[id] })
	}
	if hunks = append(hunks, part.hunks...); len(hunks) == 0 {
		return errNothingChosen
	}
	return v.goTo(&way{Do: "revert", From: from.in.From, To: from.in.To, Policy: w.Policy, Hunks: hunks})
}

// narrowed is a way for some whole paths. Its address has the shorter list: the ticked paths, or the
// others.
func (w *way) narrowed(p *part) *way {
	narrow := *w
	if len(p.whole) > len(p.stays) && len(w.Paths) == 0 {
		narrow.Without = append(slices.Clip(w.Without), p.stays...)
	} else {
		narrow.Paths, narrow.Without = p.whole, nil
	}
	return &narrow
}

// part is what is ticked of a plan.
type part struct {
	whole []string // paths
	hunks []string // of other paths
	stays []string // paths that are not ticked
}

func (v *visit) partOf(from *takenBack, b *boxes, plan []cairn.PlannedChange) (*part, error) {
	out, seen := &part{}, 0
	for i := range plan {
		path := string(plan[i].Path)
		id := "f" + hash(path)
		if !b.files[id] {
			out.stays = append(out.stays, path)
			continue
		}
		seen++
		back := from.changes[path]
		if b.shown[id] == 0 || back == nil {
			out.whole = append(out.whole, path)
			continue
		}
		d, err := v.diffOf(back, true)
		if err != nil {
			return nil, err
		}
		var ticked []string
		for i := range d.Hunks {
			if b.hunks[d.Hunks[i].ID] {
				ticked = append(ticked, d.Hunks[i].ID)
			}
		}
		if len(ticked) == b.shown[id] {
			out.whole = append(out.whole, path)
		} else {
			out.hunks = append(out.hunks, ticked...)
		}
	}
	if seen < len(b.files) {
		return nil, errGone
	}
	out.whole = withoutParents(out.whole, out.stays)
	if len(out.whole)+len(out.hunks) == 0 {
		return nil, errNothingChosen
	}
	return out, nil
}
