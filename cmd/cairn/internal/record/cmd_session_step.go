package record

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/sessiontext"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

func (r *sessionRun) metadata() (map[string]string, error) {
	meta := make(map[string]string)
	for _, pair := range r.f.meta {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, r.Usage("cannot use --meta %s: want KEY=TEXT", wording.ShellWord(pair))
		}
		meta[key] = value
	}
	return meta, nil
}

func (r *sessionRun) begin() error {
	meta, err := r.metadata()
	if err != nil {
		return err
	}
	further, err := r.Paths(r.f.further)
	if err != nil {
		return err
	}
	s, err := r.all.Begin(r.ctx, session.SessionBegin{ID: r.args[0], Title: r.f.title, Parent: r.f.parent, Meta: meta, Further: further})
	if err != nil {
		return err
	}
	return r.printSession(s)
}

func (r *sessionRun) addMessage() error {
	meta, err := r.metadata()
	if err != nil {
		return err
	}
	m, err := r.all.AddMessage(r.ctx, session.MessageBegin{
		Session: r.args[0], Message: r.f.message, Role: r.f.role, Prompt: r.f.prompt, Meta: meta,
	})
	if err != nil || !r.Global.JSON {
		return err
	}
	return r.WriteJSON(m)
}

// newStep is the step that the flags describe.
func (r *sessionRun) newStep() (b session.StepBegin, err error) {
	meta, err := r.metadata()
	if err != nil {
		return b, err
	}
	paths, err := r.Paths(r.f.paths)
	if err != nil {
		return b, err
	}
	owner, err := r.owner()
	if err != nil {
		return b, err
	}
	b = session.StepBegin{
		Session: r.args[0], Message: r.f.message, Role: r.f.role, Step: r.f.step(), Prompt: r.f.prompt, Paths: paths, Meta: meta, Owner: owner,
	}
	return b, b.Check()
}

// owner is the owner of the step that begins, which is never this process.
func (r *sessionRun) owner() (*session.Owner, error) {
	o := &session.Owner{Lease: r.f.lease}
	if r.f.lease < 0 || r.f.owner < 0 {
		return nil, r.Usage("--lease and --owner cannot be negative")
	}
	if r.f.owner == 0 {
		return o, nil
	}
	p, ok := session.ProcessOf(r.f.owner)
	if !ok {
		return nil, r.Usage("--owner %d: no such process can be seen from here; --lease DURATION does without", r.f.owner)
	}
	o.Processes = []session.Process{p}
	return o, nil
}

func (r *sessionRun) stepBegin() error {
	b, err := r.newStep()
	if err != nil {
		return err
	}
	st, err := r.all.BeginStep(r.ctx, b)
	if err != nil {
		return err
	}
	if err := r.printStep(st, st.Before); err != nil {
		return err
	}
	return r.tellMissing(st.Missing)
}

func (r *sessionRun) stepEnd() error {
	paths, err := r.Paths(r.f.paths)
	if err != nil {
		return err
	}
	st, err := r.all.EndStep(r.ctx, session.StepEnd{Session: r.args[0], Step: r.f.step(), Paths: paths, Gone: r.f.gone})
	if err != nil {
		return r.withBeginning(err)
	}
	if err := r.printStep(st, st.After); err != nil {
		return err
	}
	r.Console.Remark("step %s: %s", wording.Printable(st.ID), wording.Count(len(st.Files()), "file"))
	if r.late {
		r.Console.Complain("warning: the state before the step was captured only now: what its tools had changed by then is not in it")
		return cli.ErrPartly
	}
	return r.tellMissing(st.Missing)
}

// printStep prints the tree that was captured, as track does.
func (c *commands) printStep(st *session.Step, at session.CheckpointRef) error {
	if c.Global.JSON {
		return c.WriteJSON(st)
	}
	_, err := c.Out.WriteString(at.Hash + "\n")
	return err
}

// tellMissing warns of other directories of a session in which the command did nothing.
func (c *commands) tellMissing(missing []session.Missing) error {
	for _, m := range missing {
		c.Console.Complain(fmt.Sprintf("warning: not in %s: %s", pathtext.Place(string(m.Path)), m.Reason))
	}
	if len(missing) > 0 {
		return cli.ErrPartly
	}
	return nil
}

func (r *sessionRun) hint() error {
	paths, err := r.Paths(r.args[1:])
	if err != nil {
		return err
	}
	return r.withBeginning(r.all.Hint(r.ctx, r.args[0], r.f.step(), paths))
}

func (r *sessionRun) list() error {
	list, unread, err := r.all.ListAll(r.ctx)
	if err != nil {
		return err
	}
	if r.Global.JSON {
		if err := r.WriteJSON(append([]*session.Session{}, list...)); err != nil {
			return err
		}
		return r.tellUnread(unread)
	}
	for i, s := range list {
		place := session.Place(i)
		lines := r.style().Session(s, place)
		lines[0] = r.Palette().Paint(console.Yellow, place) + strings.TrimPrefix(lines[0], place)
		r.WriteLines(append(lines, sessiontext.Latest(s)...))
	}
	if len(list)+len(unread) == 0 {
		r.Console.Remark("no session yet")
	}
	return r.tellUnread(unread)
}

// tellUnread names the sessions that cannot be read.
func (r *sessionRun) tellUnread(unread []session.Unread) error {
	for _, u := range unread {
		r.Console.Remark("session %s cannot be read, and is left out: %v", wording.Printable(u.ID), u.Err)
	}
	if len(unread) == 0 {
		return nil
	}
	r.Console.Remark("hint: cairn doctor --fix mends what can be mended, and tells what to do")
	return cli.ErrPartly
}

// style is how sessions are told: with their ids if these are asked for.
func (r *sessionRun) style() sessiontext.Style {
	return sessiontext.Style{Now: r.Console.Now(), IDs: r.f.ids || r.Global.Verbose, Root: r.repo.Root()}
}

// printSession prints a session, for people with the lines that it changed.
func (r *sessionRun) printSession(s *session.Session) error {
	if r.Global.JSON {
		if err := r.WriteJSON(s); err != nil || len(s.Missing) == 0 {
			return err
		}
		return cli.ErrPartly
	}
	r.WriteLines(r.style().Session(s, ""))
	if sum := s.Summary; sum != nil && sum.Files > 0 {
		where := ""
		if len(s.Further) > 0 {
			where = " here"
		}
		fmt.Fprintf(r.Out, "%s changed%s, %d added, %d deleted\n", wording.Count(sum.Files, "file"), where, sum.Additions, sum.Deletions)
	}
	return r.tellMissing(s.Missing)
}

func (r *sessionRun) show() error {
	s, err := r.all.Get(r.ctx, r.args[0])
	if err != nil {
		return err
	}
	history, err := r.all.History(r.ctx, r.args[0])
	if err != nil {
		return err
	}
	if r.Global.JSON {
		return r.WriteJSON(struct {
			*session.Session
			History []session.Message `json:"history"`
		}{s, history})
	}
	if err := r.printSession(s); err != nil {
		return err
	}
	style := r.style()
	style.Model = s.Model
	for _, turn := range session.Turns(history) {
		r.WriteLines(style.Turn(&turn))
	}
	return nil
}

// stepBeginLater is step begin with --async.
func (r *sessionRun) stepBeginLater() error {
	b, err := r.newStep()
	if err != nil {
		return err
	}
	id, err := r.BeginTicket(r.ctx, &ticket.Request{Step: ticket.NewStep(b)}, false)
	if err != nil {
		return err
	}
	return r.PrintTicket(id)
}

// withBeginning adds, to an error about a missing step, the error of the newest ticket
// that should have begun one.
func (r *sessionRun) withBeginning(err error) error {
	if !errors.Is(err, cairn.ErrNotFound) {
		return err
	}
	book, root, terr := r.Tickets()
	if terr != nil {
		return err
	}
	all, _, terr := book.Steps(root, r.args[0])
	if terr != nil || len(all) == 0 {
		return err
	}
	if a := book.Answer(all[len(all)-1]); a != nil && a.Err() != nil {
		return errors.Join(err, a.Err())
	}
	return err
}
