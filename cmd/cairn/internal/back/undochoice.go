package back

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/goback"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/lastdone"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// offerGit says that the newest operation counts only with --git, if so. than is what counts without.
func (r *undoRun) offerGit(repo *cairn.Repo, want lastdone.Want, than *lastdone.Choice) {
	if r.f.git.Git || want.Turn || r.Global.JSON {
		return
	}
	op, err := access.Lines(repo).NextToTakeBack(r.ctx, r.cmd.Name(), !want.Operation, history.Beyond{Git: true, Outside: r.f.outside})
	if err != nil || op == nil || len(op.Git) == 0 || len(op.Paths) > 0 {
		return
	}
	if than == nil || than.Operation != nil && op.When.After(than.Operation.When) || than.Turn != nil && op.When.After(than.Turn.Last()) {
		r.Console.Remark("the newest operation, %s, moved only git: cairn %s --git takes it back", wording.Printable(op.Kind), r.cmd.Name())
	}
}

// chooseAmong asks on a terminal which of several things is meant. Elsewhere it takes the newest
// and says so.
func (r *undoRun) chooseAmong(repo *cairn.Repo, list []lastdone.Choice) (*lastdone.Choice, error) {
	if !r.CanAsk || r.Global.JSON || r.Global.Quiet || r.f.plan.ID != "" {
		r.Console.Remark("the newest of %d counts; %s names another one: %s", len(list), flagFor(&list[1]), r.text(repo, &list[1]))
		return &list[0], nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cairn can %s:\n", r.way.does)
	for i := range list {
		fmt.Fprintf(&b, "%3d  %s\n", i+1, r.text(repo, &list[i]))
	}
	in, out := bufio.NewReader(cli.InterruptibleReader(r.ctx, r.Stdin)), r.Console.Questions()
	for {
		fmt.Fprintf(out, "%sWhich one [1-%d, q]? ", wording.VisibleLines(b.String()), len(list))
		b.Reset()
		line, err := in.ReadString('\n')
		switch n, _ := strconv.Atoi(strings.TrimSpace(line)); {
		case n >= 1 && n <= len(list):
			return &list[n-1], nil
		case strings.TrimSpace(line) == "q":
			return nil, goback.ErrNoChoice
		}
		if err != nil {
			fmt.Fprintln(out)
			return nil, errors.Join(goback.ErrNoChoice, r.ctx.Err())
		}
	}
}

// flagFor is the option that names a choice.
func flagFor(c *lastdone.Choice) string {
	if c.Turn != nil {
		return "--" + cli.SessionFlag + " " + wording.ShellWord(c.Session.ID)
	}
	return "--" + operationFlag
}

// text names a choice.
func (r *undoRun) text(repo *cairn.Repo, c *lastdone.Choice) string {
	return c.Text(repo.Root(), r.Console.Now())
}

// tell prints the turn or operation that was taken back, and the result.
func (r *undoRun) tell(repo *cairn.Repo, c *lastdone.Choice, res *cairn.Result) error {
	if r.Global.JSON {
		answer := newTakenBack(c, res)
		answer.what.Conversation = r.half
		err := r.WriteJSON(answer)
		if err == nil && !res.Complete() {
			err = cli.ErrPartly
		}
		return cmp.Or(err, r.half.Err())
	}
	switch {
	case c.Held && res.DryRun:
		r.Console.Remark("nothing would be changed, and the turn not be %s: %s", r.way.done, r.text(repo, c))
	case res.DryRun:
		r.Console.Remark("%s: %s", r.way.would, r.text(repo, c))
	case res.Moves():
		r.Console.Remark("%s: %s", r.way.did, r.text(repo, c))
	}
	if err := r.fix(c); err != nil {
		return err
	}
	err := r.PrintResult(r.cmd, res, r.nothing())
	if c.Held {
		r.tellHeld(repo, c, res)
	}
	return cmp.Or(err, r.TellConversation(r.half))
}

// nothing is the answer where no path had to change.
func (r *undoRun) nothing() string {
	text := "nothing to redo: everything is as before it was taken back"
	if r.way.does == takeBackWords {
		text = "nothing to undo: it is taken back already"
	}
	if r.f.thisRoot {
		text, _, _ = strings.Cut(text, ":")
		text += " in this directory"
	}
	return text
}

// tellHeld names the way to insist on a turn that is not taken back or brought back, because all of it is in conflict
// or kept.
func (r *undoRun) tellHeld(repo *cairn.Repo, c *lastdone.Choice, res *cairn.Result) {
	if !res.DryRun {
		r.Console.Remark("nothing was changed, and the turn is not %s: %s", r.way.done, r.text(repo, c))
	}
	if all := res.InAllRoots(); len(all.Conflicts)+len(all.Kept)+all.Outside.Staying() == 0 {
		return // git knows no policy
	}
	if !res.Overwritable() {
		r.Console.Remark("hint: once these paths can be changed, the same command tries it again")
		return
	}
	with := ""
	if r.f.outside {
		with = " --" + goback.OutsideFlag
	}
	if r.f.thisRoot {
		with += " --" + goback.ThisRootFlag
	}
	r.Console.Remark("hint: cairn %s %s%s --on-conflict overwrite saves and drops the later changes", r.cmd.Name(), flagFor(c), with)
}

// fix puts the choice into the flags, from which the command line for a plan is made.
func (r *undoRun) fix(c *lastdone.Choice) error {
	switch {
	case r.cmd.Flags().Changed(cli.SessionFlag) || r.cmd.Flags().Changed(operationFlag):
	case c.Turn != nil:
		return r.cmd.Flags().Set(cli.SessionFlag, c.Session.ID)
	}
	return nil
}

// takenBack is the answer of undo and redo in JSON: the result, and the turn or operation taken back.
type takenBack struct {
	what   tookBack
	result *cairn.Result
}

type tookBack struct {
	Did     string `json:"did"`
	Session string `json:"sessionID,omitempty"`
	Message string `json:"messageID,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Prompt  string `json:"prompt,omitempty"`
	Undoes  string `json:"undoes,omitempty"`
	Kind    string `json:"kind,omitempty"`

	Conversation *goback.Conversation `json:"conversation,omitempty"`
}

func newTakenBack(c *lastdone.Choice, res *cairn.Result) *takenBack {
	t := &takenBack{tookBack{Did: c.Did()}, res}
	if c.Turn == nil {
		t.what.Undoes, t.what.Kind = c.Operation.ID, c.Operation.Kind
		return t
	}
	t.what.Session, t.what.Message, t.what.Agent, t.what.Prompt = c.Session.ID, c.Turn.ID(), c.Session.Agent, c.Turn.Prompt()
	return t
}

// MarshalJSON implements json.Marshaler. The result has a form of its own, so that the fields of
// both are put into one object.
func (t *takenBack) MarshalJSON() ([]byte, error) {
	what, err := json.Marshal(t.what)
	if err != nil {
		return nil, err
	}
	result, err := json.Marshal(t.result)
	return append(append(bytes.TrimSuffix(what, []byte("}")), ','), bytes.TrimPrefix(result, []byte("{"))...), err
}

// choose finds the turn or operation to take back. The tickets of its session are settled before.
func (r *undoRun) choose() (*lastdone.Choice, error) {
	var chosen *lastdone.Choice
	find := func(want lastdone.Want) func(*cairn.Repo) error {
		return func(repo *cairn.Repo) (err error) {
			chosen, err = r.chooseIn(repo, want)
			return err
		}
	}
	want := lastdone.Want{Turn: r.f.turn || r.f.session != "", Operation: r.f.operation || len(r.paths) > 0, Session: r.f.session}
	if err := r.WithRepo(find(want)); err != nil || chosen.Turn == nil {
		return chosen, err
	}
	if settled, err := r.Settle(r.ctx, chosen.Session.ID); err != nil || !settled.Any {
		return chosen, err
	}
	want.Session, want.Turn = chosen.Session.ID, true
	err := r.WithRepo(find(want))
	return chosen, err
}

func (r *undoRun) chooseIn(repo *cairn.Repo, want lastdone.Want) (chosen *lastdone.Choice, err error) {
	finder := r.finder(repo)
	if want.Session != "" {
		if want.Session, err = finder.Sessions.Find(r.ctx, want.Session); err != nil {
			return nil, err
		}
	}
	list, err := r.way.find(finder, r.ctx, want)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		r.offerGit(repo, want, nil)
		r.offerOutside(repo, finder, want, nil)
		return nil, fmt.Errorf("%w: nothing to %s", cairn.ErrNotFound, r.cmd.Name())
	}
	r.offerGit(repo, want, &list[0])
	r.offerOutside(repo, finder, want, &list[0])
	if len(list) == 1 {
		return &list[0], nil
	}
	return r.chooseAmong(repo, list)
}

// offerOutside tells of a newer change that counts only with --outside, if there is one. than is the
// newest one that counts without it.
func (r *undoRun) offerOutside(repo *cairn.Repo, finder *lastdone.Finder, want lastdone.Want, than *lastdone.Choice) {
	if r.f.outside || r.Global.JSON {
		return
	}
	with := *finder
	with.Outside = true
	list, err := r.way.find(&with, r.ctx, want)
	if err != nil || len(list) == 0 || than != nil && list[0].Same(than) {
		return
	}
	r.Console.Remark("hint: %s changed only what lies outside this directory: cairn %s --%s takes it back", r.text(repo, &list[0]), r.cmd.Name(), goback.OutsideFlag)
}
