package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// OpenSteps finds steps whose agent is gone, and ends them with fix. A step whose agent
// cannot be seen from here is no fault: a remark names it.
func OpenSteps(ctx context.Context, sessions *session.Sessions, fix bool) (found []cairn.Fault, remarks []string, err error) {
	open, err := sessions.OpenSteps(ctx)
	if session.Unreadable(err) {
		return nil, nil, nil // the check of the store has said so
	}
	for i := range open {
		st := &open[i]
		switch {
		case st.Gone:
			found = append(found, abandoned(ctx, sessions, st, fix))
		case st.Unseen:
			remarks = append(remarks, fmt.Sprintf("step %s of session %s is open since %s, and its agent (%s) cannot be seen from here; if it is gone: %s",
				wording.Printable(st.Step), wording.Printable(st.Session), clock(st.Began), ownerText(st.Owner), endGone(st)))
		}
	}
	return found, remarks, err
}

// Unread finds sessions that cannot be read. With fix, those whose record is damaged are set aside. A record that the
// system refuses to read, or that a later release has made, is none of these.
func Unread(ctx context.Context, sessions *session.Sessions, fix bool) (found []cairn.Fault, err error) {
	_, list, err := sessions.ListAll(ctx)
	if session.Unreadable(err) {
		return nil, nil // the check of the store has said so
	}
	for _, u := range list {
		if !u.Lost { // likewise
			found = append(found, unread(ctx, sessions, &u, fix))
		}
	}
	return found, err
}

func unread(ctx context.Context, sessions *session.Sessions, u *session.Unread, fix bool) cairn.Fault {
	f := cairn.Fault{Kind: "session", Text: fmt.Sprintf("session %s cannot be read: %v", wording.Printable(u.ID), u.Err)}
	if errors.Is(u.Err, cairn.ErrStore) {
		f.Repair = "use the cairn that made it, or a later one; until then other sessions work"
		return f
	}
	f.Repair = "cairn doctor --fix sets it aside, and its checkpoints stay in cairn log; cairn session delete " + wording.ShellWord(u.ID) + " forgets them, too; no file changes"
	if fix {
		err := sessions.SetAside(ctx, u.ID)
		if f.Fixed = err == nil; err != nil {
			f.Text += "; not repaired: " + err.Error()
		}
	}
	return f
}

func abandoned(ctx context.Context, sessions *session.Sessions, st *session.OpenStep, fix bool) cairn.Fault {
	found := cairn.Fault{
		Kind: "session", ID: st.State.ID,
		Text: fmt.Sprintf("step %s of session %s was left open: its agent (%s) is gone; it counts until %s, checkpoint %.12s, and what was changed later is yours",
			st.Step, st.Session, ownerText(st.Owner), clock(st.Last), st.State.ID),
		Repair: "cairn doctor --fix, or " + endGone(st) + ", writes its end down",
	}
	if fix {
		_, err := sessions.EndStep(ctx, session.StepEnd{Session: st.Session, Step: st.Step, Gone: true})
		if found.Repair, found.Fixed = "write its end down", err == nil; err != nil {
			found.Text += "; not mended: " + err.Error()
		}
	}
	return found
}

func clock(at time.Time) string { return at.Local().Format(time.DateTime) }

// endGone is the command that ends a step whose agent is gone.
func endGone(st *session.OpenStep) string {
	return fmt.Sprintf("cairn session step end %s --step %s --gone", wording.ShellWord(st.Session), wording.ShellWord(st.Step))
}

func ownerText(o *session.Owner) string {
	if o == nil || len(o.Processes) == 0 {
		return "of which no process is known"
	}
	p := o.Processes[0]
	return fmt.Sprintf("process %d on %s", p.PID, wording.Printable(p.Host))
}
