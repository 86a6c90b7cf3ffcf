package session

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gitcommit"
	"github.com/seed-fb9cbc17/cairn/internal/takenback"
	"github.com/seed-fb9cbc17/cairn/internal/usergit"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// turnCommitter makes the commits of one call.
type turnCommitter struct {
	*Sessions
	git     *usergit.Repo
	opt     GitCommitOptions
	out     *GitCommits
	f       *family
	h       *history // the session itself
	active  []*boundary
	turns   []Turn
	changes [][]cairn.Change // see changesByTurn
	named   bool             // the caller names the turns
	chosen  []turnGroup
	back    *turnsBack
}

// turnGroup is the turns of one commit.
type turnGroup struct {
	turns []int
	ways  [][][]cairn.Change // of each turn
}

func (c *turnCommitter) load(ctx context.Context, id string) (err error) {
	if c.f, err = c.family(ctx, id); err != nil {
		return err
	}
	c.h = c.f.head
	if c.active, err = c.Sessions.active(ctx, c.h); err != nil {
		return err
	}
	var messages []Message
	for _, m := range c.h.messages {
		messages = append(messages, m.Message)
	}
	c.turns, c.back = Turns(messages), c.newTurnsBack()
	return nil
}

// choose finds the ways of the turns that are to be committed.
func (c *turnCommitter) choose(ctx context.Context, turns []int) error {
	if c.named = len(turns) > 0; !c.named {
		for i := range c.turns {
			turns = append(turns, i+1)
		}
	}
	turns = slices.Clone(turns)
	slices.Sort(turns)
	turns = slices.Compact(turns)
	var commits []string
	for _, n := range turns {
		if n < 1 || n > len(c.turns) {
			return notFound("turn %d of session %q: it has %s", n, c.h.ID, wording.Count(len(c.turns), "turn"))
		}
		commits = append(commits, c.turns[n-1].Messages[0].Commits...)
	}
	reached, err := c.git.Reached(ctx, commits)
	if err != nil {
		return err
	}
	for _, n := range turns {
		if commit := reachedCommit(&c.turns[n-1], reached); commit != "" {
			c.skip(SkippedTurn{Turn: n, Reason: "committed as " + commit, Commit: commit})
			continue
		}
		ways, reason, err := c.ways(ctx, &c.turns[n-1])
		if err != nil {
			return err
		}
		if reason != "" {
			c.skip(SkippedTurn{Turn: n, Reason: reason})
			continue
		}
		if g := len(c.chosen); c.opt.Squash && g > 0 {
			c.chosen[g-1].turns, c.chosen[g-1].ways = append(c.chosen[g-1].turns, n), append(c.chosen[g-1].ways, ways)
		} else {
			c.chosen = append(c.chosen, turnGroup{[]int{n}, [][][]cairn.Change{ways}})
		}
	}
	return nil
}

func (c *turnCommitter) skip(t SkippedTurn) {
	if slices.ContainsFunc(c.out.Turns, func(o SkippedTurn) bool { return o.Turn == t.Turn }) {
		return
	}
	t.Message = c.turns[t.Turn-1].ID()
	c.out.Turns = append(c.out.Turns, t)
}

// reachedCommit is the commit of a turn that HEAD has, "" for none.
func reachedCommit(t *Turn, reached map[string]bool) string {
	for _, commit := range t.Messages[0].Commits {
		if reached[commit] {
			return commit
		}
	}
	return ""
}

// ways lists the changes of a turn, or says why it is skipped.
func (c *turnCommitter) ways(ctx context.Context, t *Turn) (ways [][]cairn.Change, reason string, err error) {
	refs, err := c.f.inScope(t.scope())
	if err != nil {
		return nil, "", err
	}
	all := len(refs)
	if last := newest(c.active); last != nil {
		refs = withoutRefs(refs, last.Undone)
	}
	for _, ref := range refs {
		if st := c.f.members[ref.Session].step(ref.Step); st != nil && st.ended == 0 {
			return nil, "it is not finished", nil
		}
	}
	windows := c.f.windows(refs)
	if err := c.addOthers(ctx, c.f, windows); err != nil {
		return nil, "", err
	}
	ways, left, err := c.lines.StepWays(ctx, undoneSteps(windows))
	if err != nil {
		return nil, "", expired(err, "a state of session %q", c.h.ID)
	}
	c.out.LeftOut = append(c.out.LeftOut, left...)
	changed := len(ways) > 0
	if changed {
		if ways, err = c.leftOf(ctx, ways, windows); err != nil {
			return nil, "", err
		}
	}
	switch {
	case len(ways) > 0:
		return ways, "", nil
	case changed || len(refs) < all:
		return nil, "it is taken back", nil
	}
	return nil, "it changed no file", nil
}

// spanOf is the time from the first of some windows to the end of the last.
func spanOf(windows []*window) (began, ended time.Time) {
	first, last := int64(forever), int64(0)
	for _, w := range windows {
		first, last = min(first, w.began), max(last, w.ended)
	}
	return time.Unix(0, first), time.Unix(0, last)
}

// message makes the message of a commit.
func (c *turnCommitter) message(g *turnGroup, files []gitcommit.File) string {
	text := c.opt.Message
	if text == "" {
		var prompts []string
		for _, n := range g.turns {
			if prompt := strings.TrimSpace(c.turns[n-1].Prompt()); prompt != "" {
				prompts = append(prompts, prompt)
			}
		}
		text = gitcommit.Message(strings.Join(prompts, "\n\n"), files)
	}
	if !c.opt.Trailers {
		return text
	}
	text = strings.TrimRight(text, "\n") + "\n\nCairn-Session: " + wording.Printable(c.h.ID) + "\n"
	for _, n := range g.turns {
		text += fmt.Sprintf("Cairn-Turn: %d\n", n)
	}
	if agent := cmp.Or(c.turns[g.turns[0]-1].Messages[0].Agent, c.h.Meta[MetaAgent]); agent != "" {
		text += "Cairn-Agent: " + wording.Printable(agent) + "\n"
	}
	return text
}

// changesByTurn lists the changes of each turn. It helps to tell what HEAD has and on what a turn
// builds, so a turn whose states are gone does not matter.
func (c *turnCommitter) changesByTurn(ctx context.Context) [][]cairn.Change {
	if c.changes == nil {
		c.changes = make([][]cairn.Change, len(c.turns))
		for i := range c.turns {
			if list, err := c.changed(ctx, c.h, nil, c.turns[i].scope()); err == nil {
				c.changes[i] = list
			}
		}
	}
	return c.changes
}

// changesByPath lists the same changes by path.
func (c *turnCommitter) changesByPath(ctx context.Context) map[string][]gitcommit.KnownChange {
	known := make(map[string][]gitcommit.KnownChange)
	for i, list := range c.changesByTurn(ctx) {
		for _, change := range list {
			known[change.Path] = append(known[change.Path], gitcommit.KnownChange{Change: change, Turn: i + 1})
		}
	}
	return known
}

// turnsBack knows which parts of turns operations have taken back.
type turnsBack struct {
	*takenback.Back
	operations *takenback.Operations
}

// leftOf is what is left of the changes of a turn after the operations since its end: a hunk, a file
// or a step that the user has taken back is not committed.
func (c *turnCommitter) leftOf(ctx context.Context, ways [][]cairn.Change, windows []*window) (left [][]cairn.Change, err error) {
	began, ended := spanOf(windows)
	operations, err := c.back.operations.Since(ctx, ended)
	if err != nil || len(operations) == 0 {
		return ways, err
	}
	for _, way := range ways {
		since := takenback.At(way[0].Path, began, operations)
		var rest []cairn.Change
		for _, change := range way {
			if change, err = c.back.Left(change, since); err != nil {
				return nil, err
			}
			if change.OldID != change.NewID || change.OldMode != change.NewMode {
				rest = append(rest, change)
			}
		}
		if len(rest) > 0 {
			left = append(left, rest)
		}
	}
	return left, nil
}

func (c *turnCommitter) newTurnsBack() *turnsBack {
	back := &takenback.Back{Read: takenback.Texts(c.lines.OpenBlob), Made: make(map[string][]byte)}
	return &turnsBack{back, takenback.NewOperations(c.repo)}
}

// openBlob opens a captured blob, or a content that a turn was left with.
func (c *turnCommitter) openBlob(id string) (int64, io.ReadCloser, error) {
	if content, made := c.back.Made[id]; made {
		return int64(len(content)), io.NopCloser(bytes.NewReader(content)), nil
	}
	return c.lines.OpenBlob(id)
}
