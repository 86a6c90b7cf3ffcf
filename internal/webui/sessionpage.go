package webui

import (
	"net/http"
	"slices"

	"github.com/seed-fb9cbc17/cairn/session"
)

const sessionSteps = 200 // on the page of a session

// sessionPage is what templates/session.html shows.
type sessionPage struct {
	Session  *session.Session
	Title    string
	Model    string
	Parent   *link // of which it is a sub-agent
	Fork     *link // from which it was forked
	Children []link
	Turns    []*entryView
	Unrevert string
	Older    string
	Newest   string
}

// session shows one session, its newest steps first.
func (h *handler) session(v *visit) error {
	id := v.query.Get("id")
	s, err := v.project.Sessions.Get(v.ctx(), id)
	if err != nil {
		return err
	}
	messages, err := v.project.Sessions.History(v.ctx(), id)
	if err != nil {
		return err
	}
	page := &sessionPage{Session: s, Title: titleOfAll(s, messages), Model: modelOf(s)}
	page.relatives(v)
	if s.Revert != nil {
		page.Unrevert = v.at("plan", "do", "unrevert", "session", id)
	}
	turns := turnsOf(s, messages)
	slices.Reverse(turns)
	if err := page.fill(v, turns); err != nil {
		return err
	}
	return v.render(http.StatusOK, "session.html", visible(page.Title), page)
}

// relatives names the sessions from which this one comes, and those that came from it.
func (p *sessionPage) relatives(v *visit) {
	if id := p.Session.Parent; id != "" {
		parent := v.linkTo(id)
		p.Parent = &parent
	}
	if p.Session.Fork != nil {
		source := v.linkTo(p.Session.Fork.Session)
		p.Fork = &source
	}
	for _, id := range p.Session.Children {
		p.Children = append(p.Children, v.linkTo(id))
	}
}

// fill selects the steps of one page. They begin after the turn, or the step of a turn,
// that the address names, or with the turn that it links to.
func (p *sessionPage) fill(v *visit, turns []*turn) error {
	room := sessionSteps
	turns = p.remaining(v, turns)
	for i, t := range turns {
		view, err := v.entryView(t.entry())
		if err != nil {
			return err
		}
		from := max(0, len(t.Steps)-room)
		if view.Steps, err = v.stepViews(t, from); err != nil {
			return err
		}
		view.More = 0
		room -= max(1, len(view.Steps))
		p.Turns = append(p.Turns, view)
		if from > 0 {
			p.Older = v.at("session", "id", p.Session.ID, "after", t.Message, "step", t.Steps[from].ID)
			return nil
		}
		if room <= 0 && i+1 < len(turns) {
			p.Older = v.at("session", "id", p.Session.ID, "after", t.Message)
			return nil
		}
	}
	return nil
}

// remaining removes the entries of earlier pages.
func (p *sessionPage) remaining(v *visit, turns []*turn) []*turn {
	after, step := v.query.Get("after"), v.query.Get("step")
	indexOf := func(message string) int {
		return slices.IndexFunc(turns, func(t *turn) bool { return t.Message == message })
	}
	at := indexOf(after)
	if at < 0 {
		return p.linked(v, turns, indexOf(v.query.Get("turn")))
	}
	p.Newest = v.at("session", "id", p.Session.ID)
	t := turns[at]
	i := slices.IndexFunc(t.Steps, func(s session.Step) bool { return s.ID == step })
	if i <= 0 {
		return turns[at+1:]
	}
	t.Steps = t.Steps[:i]
	return turns[at:]
}

// linked removes the entries of earlier pages than that of a turn. The first page has room for the
// newest turns.
func (p *sessionPage) linked(v *visit, turns []*turn, at int) []*turn {
	room := sessionSteps
	for i := 0; i < at && room > 0; i++ {
		room -= max(1, len(turns[i].Steps))
	}
	if room > 0 {
		return turns
	}
	p.Newest = v.at("session", "id", p.Session.ID)
	return turns[at:]
}
