package webui

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/session"
)

const (
	pageEntries = 30    // of the timeline on one page
	turnSteps   = 6     // of a turn on the timeline
	maxScanned  = 20000 // entries that are read for one page
)

const showOperations = "operations" // a tab, in addresses

// timelinePage is what templates/timeline.html shows.
type timelinePage struct {
	Days     []dayEntries
	Query    string
	Show     string
	Tabs     []tab
	Older    string // address of the next page, "" at the end
	Newest   string // address of the first page, "" on it
	Empty    bool   // the project has no history at all
	CutShort bool   // the history is longer than maxScanned
	Gone     bool   // the entry before the page is not in the history any more
	Unread   []session.Unread
	Git      string // what is recorded of the git repository, and what has moved there
}

type dayEntries struct {
	Day     time.Time
	Entries []*entryView
}

type tab struct {
	Name, Address string
	Current       bool
}

// entryView is an entry with its addresses.
type entryView struct {
	*entry
	ID     string // in the document
	View   string // its changes
	Revert string // plan of taking it back; "" = it cannot be
	Goto   string // plan of going to it
	Tests  string // "passed", "failed" or ""
	Words  string // what a checkpoint was made for, or which turns an operation moved
	Counts *counts
	Moved  string // in git

	Secrets []string // places of credentials in the files of a checkpoint

	Session string      // page of its session
	At      string      // its place on the page of its session that shows it
	Steps   []*stepView // of a turn, newest first
	More    int         // steps that are not shown
}

type stepView struct {
	*session.Step
	Number int // in its turn, from 1
	ID     string
	View   string
	Revert string
	Goto   string
	Counts *counts
	Tests  string // of the state after it: "passed", "failed" or ""
	Moved  string // in git

	Secrets []string // places of credentials in the files after it

	Calls []callView // of tools, the first ones
	Rest  int        // calls that are not shown

	Between string  // changes since the step before that no step recorded
	Others  *counts // of that
}

func (h *handler) projects(v *visit) error {
	list, err := h.opt.Projects(v.ctx())
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b Listed) int { return b.Last.Compare(a.Last) })
	if h.opt.ReadOnly != "" {
		return v.render(http.StatusOK, "team.html", "Team", teamOf(v.ctx(), &h.opt, list))
	}
	return v.render(http.StatusOK, "projects.html", "Projects", list)
}

func (h *handler) timeline(v *visit) error {
	page := &timelinePage{Query: v.query.Get("q"), Show: v.query.Get("show")}
	after := v.query.Get("after")
	for _, t := range [][2]string{{"", "Everything"}, {"sessions", "Prompts"}, {"checkpoints", "Checkpoints"}, {showOperations, "Operations"}} {
		if h.opt.ReadOnly == "" || t[0] != showOperations { // operations are not pushed
			page.Tabs = append(page.Tabs, tab{t[1], v.at("", "show", t[0], "q", page.Query), page.Show == t[0]})
		}
	}
	text := strings.ToLower(strings.TrimSpace(page.Query))
	scanned, found, n := 0, after == "", 0
	page.Empty = page.Show != showOperations // it looks at nothing else
	tell := func(list ...session.Unread) { page.Unread = append(page.Unread, list...) }
	for e, err := range v.project.entries(v.ctx(), page.Show, tell) {
		if err != nil {
			return err
		}
		page.Empty = false
		if scanned++; scanned > maxScanned {
			page.CutShort = true
			break
		}
		if !found {
			found = e.Key == after
			continue
		}
		if !e.isShown(page.Show) || text != "" && !e.matches(text) {
			continue
		}
		if n == pageEntries {
			page.Older = v.at("", "show", page.Show, "q", page.Query, "after", page.last().Key)
			break
		}
		n++
		if err := page.add(v, e); err != nil {
			return err
		}
	}
	page.Gone = !found && !page.CutShort
	if after != "" {
		page.Newest = v.at("", "show", page.Show, "q", page.Query)
	}
	if h.opt.ReadOnly == "" {
		page.Git = v.standing()
	}
	return v.render(http.StatusOK, "timeline.html", baseOf(v.project.Place()), page)
}

func (e *entry) isShown(show string) bool {
	switch show {
	case "sessions":
		return e.Turn != nil
	case "checkpoints":
		return e.Track != nil
	case showOperations:
		return e.Operation != nil
	}
	return true
}

func (p *timelinePage) last() *entryView {
	day := p.Days[len(p.Days)-1]
	return day.Entries[len(day.Entries)-1]
}

func (p *timelinePage) add(v *visit, e *entry) error {
	when := e.When.Local()
	day := time.Date(when.Year(), when.Month(), when.Day(), 0, 0, 0, 0, when.Location())
	if n := len(p.Days); n == 0 || !p.Days[n-1].Day.Equal(day) {
		p.Days = append(p.Days, dayEntries{Day: day})
	}
	view, err := v.entryView(e)
	if err != nil {
		return err
	}
	d := &p.Days[len(p.Days)-1]
	d.Entries = append(d.Entries, view)
	return nil
}

func (v *visit) entryView(e *entry) (_ *entryView, err error) {
	view := &entryView{entry: e, ID: elementID(e.Key)}
	view.When = e.When.Local()
	switch {
	case e.Turn != nil:
		t := e.Turn
		view.Session = v.at("session", "id", t.Session.ID)
		view.At = v.at("session", "id", t.Session.ID, "turn", t.Message) + "#" + view.ID
		if len(t.Steps) > 0 && !t.Reverted {
			view.Revert = v.at("plan", "do", "session", "session", t.Session.ID, "message", t.Message)
		}
		if n := len(t.Steps); n > 0 && !t.Steps[n-1].Open() {
			view.View = v.at("changes", "from", t.Steps[0].Before.ID, "to", t.Steps[n-1].After.ID)
		}
		view.More = max(0, len(t.Steps)-turnSteps)
		view.Steps, err = v.stepViews(t, view.More)
	case e.Track != nil:
		view.View, view.Words = v.at("checkpoint/"+e.Track.ID), v.wordsOf(e.Track.Checkpoint)
		view.Goto, view.Tests = v.at("plan", "do", "restore", "to", e.Track.ID), v.verdict(e.Track.ID, e.Track.Hash)
		view.Secrets = placesOf(e.Track.Checkpoint)
		if e.Track.Before != "" {
			view.Revert = v.at("plan", "do", "revert", "from", e.Track.Before, "to", e.Track.ID)
			if view.Moved, err = v.movedText(e.Track.Before, e.Track.ID); err == nil {
				view.Counts, err = v.count(e.Track.Before, e.Track.ID)
			}
		}
	default:
		op := e.Operation
		view.View, view.Words, view.Tests = v.at("operation/"+op.ID), v.wordsOfOperation(op), v.verdict(op.After, "")
		view.Revert = v.at("plan", "do", "revert", "from", op.Before, "to", op.After)
		view.Goto = v.at("plan", "do", "restore", "to", op.Before)
		if view.Moved, err = v.movedText(op.Before, op.After); err == nil {
			view.Counts, err = v.count(op.Before, op.After)
		}
	}
	return view, err
}

// stepURL is the plan of taking one step back: what it changed, without what other sessions changed
// meanwhile.
func (v *visit) stepURL(t *turn, s *session.Step) string {
	return v.at("plan", "do", "part", "turn", "1", "session", s.Session, "message", t.Message, "step", s.ID)
}

// stepViews lists the steps of a turn from a number on, newest first.
func (v *visit) stepViews(t *turn, from int) ([]*stepView, error) {
	var out []*stepView
	for i := len(t.Steps) - 1; i >= from; i-- {
		s := &t.Steps[i]
		view := &stepView{Step: s, Number: i + 1, ID: elementID("s" + s.Session + "/" + s.ID), View: v.at("step", "session", s.Session, "step", s.ID)}
		view.Calls, view.Rest = callsOf(s)
		if !s.Open() {
			view.Revert = v.stepURL(t, s)
			view.Goto, view.Tests = v.at("plan", "do", "restore", "to", s.After.ID), v.verdict(s.After.ID, s.After.Hash)
			view.Secrets = v.secretsOf(s.After.ID)
			var err error
			if view.Counts, err = v.count(s.Before.ID, s.After.ID); err != nil {
				return nil, err
			}
			if view.Moved, err = v.movedText(s.Before.ID, s.After.ID); err != nil {
				return nil, err
			}
		}
		if i > 0 && !t.Steps[i-1].Open() && t.Steps[i-1].After.Hash != s.Before.Hash {
			view.Between = v.at("changes", "from", t.Steps[i-1].After.ID, "to", s.Before.ID)
			var err error
			if view.Others, err = v.count(t.Steps[i-1].After.ID, s.Before.ID); err != nil {
				return nil, err
			}
		}
		out = append(out, view)
	}
	return out, nil
}

// count sums up what changed between two checkpoints. Both are fixed, so the answer is
// cached. A state that has been cleaned away has no counts.
func (v *visit) count(from, to string) (*counts, error) {
	return v.h.countsOf(v.ctx(), v.project, from, to)
}

// elementID makes a name that can stand in a document and in an address.
func elementID(key string) string {
	return "e" + hash(key)
}
