package webui

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

const (
	maxDiffSize  = 4 << 20 // bytes of a file that is compared on a page
	listedFiles  = 500     // on one page
	inlineFiles  = 40      // whose lines are shown at once
	inlineLines  = 400     // changed lines of such a file
	inlineBudget = 1500    // changed lines of all of them
)

// changesPage is what templates/changes.html shows: what changed between two states.
type changesPage struct {
	Kind     string // "checkpoint", "step", "operation" or "changes"
	Heading  string
	When     time.Time
	Facts    []fact
	From, To string // checkpoints; To "" = the disk
	Actions  []action
	Done     bool // the operation was carried out just now

	Split     bool
	Views     []tab
	Files     []*fileView
	Total     int // files
	Add, Del  int // of the listed files
	Counted   bool
	Older     string // address of the next files
	Kept      []cairn.PathReason
	Conflicts []cairn.PathReason
	Present   []presentFile // of a first checkpoint, which nothing stands before
	Single    bool          // one file was asked for
}

// Listed reports whether a list of the files stands beside them.
func (p *changesPage) Listed() bool { return !p.Single && len(p.Files) > 1 }

type fact struct{ Name, Value, Address string }

// action is a link to a plan.
type action struct{ Name, Address, Key, Hint string }

// fileView is one changed file.
type fileView struct {
	*cairn.Change
	ID       string
	Add, Del int
	Note     string
	Modes    string        // how the mode changed, if it did
	Body     template.HTML // the lines, where they are shown at once
	Load     string        // address of the lines alone, where they are not
	Alone    string        // address of this file's own page
	Revert   string
	Restore  string
	Before   string // address of the bytes before
	After    string
}

// Bars are how the counts are drawn: five boxes, added ones first.
func (f *fileView) Bars() (bars []string) {
	total := f.Add + f.Del
	if total == 0 {
		return nil
	}
	added := (f.Add*5 + total/2) / total
	for i := range 5 {
		if i < added {
			bars = append(bars, "a")
		} else {
			bars = append(bars, "d")
		}
	}
	return bars
}

type presentFile struct {
	Path    string
	Size    int64
	Address string
}

// changes shows what changed between two checkpoints, or since one.
func (h *handler) changes(v *visit) error {
	from, to := v.query.Get("from"), v.query.Get("to")
	a, err := v.project.Repo.Lookup(v.ctx(), from)
	if err != nil {
		return v.firstVisit(err)
	}
	page := &changesPage{Kind: "changes", Heading: "Changes since the last checkpoint", From: a.ID}
	page.Facts = []fact{{"from", short(a.Hash), v.at("checkpoint/" + a.ID)}}
	if to != "" {
		b, err := v.project.Repo.Lookup(v.ctx(), to)
		if err != nil {
			return err
		}
		page.Heading, page.To = "Changes between two checkpoints", b.ID
		page.Facts = append(page.Facts, fact{"to", short(b.Hash), v.at("checkpoint/" + b.ID)})
	} else if from != "@" {
		page.Heading = "Changes since checkpoint " + short(a.Hash)
	}
	return v.showChanges(page)
}

// firstVisit: without any checkpoint there is nothing to compare with.
func (v *visit) firstVisit(err error) error {
	if v.query.Get("from") == "@" && errors.Is(err, cairn.ErrNotFound) {
		return v.render(http.StatusOK, "changes.html", "Changes", &changesPage{Kind: "changes", Heading: "There is no checkpoint yet"})
	}
	return err
}

// checkpoint shows what changed up to a checkpoint since the one before it in time.
func (h *handler) checkpoint(v *visit) error {
	c, err := v.project.Repo.Lookup(v.ctx(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	page := &changesPage{Kind: "checkpoint", Heading: "Checkpoint", When: c.When.Local(), To: c.ID}
	if c.Message != "" && c.Message != "checkpoint" {
		page.Heading = c.Message
	}
	page.Facts = []fact{{Name: "state", Value: c.Hash}, {Name: "checkpoint", Value: c.ID}, {Name: "by", Value: c.Author}}
	if page.From, err = v.before(c); err != nil {
		return err
	}
	if page.From == "" {
		return v.showFirst(page)
	}
	return v.showChanges(page)
}

// before finds the state before a checkpoint in time. What is not in the history by
// itself, such as a state that a step or an operation saved, has its parent.
func (v *visit) before(c *cairn.Checkpoint) (string, error) {
	for e, err := range v.project.history(v.ctx()) {
		if err != nil {
			return "", err
		}
		if e.Track != nil && e.Track.ID == c.ID {
			return e.Track.Before, nil
		}
		if e.When.Before(c.When) {
			break
		}
	}
	return c.Parent, nil
}

// step shows what a step of a session changed.
func (h *handler) step(v *visit) error {
	id, name := v.query.Get("session"), v.query.Get("step")
	s, err := v.project.Sessions.Get(v.ctx(), id)
	if err != nil {
		return err
	}
	messages, err := v.project.Sessions.History(v.ctx(), id)
	if err != nil {
		return err
	}
	for _, t := range turnsOf(s, messages) {
		i := slices.IndexFunc(t.Steps, func(s session.Step) bool { return s.ID == name })
		if i >= 0 {
			return v.showStep(t, i)
		}
	}
	return fmt.Errorf("step %q: %w", name, session.ErrNotFound)
}

func (v *visit) showStep(t *turn, i int) error {
	s := &t.Steps[i]
	page := &changesPage{Kind: "step", Heading: fmt.Sprintf("Step %d of %d", i+1, len(t.Steps)), When: s.Began.Local(), From: s.Before.ID, To: s.After.ID}
	page.Facts = []fact{
		{"session", visible(sessionName(t.Session)), v.at("session", "id", s.Session)},
		{"prompt", t.Prompt, ""},
		{"from", short(s.Before.Hash), v.at("checkpoint/" + s.Before.ID)},
	}
	if !s.Open() {
		page.Facts = append(page.Facts, fact{"to", short(s.After.Hash), v.at("checkpoint/" + s.After.ID)})
		page.Actions = []action{{"Take back this step", v.at("plan", "do", "revert", "from", s.Before.ID, "to", s.After.ID), "r", "keeps what came later"}}
	} else {
		page.Heading += ", still running"
	}
	if !t.Reverted {
		page.Actions = append(page.Actions, action{"Revert to before the prompt", v.at("plan", "do", "session", "session", s.Session, "message", t.Message), "", "this session’s work from here on"})
	}
	return v.showChanges(page)
}

// operation shows what a restore, revert, undo or redo did, path by path.
func (h *handler) operation(v *visit) error {
	id := v.r.PathValue("id")
	for op, err := range v.project.Repo.Operations(v.ctx()) {
		if err != nil {
			return err
		}
		if op.ID == id {
			return v.showOperation(op)
		}
	}
	return fmt.Errorf("operation %s: %w", id, cairn.ErrNotFound)
}

func (v *visit) showOperation(op *cairn.Operation) error {
	page := &changesPage{
		Kind: "operation", Heading: operationName(op.Kind), When: op.When.Local(), From: op.Before, To: op.After,
		Kept: op.Kept, Conflicts: op.Conflicts, Done: v.query.Get("done") != "",
	}
	page.Facts = []fact{{Name: "operation", Value: op.ID}, {"before", short(op.Before), v.at("checkpoint/" + op.Before)}, {"after", short(op.After), v.at("checkpoint/" + op.After)}}
	if op.Undoes != "" {
		page.Facts = append(page.Facts, fact{"took back", short(op.Undoes), v.at("operation/" + op.Undoes)})
	}
	page.Actions = []action{{"Take back this " + op.Kind, v.at("plan", "do", "revert", "from", op.Before, "to", op.After), "r", "keeps what came later"}}
	return v.showChanges(page)
}

func operationName(kind string) string {
	if kind == "" {
		return "Operation"
	}
	return strings.ToUpper(kind[:1]) + kind[1:]
}

// showChanges lists the changed files, the first of them with their lines.
func (v *visit) showChanges(page *changesPage) error {
	page.Split = v.query.Get("view") != "unified"
	if file := v.query.Get("file"); file != "" {
		return v.showFile(page, file)
	}
	list, err := v.project.Repo.Changes(v.ctx(), page.From, page.To)
	if err != nil {
		return err
	}
	page.standardActions(v)
	page.Total = len(list)
	skip := v.number("skip", len(list))
	list = list[skip:]
	if len(list) > listedFiles {
		list = list[:listedFiles]
		page.Older = v.same("skip", strconv.Itoa(skip+listedFiles))
	}
	if err := page.list(v, list); err != nil {
		return err
	}
	page.Views = []tab{{"Side by side", v.same("view", ""), page.Split}, {"Unified", v.same("view", "unified"), !page.Split}}
	return v.render(http.StatusOK, "changes.html", page.Heading, page)
}

// standardActions come with every pair of states that has none of its own.
func (p *changesPage) standardActions(v *visit) {
	if p.Kind == "changes" && p.To == "" {
		p.Actions = append(p.Actions, action{"Take these changes back", v.at("plan", "do", "restore", "to", p.From), "r", "restores the checkpoint"})
		return
	}
	if p.Kind == "checkpoint" || p.Kind == "changes" {
		p.Actions = append(p.Actions, action{"Take back", v.at("plan", "do", "revert", "from", p.From, "to", p.To), "r", "keeps what came later"})
	}
	if p.To != "" {
		p.Actions = append(p.Actions, action{"Restore this state", v.at("plan", "do", "restore", "to", p.To), "g", "everything as it was then"})
	}
}

// list makes the views of files, and the lines of those that go with the page.
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
	if f.Add, f.Del, f.Note, err = v.project.Repo.Stat(c, cairn.DiffOptions{MaxFileSize: maxDiffSize}); err != nil {
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
	opt := cairn.DiffOptions{Paths: []string{f.Path}, MaxFileSize: maxDiffSize, Context: cairn.NoContext}
	for d, err := range v.project.Repo.DiffFull(v.ctx(), p.From, p.To, opt) {
		if err != nil {
			return err
		}
		if d.File != f.Path {
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

// same is the address of this page with some values of the query set; an empty value
// removes one.
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

// showFirst shows the files of a checkpoint that none stands before.
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

// raw gives the bytes of a file at a checkpoint, as a download: what a project holds
// must never run as a part of this page.
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
