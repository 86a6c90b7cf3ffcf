package main

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
	"github.com/seed-fb9cbc17/cairn/internal/lastdone"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// errNoChoice ends an undo whose question was not answered.
var errNoChoice = errors.New("nothing was chosen, and nothing was done")

// chooseAmong asks on a terminal which of several things is meant. Elsewhere it takes the newest
// and says so.
func (r *undoRun) chooseAmong(repo *cairn.Repo, list []lastdone.Choice) (*lastdone.Choice, error) {
	if !r.asks || r.global.json || r.global.quiet || r.f.plan.id != "" {
		r.console.Remark("the newest of %d counts; %s names another one: %s", len(list), flagFor(&list[1]), r.text(repo, &list[1]))
		return &list[0], nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cairn can %s:\n", r.way.does)
	for i := range list {
		fmt.Fprintf(&b, "%3d  %s\n", i+1, r.text(repo, &list[i]))
	}
	in, out := bufio.NewReader(interruptibleReader(r.ctx, r.stdin)), r.console.Writer()
	for {
		fmt.Fprintf(out, "%sWhich one [1-%d, q]? ", b.String(), len(list))
		b.Reset()
		line, err := in.ReadString('\n')
		switch n, _ := strconv.Atoi(strings.TrimSpace(line)); {
		case n >= 1 && n <= len(list):
			return &list[n-1], nil
		case strings.TrimSpace(line) == "q":
			return nil, errNoChoice
		}
		if err != nil {
			fmt.Fprintln(out)
			return nil, errors.Join(errNoChoice, r.ctx.Err())
		}
	}
}

// flagFor is the option that names a choice.
func flagFor(c *lastdone.Choice) string {
	if c.Turn != nil {
		return "--" + sessionFlag + " " + wording.ShellWord(c.Session.ID)
	}
	return "--" + operationFlag
}

// text names a choice.
func (r *undoRun) text(repo *cairn.Repo, c *lastdone.Choice) string {
	return c.Text(repo.Root(), r.console.Now())
}

// tell prints what was taken back, and the result.
func (r *undoRun) tell(repo *cairn.Repo, c *lastdone.Choice, res *cairn.Result) error {
	if r.global.json {
		answer := newTakenBack(c, res)
		answer.what.Conversation = r.half
		err := r.writeJSON(answer)
		if err == nil && !res.Complete() {
			err = errPartly
		}
		return cmp.Or(err, r.half.fault())
	}
	changes := res.Directories()+gitChanges(res) > 0
	switch {
	case res.DryRun:
		r.console.Remark("%s: %s", r.way.would, r.text(repo, c))
	case changes:
		r.console.Remark("%s: %s", r.way.did, r.text(repo, c))
	}
	if err := r.fix(c); err != nil {
		return err
	}
	nothing := "nothing to " + r.cmd.Name() + ": it is taken back already"
	if len(r.paths) > 0 {
		nothing = "nothing to " + r.cmd.Name() + " in these paths"
	}
	err := r.printResult(r.cmd, res, nothing)
	return cmp.Or(err, r.tellHalf(r.half))
}

// fix puts the choice into the flags, from which the command line for a plan is made.
func (r *undoRun) fix(c *lastdone.Choice) error {
	switch {
	case r.cmd.Flags().Changed(sessionFlag) || r.cmd.Flags().Changed(operationFlag):
	case c.Turn != nil:
		return r.cmd.Flags().Set(sessionFlag, c.Session.ID)
	}
	return nil
}

// takenBack is the answer of undo and redo in JSON: the result, and what was taken back.
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

	Conversation *otherHalf `json:"conversation,omitempty"`
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
