// Package lastdone decides what an undo or a redo takes back: the newest turn of a session, or the
// newest operation.
package lastdone

import (
	"context"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Finder finds what can be taken back in a root.
type Finder struct {
	Repo     *cairn.Repo
	Sessions *session.Sessions

	// Line lists the processes above the caller. The session of an agent among them is the only
	// one whose turns count.
	Line []process.Relative

	// EndOpen: running steps are going to be ended, so that a turn that is running counts only if
	// it has changed files.
	EndOpen bool

	// Git: what git commands have moved counts, and goes back, too.
	Git bool

	// Ways carry choices out; nil stands for Repo and Sessions.
	Ways Ways

	// Outside: changes outside the root count and go back, too, if the paths were saved before.
	Outside bool
}

// Ways are the calls that carry a choice out, as those of cairn.Repo and session.Sessions.
type Ways interface {
	Undo(ctx context.Context, opt cairn.RevertOptions) (*cairn.Result, error)
	Redo(ctx context.Context, opt cairn.RevertOptions) (*cairn.Result, error)
	RevertSession(ctx context.Context, id string, to session.Target, opt session.MoveOptions) (*session.Session, *cairn.Result, error)
	UnrevertSession(ctx context.Context, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error)
}

// here are the Ways of a store.
type here struct {
	*cairn.Repo
	sessions *session.Sessions
}

func (h here) RevertSession(
	ctx context.Context, id string, to session.Target, opt session.MoveOptions,
) (*session.Session, *cairn.Result, error) {
	return h.sessions.Revert(ctx, id, to, opt)
}

func (h here) UnrevertSession(ctx context.Context, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
	return h.sessions.Unrevert(ctx, id, opt)
}

func (f *Finder) ways() Ways {
	if f.Ways != nil {
		return f.Ways
	}
	return here{f.Repo, f.Sessions}
}

// Want narrows a choice down.
type Want struct {
	Session   string // id; no turns of other sessions
	Turn      bool   // only turns
	Operation bool   // only operations, those of sessions included: the newest of all
}

// Choice is a turn or an operation that can be taken back, or brought back.
type Choice struct {
	Session *session.Session // of a turn
	Turn    *session.Turn
	Open    bool     // a step of the turn is running
	Files   []string // that the turn changed, absolute
	Moved   bool     // the turn moved git; only looked at where it changed no files
	Outside []string // paths outside the root that can go back, likewise

	Operation *cairn.Operation

	// Held, after Take: the turn is neither taken back nor brought back, because all of it is in conflict or kept,
	// or cannot be changed.
	Held bool

	origin *cairn.Operation // what the operation took back or brought back, or itself
	done   time.Time        // the time of origin

	when    time.Time
	ofAll   bool // the operation is the newest of all
	forward bool // it is brought back
}

// The values of Did.
const (
	Turn      = "turn"
	Operation = "operation"
)

// Did says what a choice is.
func (c *Choice) Did() string {
	if c.Turn != nil {
		return Turn
	}
	return Operation
}

// Same reports whether two choices are the same turn or operation.
func (c *Choice) Same(o *Choice) bool {
	if c.Turn != nil && o.Turn != nil {
		return c.Session.ID == o.Session.ID && c.Turn.ID() == o.Turn.ID()
	}
	return c.Operation != nil && o.Operation != nil && c.Operation.ID == o.Operation.ID
}

// Undo lists what an undo could take back. The first choice is the newest; it counts unless
// another one is named. Further choices make the answer ambiguous: turns of other sessions whose
// agents are at work, and a turn that is older than an operation. No choice means that there is
// nothing to take back.
//
// Where a session took turns back, that is no operation: the turns before count, and a redo brings
// the turns back. Once such a session has gone on, its way back counts if there is nothing else.
func (f *Finder) Undo(ctx context.Context, want Want) ([]Choice, error) {
	return f.find(ctx, "undo", want, f.turns)
}

// find lists turns and operations together. What a dead process has begun is finished first: it may
// be the newest of them.
func (f *Finder) find(ctx context.Context, kind string, want Want, of func(context.Context, string) ([]Choice, error)) ([]Choice, error) {
	if err := access.Lines(f.Repo).FinishInterrupted(ctx); err != nil {
		return nil, err
	}
	if want.Operation {
		return f.operation(ctx, kind, false)
	}
	turns, err := of(ctx, want.Session)
	if err != nil || want.Turn {
		return turns, err
	}
	ops, err := f.operation(ctx, kind, true)
	if err != nil {
		return nil, err
	}
	if len(turns)+len(ops) == 0 && want.Session == "" {
		return f.goneOn(ctx, kind)
	}
	return merged(turns, ops), nil
}

// merged puts an operation before turns that are older, and drops one that is older than a turn.
func merged(turns, ops []Choice) []Choice {
	switch {
	case len(ops) == 0 || len(turns) > 0 && !ops[0].when.After(turns[0].when):
		return turns
	case len(turns) == 0:
		return ops
	}
	return append(ops, turns...)
}

// operation returns the operation that is next to be taken back, none or one.
func (f *Finder) operation(ctx context.Context, kind string, passSessions bool) ([]Choice, error) {
	op, err := access.Lines(f.Repo).NextToTakeBack(ctx, kind, passSessions, history.Beyond{Git: f.Git, Outside: f.Outside})
	if err != nil || op == nil {
		return nil, err
	}
	origin, err := access.Lines(f.Repo).Origin(op)
	if err != nil {
		return nil, err
	}
	if origin == nil { // it was cleaned away
		origin = op
	}
	when := access.Lines(f.Repo).When
	return []Choice{{Operation: op, origin: origin, done: when(origin), when: when(op), ofAll: !passSessions, forward: kind == "redo"}}, nil
}

// goneOn returns the newest operation of all, unless it is a way back that a session still holds.
func (f *Finder) goneOn(ctx context.Context, kind string) ([]Choice, error) {
	list, err := f.operation(ctx, kind, false)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	id, err := f.moved(ctx, list[0].Operation)
	if err != nil || id == "" {
		return list, err
	}
	sessions, err := f.Sessions.List(ctx)
	if slices.ContainsFunc(sessions, func(s *session.Session) bool { return s.ID == id && s.Revert != nil }) {
		return nil, nil
	}
	return list, err
}

// Take carries a choice out.
func (f *Finder) Take(ctx context.Context, c *Choice, opt session.MoveOptions, paths []string) (*cairn.Result, error) {
	switch {
	case c.Turn != nil && c.forward:
		return f.bringBack(ctx, c, opt)
	case c.Turn != nil:
		s, res, err := f.ways().RevertSession(ctx, c.Session.ID, session.Target{Message: c.Turn.ID()}, opt)
		c.Held = err == nil && (s.Revert == nil || s.Revert.Message != c.Turn.ID())
		return res, err
	}
	back := cairn.RevertOptions{
		Paths: paths, OnConflict: opt.OnConflict, DryRun: opt.DryRun, Plan: opt.Plan,
		PassSessions: !c.ofAll, Git: f.Git, Outside: f.Outside, ThisRoot: opt.ThisRoot,
	}
	if c.forward {
		return f.ways().Redo(ctx, back)
	}
	return f.ways().Undo(ctx, back)
}
