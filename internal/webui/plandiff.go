package webui

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/seed-fb9cbc17/cairn"
)

// planFiles makes the views of the files that a plan changes: what will happen to them on disk, a
// merge with later changes included. The lines of the first ones come with the page.
func (v *visit) planFiles(p *planPage, plan []cairn.PlannedChange) (files []*fileView, err error) {
	budget := inlineBudget
	for i := range plan {
		c := plan[i].OnDisk()
		if c == nil || len(files) == listedFiles {
			continue
		}
		f := v.plannedView(c)
		if len(files) < inlineFiles {
			err = v.fillPlanned(p.backs(), f, min(inlineLines, budget))
		} else {
			f.Add, f.Del, f.Note, err = v.project.Repo.CountLines(c, planOptions)
		}
		if err != nil {
			return nil, err
		}
		if f.Body != "" {
			budget -= f.Add + f.Del
		}
		files = append(files, f)
	}
	return files, nil
}

// planOptions are those of the comparisons of a plan.
var planOptions = cairn.DiffOptions{MaxFileSize: maxDiffSize}

func (v *visit) plannedView(c *cairn.Change) *fileView {
	f := &fileView{FileChange: &cairn.FileChange{Change: *c}, ID: "f" + hash(c.Path), Modes: modeChange(c)}
	f.Alone = v.same("show", c.Path)
	f.Load = v.same("show", c.Path, "part", "lines")
	return f
}

// fillPlanned reads a file of a plan and counts its changed lines. It makes the lines if there is
// room for as many.
func (v *visit) fillPlanned(from *takenBack, f *fileView, room int) error {
	c, err := v.comparePlanned(from, f, room)
	if err != nil || c == nil {
		return err
	}
	c.opened = readSpans(v.query.Get("open"))
	t := &diffTable{
		name: f.Path, split: v.query.Get("view") != "unified", context: defaultContext, first: v.number("row", 1<<30), hunks: c.names, all: true,
		more: func(row int) string { return v.same("show", f.Path, "part", "", "row", strconv.Itoa(row)) },
		opener: func(s span) string {
			return v.same("show", f.Path, "part", "", "open", writeSpans(append(slices.Clip(c.opened), s)))
		},
	}
	f.Body = t.html(c.comparison)
	f.Boxes = t.boxes
	return nil
}

// comparePlanned compares a file on disk with what the plan makes of it. It returns nil for a file
// whose lines are not shown. A change that is exactly taken back is read once: as it was made, and
// turned round.
func (v *visit) comparePlanned(from *takenBack, f *fileView, room int) (*named, error) {
	var back *cairn.Change
	if from != nil {
		back = from.changes[f.Path]
	}
	if back != nil && isMirror(&f.Change, back) {
		d, err := from.diffOf(v, back)
		if f.Add, f.Del, f.Note = d.Deletions, d.Additions, d.Note; err != nil || f.isFolded(room) {
			return nil, err
		}
		made := compareTexts([]byte(d.Before), []byte(d.After))
		return &named{made.mirrored(), hunksOf(d.Hunks, len(made.edits))}, nil
	}
	d, err := only(v.project.Repo.FileDiffs(v.ctx(), []cairn.Change{f.Change}, planOptions))
	if f.Add, f.Del, f.Note = d.Additions, d.Deletions, d.Note; err != nil || f.isFolded(room) {
		return nil, err
	}
	planned := compareTexts([]byte(d.Before), []byte(d.After))
	if back == nil {
		return &named{planned, nil}, nil
	}
	d, err = from.diffOf(v, back)
	if err != nil {
		return nil, err
	}
	made := compareTexts([]byte(d.Before), []byte(d.After))
	return nameEdits(planned, made, hunksOf(d.Hunks, len(made.edits)), from.only), nil
}

// showPlanned shows the lines of one file of a plan.
func (v *visit) showPlanned(p *planPage, path string) error {
	for i := range p.Result.Plan {
		c := p.Result.Plan[i].OnDisk()
		if c == nil || c.Path != path {
			continue
		}
		f := v.plannedView(c)
		if err := v.fillPlanned(p.backs(), f, anyNumber); err != nil {
			return err
		}
		if v.query.Get("part") == "lines" {
			return v.write(http.StatusOK, "lines", f)
		}
		p.Files = []*fileView{f}
		return v.render(http.StatusOK, "plan.html", p.Heading, p)
	}
	return fmt.Errorf("%w: the plan does not change %s", cairn.ErrNotFound, visible(path))
}
