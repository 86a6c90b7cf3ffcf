package webui

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/seed-fb9cbc17/cairn"
)

// countedTotal is the number of files up to which the lines of all files are counted, those of other
// pages included.
const countedTotal = 20000

// list makes the views of some files, and the lines of the files that are sent with the page. The
// totals are of all files. Each file is read once.
func (p *changesPage) list(v *visit, list, others []cairn.FileChange) error {
	budget := inlineBudget
	p.Counted = len(list)+len(others) <= countedTotal
	for i := range list {
		f := v.fileView(p, &list[i])
		var err error
		if i < inlineFiles {
			err = v.fillIn(p, f, defaultContext, 0, min(inlineLines, budget))
		} else {
			f.Add, f.Del, f.Note, err = v.project.Repo.CountLines(&f.Change, p.options())
		}
		if err != nil {
			return err
		}
		if f.Body != "" {
			budget -= f.Add + f.Del
		}
		p.Add, p.Del, p.Files = p.Add+f.Add, p.Del+f.Del, append(p.Files, f)
	}
	for i := 0; i < len(others) && p.Counted; i++ {
		add, del, _, err := v.project.Repo.CountLines(&others[i].Change, p.options())
		if err != nil {
			return err
		}
		p.Add, p.Del = p.Add+add, p.Del+del
	}
	return nil
}

// options are those of a comparison on this page.
func (p *changesPage) options() cairn.DiffOptions {
	return cairn.DiffOptions{MaxFileSize: maxDiffSize, IgnoreSpace: p.NoSpace}
}

// fileView is the view of a file without its lines and their numbers.
func (v *visit) fileView(p *changesPage, c *cairn.FileChange) *fileView {
	f := &fileView{FileChange: c, ID: "f" + hash(c.Path), Modes: modeChange(&c.Change)}
	f.Alone = v.same("file", c.Path, "skip", "")
	f.Load = v.same("file", c.Path, "skip", "", "part", "lines")
	paths := []string{"path", c.Path}
	if c.From != "" {
		paths = append(paths, "path", c.From)
	}
	if p.To == "" {
		f.Revert = v.at("plan", append([]string{"do", "restore", "to", p.From}, paths...)...)
	} else {
		f.Revert = v.at("plan", append([]string{"do", "revert", "from", p.From, "to", p.To}, paths...)...)
		if c.Status != cairn.Deleted {
			f.Restore = v.at("plan", "do", "restore", "to", p.To, "path", c.Path)
		}
	}
	if c.Status != cairn.Added || c.From != "" {
		f.Before = v.at("raw", "at", p.From, "file", cmp.Or(c.From, c.Path))
	}
	if c.Status != cairn.Deleted && p.To != "" {
		f.After = v.at("raw", "at", p.To, "file", c.Path)
	}
	if c.Status != cairn.Deleted {
		f.blame = v.at("blame", "at", p.To, "file", c.Path)
	}
	return f
}

// Blame is the address of the authors of its lines, "" for a file without lines.
func (f *fileView) Blame() string {
	if f.Note != "" {
		return ""
	}
	return f.blame
}

func modeChange(c *cairn.Change) string {
	if c.Status != cairn.Modified {
		return ""
	}
	kind := func(mode uint32, perm uint16) string {
		switch mode {
		case 0o120000:
			return "symlink"
		case 0o160000:
			return "submodule"
		}
		return fmt.Sprintf("%04o", perm)
	}
	before, after := kind(c.OldMode, c.OldPerm), kind(c.NewMode, c.NewPerm)
	if before == after {
		return ""
	}
	return before + " → " + after
}

// changeOf finds the change of one file, with its path before where it was renamed.
func (v *visit) changeOf(page *changesPage, file string) (*cairn.FileChange, error) {
	list, err := v.project.Repo.Changes(v.ctx(), page.From, page.To, file)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(c cairn.Change) bool { return c.Path == file })
	if i < 0 {
		return nil, fmt.Errorf("%w: %s did not change here", cairn.ErrNotFound, visible(file))
	}
	if list[i].Status != cairn.Added {
		return &cairn.FileChange{Change: list[i]}, nil
	}
	all, err := v.project.Repo.Changes(v.ctx(), page.From, page.To)
	if err != nil {
		return nil, err
	}
	renamed, err := v.project.Repo.Renames(v.ctx(), all)
	if err != nil {
		return nil, err
	}
	if at := slices.IndexFunc(renamed, func(c cairn.FileChange) bool { return c.Path == file }); at >= 0 {
		return &renamed[at], nil
	}
	return &cairn.FileChange{Change: list[i]}, nil
}

// showFile shows one file, on its own page or as the part that the script asks for.
func (v *visit) showFile(page *changesPage, file string) error {
	c, err := v.changeOf(page, file)
	if err != nil {
		return err
	}
	f := v.fileView(page, c)
	context := defaultContext
	if v.query.Get("context") == "all" {
		context = wholeFile
	}
	if err := v.fillIn(page, f, context, v.number("row", 1<<30), anyNumber); err != nil {
		return err
	}
	if v.query.Get("part") == "lines" {
		return v.write(http.StatusOK, "lines", f)
	}
	page.Single, page.Files, page.Total, page.Add, page.Del, page.Counted = true, []*fileView{f}, 1, f.Add, f.Del, true
	page.Actions = nil
	page.Views = append(page.views(v), tab{"Changes", v.same("context", "", "row", "", "open", ""), context != wholeFile}, tab{"Whole file", v.same("context", "all", "row", "", "open", ""), context == wholeFile})
	return v.render(http.StatusOK, "changes.html", baseOf(file), page)
}

// anyNumber of changed lines is room for every file.
const anyNumber = math.MaxInt

// fillIn reads a file and counts its changed lines. It makes the lines if there is room for as many.
// Changes can be chosen where they are those that a revert knows: not where blanks do not count, and
// not in a renamed file, which goes back as a whole.
func (v *visit) fillIn(p *changesPage, f *fileView, context, firstRow, room int) error {
	opt := p.options()
	opt.Hunks = !p.NoSpace && f.From == ""
	chosen := make(map[string]bool)
	for _, id := range v.query["hunk"] {
		chosen[id] = true
	}
	for d, err := range v.project.Repo.FileDiffs(v.ctx(), []cairn.Change{f.Change}, opt) {
		if err != nil {
			return err
		}
		if f.Add, f.Del, f.Note = d.Additions, d.Deletions, d.Note; f.isFolded(room) {
			return nil
		}
		c := p.compare(d.Before, d.After)
		if v.query.Get("file") == f.Path {
			c.opened = readSpans(v.query.Get("open"))
		}
		t := &diffTable{
			name: f.Path, split: p.Split, context: context, first: firstRow, chosen: chosen,
			more: func(row int) string {
				return v.same("file", f.Path, "skip", "", "part", "", "row", strconv.Itoa(row))
			},
			opener: func(s span) string {
				return v.same("file", f.Path, "skip", "", "part", "", "open", writeSpans(append(slices.Clip(c.opened), s)))
			},
		}
		if v.h.opt.ReadOnly == "" { // nothing can be chosen there
			t.hunks = hunksOf(d.Hunks, len(c.edits))
		}
		f.Body = t.html(c)
	}
	return nil
}

// isFolded reports whether a file has no lines to show, or more changed ones than there is room for.
func (f *fileView) isFolded(room int) bool {
	lines := f.Add + f.Del
	return f.Note != "" || lines > room || lines == 0 && room < anyNumber
}

func (p *changesPage) compare(before, after string) *comparison {
	if p.NoSpace {
		return compareIgnoringSpace([]byte(before), []byte(after))
	}
	return compareTexts([]byte(before), []byte(after))
}

// hunksOf lists the names of the changes of a file, in their order. A file whose only change goes
// back as a whole has none.
func hunksOf(hunks []cairn.Hunk, edits int) (names []string) {
	for i := range hunks {
		if !hunks[i].Whole {
			names = append(names, hunks[i].ID)
		}
	}
	if len(names) != edits {
		return nil
	}
	return names
}

// same is the address of this page with changed values in its query; an empty value is
// removed.
func (v *visit) same(pairs ...string) string {
	query := make(map[string][]string, len(v.query))
	for name, values := range v.query {
		query[name] = values
	}
	delete(query, "done")
	for i := 0; i < len(pairs); i += 2 {
		if query[pairs[i]] = []string{pairs[i+1]}; pairs[i+1] == "" {
			delete(query, pairs[i])
		}
	}
	u := *v.r.URL
	u.RawQuery = urlValues(query).Encode()
	return u.RequestURI()
}

// number reads a number of the query, between 0 and max.
func (v *visit) number(name string, max int) int {
	n, err := strconv.Atoi(v.query.Get(name))
	if err != nil || n < 0 {
		return 0
	}
	return min(n, max)
}

// showFirst shows the files of the first checkpoint.
func (v *visit) showFirst(page *changesPage) error {
	page.Actions = []action{{"Restore this state", v.at("plan", "do", "restore", "to", page.To), "g", "everything as it was then"}, {"Copy to a directory", v.at("copy", "of", page.To), "", "the root stays as it is"}}
	for e, err := range v.project.Repo.List(v.ctx(), page.To, "") {
		if err != nil {
			return err
		}
		if page.Total++; page.Total <= listedFiles {
			page.Present = append(page.Present, presentFile{e.Path, e.Size, v.at("raw", "at", page.To, "file", e.Path)})
		}
	}
	page.Actions = slices.DeleteFunc(page.Actions, func(a action) bool { return a.Address == "" })
	return v.render(http.StatusOK, "changes.html", page.Heading, page)
}

// raw answers with the bytes of a file at a checkpoint, as a download: a script of the
// project must never run as a part of this page.
func (h *handler) raw(v *visit) error {
	file := v.query.Get("file")
	n, content, err := v.project.Repo.OpenFile(v.ctx(), v.query.Get("at"), file)
	if err != nil {
		return err
	}
	defer content.Close()
	head := v.w.Header()
	head.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	head.Set("Content-Type", "application/octet-stream")
	head.Set("Content-Disposition", disposition(file))
	head.Set("Content-Length", strconv.FormatInt(n, 10))
	// The status is sent with the first byte: a failure now can only break the answer
	// off, which the length tells the browser.
	if _, err := io.Copy(v.w, content); err != nil {
		h.log.Error("file broken off", "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}
