package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/sessiontext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// scope is the part of the session that the flags name.
func (r *sessionRun) scope() (session.Scope, error) {
	in := session.Scope{Message: r.f.message}
	if r.f.turn != "" {
		if in.Message != "" {
			return in, r.Usage("takes either --turn or --message, which is a part of a turn")
		}
		var err error
		if in, err = r.all.TurnScope(r.ctx, r.args[0], r.f.turn); err != nil {
			return in, err
		}
	}
	in.Step = r.f.step()
	return in, nil
}

func (r *sessionRun) diff() error {
	opt := cairn.DiffOptions{Hunks: r.f.hunkIDs || r.Global.JSON, Color: bool(r.Palette()), Visible: r.Visible()}
	if len(r.f.steps) > 1 || r.f.reverted {
		return r.diffOwn(opt)
	}
	in, err := r.scope()
	if err != nil {
		return err
	}
	if !r.Global.JSON {
		if err := r.all.WriteDiff(r.ctx, r.Out, r.args[0], in, opt); err != nil {
			return err
		}
		return r.sayOutside(in)
	}
	array := r.NewArray()
	for d, err := range r.all.Diff(r.ctx, r.args[0], in, opt) {
		if err == nil {
			err = array.Add(d)
		}
		if err != nil {
			return err
		}
	}
	return array.Close()
}

// sayOutside names what the steps of a scope changed in other directories of the session, and outside of all.
func (r *sessionRun) sayOutside(in session.Scope) error {
	ids, err := r.all.StepsIn(r.ctx, r.args[0], in)
	if err != nil {
		return err
	}
	messages, err := r.all.History(r.ctx, r.args[0])
	if err != nil {
		return err
	}
	var elsewhere []session.RootPatch
	saved := false
	for i := range messages {
		for j := range messages[i].Steps {
			st := &messages[i].Steps[j]
			if !slices.Contains(ids, st.ID) || st.Reverted {
				continue
			}
			elsewhere = append(elsewhere, st.Elsewhere...)
			for k := range st.Outside {
				r.Console.Remark("%s", sessiontext.Outside(&st.Outside[k]))
				saved = saved || st.Outside[k].Left == ""
			}
		}
	}
	r.sayElsewhere(elsewhere)
	if saved {
		r.Console.Remark("to take that back, too: cairn session revert %s %s --outside", wording.ShellWord(r.args[0]), r.sameScope(ids))
	}
	return nil
}

// sayElsewhere says how many files changed in other directories of the session, and how to see that.
func (r *sessionRun) sayElsewhere(patches []session.RootPatch) {
	joined := session.JoinPatches(patches)
	slices.SortFunc(joined, func(a, b session.RootPatch) int { return cmp.Compare(a.Root, b.Root) })
	for _, o := range joined {
		r.Console.Remark("also %s in %s: cairn -C %s session diff %s%s", wording.Count(len(o.Patch.Files), "file"), pathtext.Place(string(o.Root)),
			wording.ShellWord(string(o.Root)), wording.ShellWord(r.args[0]), r.typedScope())
	}
}

// typedScope are the options that say what diff shows.
func (r *sessionRun) typedScope() (text string) {
	for _, o := range []struct{ name, value string }{{"turn", r.f.turn}, {"message", r.f.message}, {stepFlag, r.f.step()}} {
		if o.value != "" {
			text += " --" + o.name + " " + wording.ShellWord(o.value)
		}
	}
	return text
}

// sameScope are the options of revert for what diff has shown. ids are its steps: revert --message takes back what came
// later, too.
func (r *sessionRun) sameScope(ids []string) string {
	switch {
	case r.f.turn != "" && len(r.f.steps) == 0:
		return "--turn " + wording.ShellWord(r.f.turn)
	case r.f.turn == "" && r.f.message == "" && len(r.f.steps) == 0:
		return "--start"
	}
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = "--step " + wording.ShellWord(id)
	}
	return strings.Join(words, " ")
}

// revertHunks takes hunks of a turn, a message, steps or the session back, or with unrevert hunks of the
// reverts. The boundary stays.
func (r *sessionRun) revertHunks() error {
	if r.f.paths != nil {
		return r.Usage("takes either hunks or whole files of --path back")
	}
	if r.f.part != "" || r.f.start || r.f.endOpen || r.f.git.Git {
		return r.Usage("takes hunks of a --turn, --message or --step back, without --part, --start, --end-open and --git")
	}
	opt, err := r.revertOptions()
	if err != nil {
		return err
	}
	if err := r.f.hunks.Options(r.commands.Dialog, &opt); err != nil {
		return err
	}
	if r.f.hunks.Ask {
		if opt.Hunks, err = r.askHunks(); err != nil {
			return err
		}
		if !r.commands.NoteChosen(r.cmd, opt.Hunks, r.verb) {
			return nil
		}
	}
	res, err := r.moveHunks(opt)
	if err != nil {
		return err
	}
	return r.tellTaken(res, "nothing to "+r.verb+": nothing is left of these hunks")
}

func (r *sessionRun) moveHunks(opt cairn.RevertOptions) (*cairn.Result, error) {
	if r.verb == "unrevert" {
		return r.all.UnrevertSome(r.ctx, r.args[0], opt)
	}
	if len(r.f.steps) > 1 {
		return r.all.RevertSteps(r.ctx, r.args[0], r.f.steps, opt)
	}
	in, err := r.scope()
	if err != nil {
		return nil, err
	}
	return r.all.RevertHunks(r.ctx, r.args[0], in, opt)
}

// askHunks asks about the hunks of the chosen part of the session one by one.
func (r *sessionRun) askHunks() ([]string, error) {
	own, err := r.ownChanges()
	if err != nil {
		return nil, err
	}
	if own.Open {
		return nil, fmt.Errorf("%w: one of its steps is open (end it first)", session.ErrBusy)
	}
	word := "take back"
	if r.verb == "unrevert" {
		word = "bring back"
	}
	return r.commands.AskHunks(r.ctx, word, own.FileDiffs(r.ctx, own.List, cairn.DiffOptions{Hunks: true}))
}
