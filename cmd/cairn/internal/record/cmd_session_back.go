package record

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/goback"
	"github.com/seed-fb9cbc17/cairn/internal/sessiontext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// options are the options of all verbs that go back or forth.
func (r *sessionRun) options() (opt session.MoveOptions, err error) {
	opt = session.MoveOptions{
		DryRun: r.f.plan.DryRun, Plan: r.f.plan.ID, EndOpen: r.f.endOpen, Git: r.f.git.Git,
		ThisRoot: r.f.thisRoot, Outside: r.f.outside,
	}
	if opt.OnConflict, err = r.Policy(r.cmd, r.f.policy); err != nil {
		return opt, err
	}
	if err := r.f.git.Check(r.commands.Dialog, &r.f.plan, nil); err != nil {
		return opt, err
	}
	if r.f.outside && (r.f.paths != nil || r.f.hunks.Any()) {
		return opt, r.Usage("brings paths outside the root back with whole turns and steps: no --path and no hunk goes with --%s", goback.OutsideFlag)
	}
	return opt, r.f.plan.Check(r.commands.Dialog, r.cmd)
}

func (r *sessionRun) revert() error {
	if r.f.conversation && (r.f.hunks.Any() || len(r.f.steps) > 0 || r.f.turn != "") {
		return r.Usage("takes a conversation back to before a message: no --%s goes with --turn, --step and hunks", goback.ConversationFlag)
	}
	if r.f.hunks.Any() {
		return r.revertHunks()
	}
	if len(r.f.steps) > 0 {
		return r.revertSteps()
	}
	if r.f.turn != "" {
		return r.revertTurn()
	}
	if r.f.paths != nil {
		return r.Usage("revert wants --turn or --step beside --path; with --message a turn goes back, and all after it")
	}
	to := session.Target{Message: r.f.message, Part: r.f.part, Start: r.f.start}
	if to == (session.Target{}) || to.Start && (to.Message != "" || to.Part != "") {
		return r.Usage("revert wants --message ID, --part ID, --start, --turn N or --step ID")
	}
	return r.goBack(func(opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
		return r.all.Revert(r.ctx, r.args[0], to, opt)
	})
}

func (r *sessionRun) unrevert() error {
	if r.f.paths != nil || r.f.hunks.Any() {
		return r.unrevertSome()
	}
	return r.goBack(func(opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
		return r.all.Unrevert(r.ctx, r.args[0], opt)
	})
}

func (r *sessionRun) undo() error {
	return r.goBack(func(opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
		return r.all.UndoTurn(r.ctx, r.args[0], opt)
	})
}

func (r *sessionRun) redo() error {
	return r.goBack(func(opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
		return r.all.RedoTurn(r.ctx, r.args[0], opt)
	})
}

func (r *sessionRun) goBack(move func(session.MoveOptions) (*session.Session, *cairn.Result, error)) error {
	opt, err := r.options()
	if err != nil {
		return err
	}
	var s *session.Session
	take := func() (res *cairn.Result, err error) {
		s, res, err = move(opt)
		return res, err
	}
	tell := func(res *cairn.Result) error { return r.tellMoved(s, res, nil) }
	res, err := r.Confirmed(r.ctx, &r.f.git, &opt, take, tell)
	if err != nil || res == nil {
		return err
	}
	half, err := r.conversation(s, res)
	return errors.Join(err, r.tellMoved(s, res, half))
}

// conversation sees to the conversation after undo and revert.
func (r *sessionRun) conversation(s *session.Session, res *cairn.Result) (*goback.Conversation, error) {
	if res.DryRun || s.Revert == nil || r.verb != "undo" && r.verb != "revert" || !r.f.conversation && !goback.ChangedFiles(res) {
		return nil, nil
	}
	return r.TakeConversationBack(r.ctx, r.all, s, s.Revert.Message, r.f.conversation)
}

func (r *sessionRun) tellMoved(s *session.Session, res *cairn.Result, half *goback.Conversation) error {
	if r.Global.JSON {
		return r.writeMoved(s, res, half)
	}
	err := r.PrintResult(r.cmd, res, "no file had to be changed")
	r.where(s, res)
	if !res.Moves() && res.Overwritable() && r.f.policy != string(cairn.Overwrite) {
		r.Console.Remark("hint: --on-conflict overwrite saves and drops the later changes")
	}
	return cmp.Or(err, r.TellConversation(half))
}

// writeMoved prints a session and the result of going back as JSON.
func (r *sessionRun) writeMoved(s *session.Session, res *cairn.Result, half *goback.Conversation) error {
	err := r.WriteJSON(struct {
		Session      *session.Session     `json:"session"`
		Result       *cairn.Result        `json:"result"`
		Conversation *goback.Conversation `json:"conversation,omitempty"`
	}{s, res, half})
	if err == nil && !res.Complete() {
		err = cli.ErrPartly
	}
	return cmp.Or(err, half.Err())
}

// where prints the boundary of the session.
func (r *sessionRun) where(s *session.Session, res *cairn.Result) {
	name := sessiontext.Name(s)
	if s.Truncated {
		r.Console.Remark("the beginning of session %s has been cleaned away: what it changed stays", name)
	}
	switch {
	case res.DryRun:
	case s.Revert == nil:
		r.Console.Remark("nothing of session %s is reverted", name)
	default:
		r.Console.Remark("session %s is reverted to before %s; %s left", name, r.boundary(s), wording.Count(s.Messages, "message"))
	}
}

// boundary names the message before which a session is reverted: by its prompt, or by its id.
func (r *sessionRun) boundary(s *session.Session) string {
	prompt, err := r.all.Prompt(r.ctx, s.ID, s.Revert.Message)
	if err != nil || prompt == "" {
		return wording.Printable(s.Revert.Message)
	}
	return fmt.Sprintf("\"%s\"", wording.FirstLine(prompt, sessiontext.NameColumns))
}

func (r *sessionRun) commit() error {
	s, err := r.all.Commit(r.ctx, r.args[0])
	if err != nil {
		return err
	}
	return r.printSession(s)
}

func (r *sessionRun) fork() error {
	s, err := r.all.Fork(r.ctx, r.args[0], r.f.message, r.args[1])
	if err != nil {
		return err
	}
	if !r.f.restore {
		return r.printSession(s)
	}
	var partly error
	if !r.Global.JSON { // the session is there, also where the restore fails
		partly = r.printSession(s)
	}
	res, err := r.repo.Restore(r.ctx, s.Fork.Checkpoint, cairn.RestoreOptions{})
	switch {
	case err != nil:
		return err
	case r.Global.JSON:
		return r.writeMoved(s, res, nil)
	}
	return cmp.Or(r.PrintResult(r.cmd, res, "no file had to be changed"), partly)
}

func (r *sessionRun) delete() error { return r.all.Delete(r.ctx, r.args[0]) }
