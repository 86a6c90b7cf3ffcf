package webui

import (
	"context"
	"errors"

	"github.com/seed-fb9cbc17/cairn/session"
)

// errReadOnly: the server shows a remote, and has no page that changes anything.
var errReadOnly = errors.New("nothing can be changed here")

// readOnly answers for the pages that change something, and those that look at a disk.
func (h *handler) readOnly() {
	refuse := h.page(func(*visit) error { return errReadOnly })
	for page := range lacking {
		h.mux.HandleFunc("GET /ui/p/{project}/"+page, refuse)
	}
	h.mux.HandleFunc("POST /ui/p/{project}/", refuse)
}

// teamPage is what templates/team.html shows: the projects of a remote, and whose stores they have.
type teamPage struct {
	Projects []Listed
	Notice   string
}

func teamOf(ctx context.Context, opt *Options, list []Listed) *teamPage {
	p := &teamPage{Projects: list}
	if opt.Notice != nil {
		p.Notice = opt.Notice(ctx)
	}
	return p
}

// whose names the machine that a session was fetched from, "" for a session of this one.
func whose(s *session.Session) string {
	o := s.Fetched
	switch {
	case o == nil:
		return ""
	case o.User != "" && o.Machine != "":
		return o.User + "@" + o.Machine
	case o.User+o.Machine != "":
		return o.User + o.Machine
	}
	return "store " + o.Store
}
