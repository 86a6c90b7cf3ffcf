package httpapi

import (
	"context"
	"iter"
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// InSession names a session in the path. Ids are opaque: a '/' is written as %2F.
type InSession struct {
	InProject
	ID string `path:"id" maxLength:"1024" doc:"Opaque, up to 1,024 bytes; a slash in it is written as %2F. The beginning of one id, or @ for the session that was changed last, will do, but not for DELETE."`
}

// InRecording names the session that a host records, in the path.
type InRecording struct {
	InProject
	ID string `path:"id" maxLength:"1024" doc:"Opaque, up to 1,024 bytes, in full; a slash in it is written as %2F."`
}

// ListedSession is a session on the list of all.
type ListedSession struct {
	session.Session
	Error string `json:"error,omitempty" doc:"Why the session cannot be read. Then only its id and the root are known."`
}

// SessionAnswer is a session after a change.
type SessionAnswer struct {
	session.Session
	Result *cairn.Result `json:"result,omitempty" doc:"What was done to the files."`
}

// NewsAnswer is what a host does not know of a session yet.
type NewsAnswer struct {
	News *session.News `json:"news,omitempty" doc:"Missing where there are none."`
}

// SessionBegin describes a session that begins.
type SessionBegin struct {
	ID     string            `json:"id" minLength:"1" maxLength:"1024"`
	Parent string            `json:"parentID,omitempty" maxLength:"1024" doc:"Session whose sub-agent this is."`
	Title  string            `json:"title,omitempty" maxLength:"65536"`
	Meta   map[string]string `json:"meta,omitempty" doc:"Kept as it is."`

	Further []string `json:"furtherRoots,omitempty" maxItems:"100" doc:"Other directories that the session works in, as absolute paths: they go back together. A session that exists gets more of them."`
}

// SessionRevert names a place to go back to, or hunks to take back. Fields that are not in the
// specification are optional.
type SessionRevert struct {
	ChosenHunks
	ChosenSteps
	Turn       int    `json:"turn,omitempty" minimum:"-1000000" maximum:"1000000" doc:"This turn alone, from 1; -1 is the newest that is not reverted. With hunks or lines these of it."`
	StepID     string `json:"stepID,omitempty" maxLength:"1024" doc:"With hunks or lines: of this step."`
	MessageID  string `json:"messageID,omitempty" maxLength:"1024" doc:"Before this message, and with hunks or lines of this message; required unless start is true or turn, hunks, lines or stepIDs are there."`
	PartID     string `json:"partID,omitempty" maxLength:"1024" doc:"Before this part, in whatever message it is."`
	Start      bool   `json:"start,omitempty" doc:"Before everything."`
	OnConflict string `json:"onConflict,omitempty" enum:"merge,overwrite,keep,fail"`
	DryRun     bool   `json:"dryRun,omitempty" doc:"Only say what would be done."`
	Plan       string `json:"planID,omitempty" pattern:"^[0-9a-f]{16}$" doc:"Carry out this plan and no other."`
	EndOpen    bool   `json:"endOpen,omitempty" doc:"End open steps first: their agent is gone."`
	Git        bool   `json:"git,omitempty" doc:"The git repository goes back, too: only with the planID of a dry run, 409 without one."`
	ThisRoot   bool   `json:"thisRoot,omitempty" doc:"Only in this directory, of a session of several."`
	Outside    bool   `json:"outside,omitempty" doc:"What was changed outside the root, and saved before, goes back, too."`
}

// SessionBack is a SessionRevert whose target is known.
type SessionBack struct {
	OnConflict string `json:"onConflict,omitempty" enum:"merge,overwrite,keep,fail"`
	DryRun     bool   `json:"dryRun,omitempty"`
	Plan       string `json:"planID,omitempty" pattern:"^[0-9a-f]{16}$"`
	EndOpen    bool   `json:"endOpen,omitempty"`
	Git        bool   `json:"git,omitempty" doc:"Git goes along, only with the planID of a dry run."`
	ThisRoot   bool   `json:"thisRoot,omitempty" doc:"Only in this directory, of a session of several."`
	Outside    bool   `json:"outside,omitempty" doc:"What was changed outside the root, and saved before, goes back, too."`
}

type inSessionBack struct {
	InSession
	Body *SessionBack
}

func (b *SessionBack) options() session.MoveOptions {
	if b == nil {
		return session.MoveOptions{}
	}
	return session.MoveOptions{
		OnConflict: cairn.Policy(b.OnConflict), DryRun: b.DryRun, Plan: b.Plan, EndOpen: b.EndOpen,
		Git: b.Git, ThisRoot: b.ThisRoot, Outside: b.Outside,
	}
}

func (s *Server) sessionOperations() {
	onProject(s, endpoint{
		id: "list-sessions", method: http.MethodGet, path: "/sessions", tag: "sessions", summary: "All sessions, the one changed last first",
		description: "Those that cannot be read come last, with an error.",
	}, func(ctx context.Context, p *Project, _ *InProject) ([]ListedSession, error) {
		list, unread, err := p.Sessions.ListAll(ctx)
		all := make([]ListedSession, 0, len(list)+len(unread))
		for _, s := range list {
			all = append(all, ListedSession{Session: *s})
		}
		for _, u := range unread {
			all = append(all, ListedSession{session.Session{ID: u.ID, Root: cairn.Path(p.Root)}, u.Err.Error()})
		}
		return all, err
	})
	onProject(s, endpoint{
		id: "begin-session", method: http.MethodPost, path: "/sessions", tag: "sessions", create: true, summary: "Begin a session",
		description: "For one that exists it only fills in what it lacked.",
	}, func(ctx context.Context, p *Project, in *struct {
		InProject
		Body SessionBegin
	}) (*session.Session, error) {
		b := in.Body
		further, err := decodePaths("body.furtherRoots", b.Further)
		if err != nil {
			return nil, err
		}
		return p.Sessions.Begin(ctx, session.SessionBegin{ID: b.ID, Parent: b.Parent, Title: b.Title, Meta: b.Meta, Further: further})
	})
	onProject(s, endpoint{
		id: "get-session", method: http.MethodGet, path: "/session/{id}", tag: "sessions", summary: "One session",
	}, func(ctx context.Context, p *Project, in *struct {
		InSession
		Brief bool `query:"brief" doc:"Leave out what has to be computed from the files: summary, children and the differences of a revert."`
	}) (*session.Session, error) {
		id, err := p.Sessions.Find(ctx, in.ID)
		switch {
		case err != nil:
			return nil, err
		case in.Brief:
			return p.Sessions.Brief(ctx, id)
		}
		return p.Sessions.Get(ctx, id)
	})
	ofSession(s, endpoint{
		id: "get-history", method: http.MethodGet, path: "/session/{id}/history", summary: "The messages of a session, in their order, with their steps",
	}, func(all *Sessions, ctx context.Context, id string) ([]session.Message, error) {
		list, err := all.History(ctx, id)
		return append([]session.Message{}, list...), err
	})
	silently(s, endpoint{
		id: "delete-session", method: http.MethodDelete, path: "/session/{id}", tag: "sessions", summary: "Forget a session and its children",
		description: "Files stay as they are.",
	}, func(ctx context.Context, p *Project, in *InSession) error { // a prefix is not enough, because this cannot be undone
		return p.Sessions.Delete(ctx, in.ID)
	})
	s.sessionNews()
	s.sessionFork()
	s.sessionDiff()
	s.sessionHunks()
	s.sessionBack()
	s.sessionUnrevert()
}

func (s *Server) sessionNews() {
	onProject(s, endpoint{
		id: "take-news", method: http.MethodPost, path: "/session/{id}/news", tag: "sessions", summary: "What went back or came back since the host was last told",
		description: "For the model, with the next prompt: its conversation still tells of files that are gone. Each of the news is answered once.",
	}, func(ctx context.Context, p *Project, in *InRecording) (NewsAnswer, error) {
		n, err := p.Sessions.TakeNews(ctx, in.ID)
		return NewsAnswer{n}, err
	})
	ofSession(s, endpoint{
		id: "commit-session", method: http.MethodPost, path: "/session/{id}/commit", summary: "Make a revert final",
		description: "What was reverted leaves the session. The next step does it, too.",
	}, (*Sessions).Commit)
}

func (s *Server) sessionFork() {
	onProject(s, endpoint{
		id: "fork-session", method: http.MethodPost, path: "/session/{id}/fork", tag: "sessions", summary: "A new session that shares the history before a message",
		description: "Files stay as they are.",
	}, func(ctx context.Context, p *Project, in *struct {
		InSession
		Body struct {
			ID        string `json:"id" minLength:"1" maxLength:"1024" doc:"Of the new session."`
			MessageID string `json:"messageID,omitempty" maxLength:"1024" doc:"The first one that is not shared; by default all are."`
		}
	}) (*session.Session, error) {
		id, err := p.Sessions.Find(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		return p.Sessions.Fork(ctx, id, in.Body.MessageID, in.Body.ID)
	})
}

func (s *Server) sessionDiff() {
	streamed[Diffs](s, endpoint{
		id: "session-diff", method: http.MethodGet, path: "/session/{id}/diff", tag: "sessions", summary: "What a session, a message or a step changed",
		description: "Each file from before its first change to after its last. An answer that an error cuts short is broken off.",
	}, "The changed files, ordered by the bytes of their paths.", func(ctx context.Context, p *Project, in *struct {
		InSession
		MessageID string `query:"messageID" maxLength:"1024" doc:"Only this message."`
		StepID    string `query:"stepID" maxLength:"1024" doc:"Only this step."`
	}) (iter.Seq2[*cairn.FileDiff, error], error) {
		id, err := p.Sessions.Find(ctx, in.ID)
		return p.Sessions.Diff(ctx, id, session.Scope{Message: in.MessageID, Step: in.StepID}, cairn.DiffOptions{}), err
	})
}

// ofSession registers an operation whose only input is a session: its id, a prefix of it, or @.
func ofSession[O any](s *Server, e endpoint, run func(*Sessions, context.Context, string) (O, error)) {
	e.tag = "sessions"
	onProject(s, e, func(ctx context.Context, p *Project, in *InSession) (out O, err error) {
		id, err := p.Sessions.Find(ctx, in.ID)
		if err != nil {
			return out, err
		}
		return run(p.Sessions, ctx, id)
	})
}

func answerBack(out *session.Session, res *cairn.Result, err error) (*SessionAnswer, error) {
	if err != nil {
		return nil, err
	}
	return &SessionAnswer{*out, res}, nil
}

func (s *Server) sessionBack() {
	onProject(s, endpoint{
		id: "revert-session", method: http.MethodPost, path: "/session/{id}/revert", tag: "sessions", summary: "Take back what a session changed from a message on, or one turn, some steps or hunks",
		description: "Only paths that the session changed are touched; what came later is merged or kept. 409 while a step is open. " +
			"With turn, stepIDs, hunks or lines only these go back, and nothing else of the session is reverted.",
	}, func(ctx context.Context, p *Project, in *struct {
		InSession
		Body SessionRevert
	}) (*SessionAnswer, error) {
		b := in.Body
		if err := b.check(); err != nil {
			return nil, err
		}
		id, err := p.Sessions.Find(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		switch {
		case len(b.StepIDs) > 0:
			return b.revertSteps(ctx, p, id)
		case b.any():
			return b.revertHunks(ctx, p, id)
		case b.Turn != 0:
			return b.revertTurn(ctx, p, id)
		}
		opt := session.MoveOptions{
			OnConflict: cairn.Policy(b.OnConflict), DryRun: b.DryRun, Plan: b.Plan, EndOpen: b.EndOpen,
			Git: b.Git, ThisRoot: b.ThisRoot, Outside: b.Outside,
		}
		return answerBack(p.Sessions.Revert(ctx, id, session.Target{Message: b.MessageID, Part: b.PartID, Start: b.Start}, opt))
	})
	for _, e := range []struct {
		endpoint
		run func(*Sessions, context.Context, string, session.MoveOptions) (*session.Session, *cairn.Result, error)
	}{
		{endpoint{
			id: "undo-turn", path: "/session/{id}/undo",
			summary: "Take back the newest turn that is not taken back yet",
		}, (*Sessions).UndoTurn},
		{endpoint{
			id: "redo-turn", path: "/session/{id}/redo",
			summary: "Bring the first turn back that was taken back",
		}, (*Sessions).RedoTurn},
	} {
		e.method, e.tag = http.MethodPost, "sessions"
		onProject(s, e.endpoint, func(ctx context.Context, p *Project, in *inSessionBack) (*SessionAnswer, error) {
			id, err := p.Sessions.Find(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			return answerBack(e.run(p.Sessions, ctx, id, in.Body.options()))
		})
	}
}
