package webui

import (
	"fmt"
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
)

// planFiles makes the views of the files that a plan changes: what will happen to them on disk, a
// merge with later changes included. The lines of the first ones come with the page.
func (v *visit) planFiles(plan []cairn.PlannedChange) (files []*fileView, err error) {
	budget := inlineBudget
	for i := range plan {
		c := plan[i].OnDisk()
		if c == nil || len(files) == listedFiles {
			continue
		}
		f := &fileView{Renamed: &cairn.Renamed{Change: *c}, ID: "f" + hash(c.Path), Modes: modeChange(c)}
		if f.Add, f.Del, f.Note, err = v.project.Repo.CountLines(c, cairn.DiffOptions{MaxFileSize: maxDiffSize}); err != nil {
			return nil, err
		}
		f.Alone = v.same("show", c.Path)
		f.Load = v.same("show", c.Path, "part", "lines")
		lines := f.Add + f.Del
		if f.Note == "" && len(files) < inlineFiles && lines <= inlineLines && lines <= budget {
			budget -= lines
			if err := v.fillPlanned(f); err != nil {
				return nil, err
			}
		}
		files = append(files, f)
	}
	return files, nil
}

func (v *visit) fillPlanned(f *fileView) error {
	for d, err := range v.project.Repo.FileDiffs(v.ctx(), []cairn.Change{f.Change}, cairn.DiffOptions{MaxFileSize: maxDiffSize}) {
		if err != nil {
			return err
		}
		if f.Note = d.Note; d.Note != "" {
			return nil
		}
		t := &diffTable{name: f.Path, split: v.query.Get("view") != "unified", context: defaultContext, first: v.number("row", 1<<30), more: func(row int) string {
			return v.same("show", f.Path, "part", "", "row", fmt.Sprint(row))
		}}
		f.Body = t.html(compareTexts([]byte(d.Before), []byte(d.After)))
	}
	return nil
}

// showPlanned shows the lines of one file of a plan.
func (v *visit) showPlanned(p *planPage, path string) error {
	for i := range p.Result.Plan {
		c := p.Result.Plan[i].OnDisk()
		if c == nil || c.Path != path {
			continue
		}
		files, err := v.planFiles(p.Result.Plan[i : i+1])
		if err != nil {
			return err
		}
		if files[0].Body == "" && files[0].Note == "" {
			if err := v.fillPlanned(files[0]); err != nil {
				return err
			}
		}
		if v.query.Get("part") == "lines" {
			return v.write(http.StatusOK, "lines", files[0])
		}
		p.Files = files
		return v.render(http.StatusOK, "plan.html", p.Heading, p)
	}
	return fmt.Errorf("%w: the plan does not change %s", cairn.ErrNotFound, visible(path))
}
