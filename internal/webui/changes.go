package webui

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
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
	IDs      []fact // shown on demand
	From, To string // checkpoints; To "" = the disk
	Actions  []action
	Done     bool // the operation was carried out just now
	Git      *gitPart

	Split     bool
	NoSpace   bool // blanks do not count
	Views     []tab
	Files     []*fileView
	Total     int // files
	Add, Del  int // of the listed files
	Counted   bool
	Older     string // address of the next files
	Choice    *choice
	Kept      []cairn.PathReason
	Conflicts []cairn.PathReason

	GitConflicts []cairn.GitConflict // of the operation
	Outside      []string            // paths that it changed outside the directory
	Shares       []otherShare        // of the operation in other directories
	Present      []presentFile       // of a first checkpoint, which has no state before it
	Single       bool                // one file was asked for
}

// Listed reports whether the page has a list of the files beside their lines.
func (p *changesPage) Listed() bool { return !p.Single && len(p.Files) > 1 }

type fact struct{ Name, Value, Address string }

// action is a link to a plan.
type action struct{ Name, Address, Key, Hint string }

// fileView is one changed file.
type fileView struct {
	*cairn.FileChange
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
	Boxes    int    // changes of it that can be chosen in a plan
	blame    string // address of the authors of its lines
}

// Bars draws the counts as five boxes, the added ones first.
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
	page.Facts = []fact{{"from", v.nameOf(a), v.at("checkpoint/" + a.ID)}}
	page.IDs = []fact{{Name: "from", Value: a.ID}}
	if to != "" {
		b, err := v.project.Repo.Lookup(v.ctx(), to)
		if err != nil {
			return err
		}
		page.Heading, page.To = "Changes between two checkpoints", b.ID
		page.Facts = append(page.Facts, fact{"to", v.nameOf(b), v.at("checkpoint/" + b.ID)})
		page.IDs = append(page.IDs, fact{Name: "to", Value: b.ID})
	} else if from != "@" {
		page.Heading = "Changes since a checkpoint"
	}
	return v.showChanges(page)
}

// firstVisit is the page of a project without checkpoints: it has no state to compare
// with.
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
	page.Heading = cmp.Or(v.wordsOf(c), page.Heading)
	page.Facts = []fact{{Name: "by", Value: c.Author}}
	page.IDs = []fact{{Name: "state", Value: c.Hash}, {Name: "checkpoint", Value: c.ID}}
	if page.From, err = v.before(c); err != nil {
		return err
	}
	if page.From == "" {
		return v.showFirst(page)
	}
	return v.showChanges(page)
}

// before finds the state before a checkpoint in time. A checkpoint that is no entry of
// the history, such as the state that a step or an operation saved, is compared with
// its parent.
func (v *visit) before(c *cairn.Checkpoint) (string, error) {
	for e, err := range v.project.history(v.ctx(), func(...session.Unread) {}) {
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
	page := &changesPage{
		Kind: "step", Heading: fmt.Sprintf("Step %d of %d", i+1, len(t.Steps)), When: s.Began.Local(),
		From: s.Before.ID, To: s.After.ID,
	}
	page.Facts = t.facts(v, cmp.Or(s.Agent, t.Agent))
	calls, rest := callsOf(s)
	for _, c := range calls {
		page.Facts = append(page.Facts, fact{Name: c.Tool, Value: cmp.Or(c.Command, "used")})
	}
	if rest > 0 {
		page.Facts = append(page.Facts, fact{Name: "and", Value: plural(rest, "more call")})
	}
	page.IDs = []fact{{Name: "session", Value: visible(s.Session)}, {Name: "step", Value: visible(s.ID)}, {"before", short(s.Before.Hash), v.at("checkpoint/" + s.Before.ID)}}
	if !s.Open() {
		page.IDs = append(page.IDs, fact{"after", short(s.After.Hash), v.at("checkpoint/" + s.After.ID)})
		if !s.Reverted {
			page.Actions = []action{{"Take back this step", v.stepURL(t, s), "r", "keeps what came later"}}
		}
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
	op, err := v.findOperation(v.r.PathValue("id"))
	if err != nil {
		return err
	}
	return v.showOperation(op)
}

func (v *visit) findOperation(id string) (*cairn.Operation, error) {
	for op, err := range v.project.Repo.Operations(v.ctx()) {
		if err != nil {
			return nil, err
		}
		if op.ID == id {
			return op, nil
		}
	}
	return nil, fmt.Errorf("operation %s: %w", id, cairn.ErrNotFound)
}

func (v *visit) showOperation(op *cairn.Operation) error {
	page := &changesPage{
		Kind: "operation", Heading: operationName(op.Kind), When: op.When.Local(), From: op.Before, To: op.After,
		Kept: op.Kept, Conflicts: op.Conflicts, GitConflicts: op.GitConflicts, Done: v.query.Get("done") != "",
	}
	page.IDs = []fact{{Name: "operation", Value: op.ID}, {"before", short(op.Before), v.at("checkpoint/" + op.Before)}, {"after", short(op.After), v.at("checkpoint/" + op.After)}}
	page.Facts = []fact{{Name: "what", Value: visible(v.wordsOfOperation(op))}}
	page.Outside, page.Shares = op.Outside, v.otherShares(op)
	if op.Undoes != "" {
		page.Facts = append(page.Facts, fact{"took back", v.operationText(op.Undoes), v.at("operation/" + op.Undoes)})
	}
	if page.Done {
		page.Actions = []action{{"Undo", v.at("plan", "do", "undo"), "", "the last operation"}}
	}
	page.Actions = append(page.Actions, action{"Take back this " + op.Kind, v.at("plan", "do", "revert", "from", op.Before, "to", op.After), "r", "keeps what came later"})
	if err := page.gitStays(v, op); err != nil {
		return err
	}
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
	page.Choice = v.newChoice(page.From, page.To)
	page.Split, page.NoSpace = v.query.Get("view") != "unified", v.query.Get("space") == "ignore"
	if file := v.query.Get("file"); file != "" {
		return v.showFile(page, file)
	}
	list, err := v.project.Repo.Changes(v.ctx(), page.From, page.To)
	if err != nil {
		return err
	}
	page.standardActions(v)
	if err := page.gitFact(v); err != nil {
		return err
	}
	renamed, err := v.project.Repo.Renames(v.ctx(), list)
	if err != nil {
		return err
	}
	page.Total = len(renamed)
	skip := v.number("skip", len(renamed))
	end := min(len(renamed), skip+listedFiles)
	if end < len(renamed) {
		page.Older = v.same("skip", strconv.Itoa(end))
	}
	others := slices.Concat(renamed[:skip], renamed[end:])
	if err := page.list(v, renamed[skip:end], others); err != nil {
		return err
	}
	page.Views = page.views(v)
	page.Actions = slices.DeleteFunc(page.Actions, func(a action) bool { return a.Address == "" })
	return v.render(http.StatusOK, "changes.html", page.Heading, page)
}

// views are the ways to show lines.
func (p *changesPage) views(v *visit) []tab {
	space, name := "ignore", "Ignore blanks"
	if p.NoSpace {
		space, name = "", "Count blanks"
	}
	return []tab{{"Side by side", v.same("view", ""), p.Split}, {"Unified", v.same("view", "unified"), !p.Split}, {name, v.same("space", space, "open", ""), false}}
}

// standardActions are the actions of a pair of states that has none of its own.
func (p *changesPage) standardActions(v *visit) {
	if p.Kind == "changes" && p.To == "" {
		p.Actions = append(p.Actions, action{"Take these changes back", v.at("plan", "do", "restore", "to", p.From), "r", "restores the checkpoint"})
		if v.h.opt.Source != nil {
			p.Actions = append(p.Actions, action{"Compare with other directories", v.at("compare"), "", "what others changed, and merging it"}, action{"Forks", v.at("forks"), "", "directories that go on from here, and what each changed"})
		}
		p.Actions = append(p.Actions, action{"Copy the checkpoint to a directory", v.at("copy", "of", p.From), "", "the root stays as it is"})
		return
	}
	if p.Kind == "checkpoint" || p.Kind == "changes" {
		p.Actions = append(p.Actions, action{"Take back", v.at("plan", "do", "revert", "from", p.From, "to", p.To), "r", "keeps what came later"})
	}
	if p.To != "" {
		p.Actions = append(p.Actions, action{"Restore this state", v.at("plan", "do", "restore", "to", p.To), "g", "everything as it was then"}, action{"Copy to a directory", v.at("copy", "of", p.To), "", "the root stays as it is"})
	}
}
