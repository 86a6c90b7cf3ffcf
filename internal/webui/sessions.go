package webui

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/session"
)

// listedSessions is the number of sessions on one page.
const listedSessions = 100

// sessionsPage is what templates/sessions.html shows.
type sessionsPage struct {
	Query    string
	Sessions []*sessionView
	Total    int // that fit the search
	Older    string
	Newest   string
	Empty    bool // the project has no session at all
	Unread   []session.Unread
}

// sessionView is a session on a list.
type sessionView struct {
	*session.Session
	ID, Title, Model, View string
	When                   time.Time
	Latest                 string // first line of its newest prompt, where that is not the title
}

// sessions lists the sessions of a project, the newest first.
func (h *handler) sessions(v *visit) error {
	list, unread, err := v.project.Sessions.ListAll(v.ctx())
	if err != nil {
		return err
	}
	page := &sessionsPage{Query: v.query.Get("q"), Empty: len(list)+len(unread) == 0, Unread: unread}
	text := strings.ToLower(strings.TrimSpace(page.Query))
	list = slices.DeleteFunc(list, func(s *session.Session) bool { return !sessionMatches(s, text) })
	slices.SortStableFunc(list, func(a, b *session.Session) int { return b.Updated.Compare(a.Updated) })
	page.Total = len(list)
	skip := v.number("skip", len(list))
	if skip > 0 {
		page.Newest = v.same("skip", "")
	}
	end := min(len(list), skip+listedSessions)
	if end < len(list) {
		page.Older = v.same("skip", strconv.Itoa(end))
	}
	for _, s := range list[skip:end] {
		view := &sessionView{
			Session: s, ID: elementID("s" + s.ID), Title: titleOf(s), Model: modelOf(s),
			View: v.at("session", "id", s.ID), When: s.Updated.Local(),
		}
		if s.Latest != nil && !isBeginning(view.Title, s.Latest.Prompt) {
			view.Latest = s.Latest.Prompt
		}
		page.Sessions = append(page.Sessions, view)
	}
	return v.render(http.StatusOK, "sessions.html", "Sessions", page)
}

// isBeginning reports whether a title is a prompt, or the beginning of one that was too long for it.
func isBeginning(title, prompt string) bool {
	beginning, cut := strings.CutSuffix(title, "…")
	return title == prompt || cut && strings.HasPrefix(prompt, strings.TrimSuffix(beginning, " "))
}

// sessionMatches reports whether the title, the newest prompt, the agent, the model, the newest
// paths or the id of a session contain a text. The text is in lower case.
func sessionMatches(s *session.Session, text string) bool {
	words := []string{s.Title, s.Agent, modelOf(s), s.ID}
	if w := s.Latest; w != nil {
		words = append(append(words, w.Prompt, w.Agent), w.Paths...)
	}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(strings.ToLower(word), text) })
}
