package webui

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/seed-fb9cbc17/cairn"
)

// list makes the views of files, and the lines of the files that are sent with the page.
func (p *changesPage) list(v *visit, list []cairn.Change) error {
	budget := inlineBudget
	p.Counted = true
	for i := range list {
		f, err := v.fileView(p, &list[i])
		if err != nil {
			return err
		}
		p.Add += f.Add
		p.Del += f.Del
		p.Files = append(p.Files, f)
		lines := f.Add + f.Del
		if f.Note == "" && i < inlineFiles && lines > 0 && lines <= inlineLines && lines <= budget {
			budget -= lines
			if err := v.fillIn(p, f, defaultContext, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *visit) fileView(p *changesPage, c *cairn.Change) (*fileView, error) {
	f := &fileView{Change: c, ID: "f" + hash(c.Path), Modes: modeChange(c)}
	var err error
	if f.Add, f.Del, f.Note, err = v.project.Repo.CountLines(c, cairn.DiffOptions{MaxFileSize: maxDiffSize}); err != nil {
		return nil, err
	}
	f.Alone = v.same("file", c.Path, "skip", "")
	f.Load = v.same("file", c.Path, "skip", "", "part", "lines")
	if p.To == "" {
		f.Revert = v.at("plan", "do", "restore", "to", p.From, "path", c.Path)
	} else {
		f.Revert = v.at("plan", "do", "revert", "from", p.From, "to", p.To, "path", c.Path)
		if c.Status != cairn.Deleted {
			f.Restore = v.at("plan", "do", "restore", "to", p.To, "path", c.Path)
		}
	}
	if c.Status != cairn.Added {
		f.Before = v.at("raw", "at", p.From, "file", c.Path)
	}
	if c.Status != cairn.Deleted && p.To != "" {
		f.After = v.at("raw", "at", p.To, "file", c.Path)
	}
	return f, nil
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

// showFile shows one file, on its own page or as the part that the script asks for.
func (v *visit) showFile(page *changesPage, file string) error {
	list, err := v.project.Repo.Changes(v.ctx(), page.From, page.To, file)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(c cairn.Change) bool { return c.Path == file })
	if i < 0 {
		return fmt.Errorf("%w: %s did not change here", cairn.ErrNotFound, visible(file))
	}
	f, err := v.fileView(page, &list[i])
	if err != nil {
		return err
	}
	context := defaultContext
	if v.query.Get("context") == "all" {
		context = wholeFile
	}
	if f.Note == "" {
		if err := v.fillIn(page, f, context, v.number("row", 1<<30)); err != nil {
			return err
		}
	}
	if v.query.Get("part") == "lines" {
		return v.write(http.StatusOK, "lines", f)
	}
	page.Single, page.Files, page.Total, page.Add, page.Del, page.Counted = true, []*fileView{f}, 1, f.Add, f.Del, true
	page.Actions = nil
	page.Views = []tab{
		{"Side by side", v.same("view", ""), page.Split}, {"Unified", v.same("view", "unified"), !page.Split},
		{"Changes", v.same("context", "", "row", ""), context != wholeFile}, {"Whole file", v.same("context", "all", "row", ""), context == wholeFile},
	}
	return v.render(http.StatusOK, "changes.html", baseOf(file), page)
}

// fillIn makes the lines of a file.
func (v *visit) fillIn(p *changesPage, f *fileView, context, firstRow int) error {
	opt := cairn.DiffOptions{MaxFileSize: maxDiffSize, Context: cairn.NoContext}
	for d, err := range v.project.Repo.DiffFull(v.ctx(), p.From, p.To, opt, f.Path) {
		if err != nil {
			return err
		}
		if string(d.File) != f.Path {
			continue
		}
		if f.Note = d.Note; d.Note == "" {
			t := &diffTable{name: f.Path, split: p.Split, context: context, first: firstRow, more: func(row int) string {
				return v.same("file", f.Path, "skip", "", "part", "", "row", strconv.Itoa(row))
			}}
			f.Body = t.html(d.Before, d.After)
		}
		return nil
	}
	return nil
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
	page.Actions = []action{{"Restore this state", v.at("plan", "do", "restore", "to", page.To), "g", "everything as it was then"}}
	for e, err := range v.project.Repo.List(v.ctx(), page.To, "") {
		if err != nil {
			return err
		}
		if page.Total++; page.Total <= listedFiles {
			page.Present = append(page.Present, presentFile{e.Path, e.Size, v.at("raw", "at", page.To, "file", e.Path)})
		}
	}
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
