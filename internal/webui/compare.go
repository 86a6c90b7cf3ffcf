package webui

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
)

// comparePage is what templates/compare.html shows: what other directories changed, and parts of it
// to be merged.
type comparePage struct {
	Forks   string // address of the list of forks
	Others  []otherDir
	Sources []*comparedSource
}

// otherDir is a project that can be compared.
type otherDir struct {
	ID, Root string
	Ticked   bool
}

// comparedSource is one directory or checkpoint with what it changed. Its form leads to the preview of
// a merge.
type comparedSource struct {
	*cairn.ComparedSource
	Form   string // id of the form
	Action string
	Hidden [][2]string
	All    string // address of the preview of all of it
	Files  []comparedFile
	More   int // files that are not listed
}

type comparedFile struct {
	*cairn.ComparedFile
	ID    string
	With  []fact // who else changed it, and how the changes go together
	Lines bool   // the hunks are shown
}

// maxCompared is the number of sources of one page.
const maxCompared = 20

// compare shows the projects that can be compared, and what the chosen ones changed.
func (h *handler) compare(v *visit) error {
	if h.opt.Source == nil {
		return errNoPage
	}
	all, err := h.opt.Projects(v.ctx())
	if err != nil {
		return err
	}
	chosen, page := v.query["dir"], &comparePage{Forks: v.at("forks")}
	for _, p := range all {
		if p.ID != v.project.ID {
			page.Others = append(page.Others, otherDir{p.ID, p.Root, slices.Contains(chosen, p.ID)})
		}
	}
	ways := make([]*way, 0, len(chosen)+1)
	for _, id := range chosen {
		ways = append(ways, &way{Do: "merge", Dir: id})
	}
	for _, spec := range v.query["at"] {
		ways = append(ways, &way{Do: "merge", To: spec})
	}
	if len(ways) > maxCompared {
		return errTooMany
	}
	if len(ways) > 0 {
		if page.Sources, err = v.compared(ways); err != nil {
			return err
		}
	}
	return v.render(http.StatusOK, "compare.html", "Compare directories", page)
}

// compared compares the sources of ways of merging.
func (v *visit) compared(ways []*way) (list []*comparedSource, err error) {
	from := make([]cairn.MergeSource, len(ways))
	for i, w := range ways {
		if from[i], err = v.mergeSource(w); err != nil {
			return nil, err
		}
	}
	all, err := v.project.Repo.Compare(v.ctx(), from, cairn.CompareOptions{Hunks: true})
	if err != nil {
		return nil, err
	}
	budget := inlineBudget
	for i := range all.Sources {
		list = append(list, v.comparedSource(ways[i], &all.Sources[i], all.Root, fmt.Sprint("merge", i), &budget))
	}
	return list, nil
}

func (v *visit) comparedSource(w *way, c *cairn.ComparedSource, root cairn.Path, form string, budget *int) *comparedSource {
	s := &comparedSource{
		ComparedSource: c, Form: form, Action: v.at("plan"), All: w.address(v),
		Hidden: [][2]string{{"do", "merge"}, {"dir", w.Dir}, {"to", w.To}, {"only", "1"}},
	}
	for i := range c.Files {
		if i == listedFiles {
			s.More = len(c.Files) - i
			break
		}
		f := &c.Files[i]
		one := comparedFile{ComparedFile: f, ID: "f" + hash(string(f.File))}
		if n := f.Additions + f.Deletions; n <= inlineLines && n <= *budget {
			one.Lines, *budget = true, *budget-n
		}
		for _, o := range f.Overlaps {
			name := "here"
			if o.With != root {
				name = baseOf(string(o.With))
			}
			one.With = append(one.With, fact{Name: visible(name), Value: o.Outcome})
		}
		s.Files = append(s.Files, one)
	}
	return s
}

// mergeSource finds the source of a merge.
func (v *visit) mergeSource(w *way) (cairn.MergeSource, error) {
	switch {
	case w.Dir == "":
		return cairn.MergeSource{Checkpoint: w.To}, nil
	case v.h.opt.Source == nil:
		return cairn.MergeSource{}, errNoPage
	}
	src, err := v.h.opt.Source(v.ctx(), w.Dir)
	src.Checkpoint = w.To
	return src, err
}

// merge plans a merge, or carries out the plan of that id.
func (w *way) merge(v *visit, plan string) (*cairn.Result, error) {
	src, err := v.mergeSource(w)
	if err != nil {
		return nil, err
	}
	return v.project.Repo.Merge(v.ctx(), src, cairn.MergeOptions{Paths: w.Paths, Hunks: w.Hunks, DryRun: plan == "", Plan: plan})
}

// narrowMerge leads from a choice of files and hunks to the preview of the merge. A file beside single
// hunks stands for its own hunks, so that one operation brings both.
func (v *visit) narrowMerge(w *way) error {
	files, hunks := v.query["file"], slices.Clone(w.Hunks)
	if len(files)+len(hunks) == 0 {
		return errNothingChosen
	}
	narrow := &way{Do: w.Do, Dir: w.Dir, To: w.To, Hunks: hunks}
	if len(files) > 0 {
		list, err := v.compared([]*way{w})
		if err != nil {
			return err
		}
		if err := narrow.take(list[0].ComparedSource.Files, setOf(files), len(hunks) > 0); err != nil {
			return err
		}
	}
	slices.Sort(narrow.Hunks)
	narrow.Hunks = slices.Compact(narrow.Hunks)
	return v.goTo(narrow)
}

// take adds files to a merge by the hashes of their paths, as their hunks or as paths.
func (w *way) take(files []cairn.ComparedFile, ids map[string]bool, asHunks bool) error {
	found := 0
	for i := range files {
		f := &files[i]
		if !ids["f"+hash(string(f.File))] {
			continue
		}
		found++
		if !asHunks {
			w.Paths = append(w.Paths, string(f.File))
			continue
		}
		for j := range f.Hunks {
			w.Hunks = append(w.Hunks, f.Hunks[j].ID)
		}
	}
	if found < len(ids) {
		return errGone
	}
	return nil
}

// factsOfMerge says what a merge brings, and from which state on.
func (w *way) factsOfMerge(v *visit) []fact {
	if w.Dir == "" {
		return v.factOf("changes of", w.To)
	}
	p, err := v.h.opt.Project(v.ctx(), w.Dir)
	if err != nil {
		return nil // the plan says so
	}
	return []fact{{"changes of", visible(p.Root), Prefix + "p/" + p.ID + "/"}}
}

// signOf is the class of a line of a hunk.
func signOf(line string) string {
	switch line[:min(1, len(line))] {
	case "+":
		return "add"
	case "-":
		return "del"
	}
	return "same"
}
