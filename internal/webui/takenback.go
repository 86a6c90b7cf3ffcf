package webui

import (
	"bytes"
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// takenBack are the changes that a plan takes back. Their hunks have names, by which a part of the
// plan can be chosen.
type takenBack struct {
	way       way              // with which hunks of it go back
	operation *cairn.Operation // of an undo or a redo
	only      map[string]bool  // names of the hunks that the way is narrowed down to; nil = all
	changes   map[string]*cairn.Change
	diffs     func(context.Context, []cairn.Change, cairn.DiffOptions) iter.Seq2[cairn.FileDiff, error]
}

// takenBack finds what a way takes back, nil for a way that goes back as a whole.
func (v *visit) takenBack(w *way) (*takenBack, error) {
	if w.movesGit() {
		return nil, nil
	}
	t := &takenBack{
		way:     way{Do: "revert", From: w.From, To: w.To, Policy: w.Policy},
		changes: make(map[string]*cairn.Change), diffs: v.project.Repo.FileDiffs,
	}
	switch w.Do {
	case "session", "part":
		return v.takenOfSession(w)
	case "unrevert":
		return v.takenOfReverts(w)
	case "restore":
		t.way.From, t.way.To = w.To, ""
	case "revert":
	case "undo", "redo":
		var err error
		t.operation, err = history.Latest(w.Do, history.Counting(v.project.Repo.Operations(v.ctx()), history.Beyond{Outside: w.Outside}))
		if err != nil || t.operation == nil {
			return nil, err
		}
		t.way.From, t.way.To = t.operation.Before, t.operation.After
	default:
		return nil, nil
	}
	list, err := v.project.Repo.Changes(v.ctx(), t.way.From, t.way.To, w.Paths...)
	t.take(w, list)
	return t, err
}

func (t *takenBack) take(w *way, list []cairn.Change) {
	if len(w.Hunks) > 0 {
		t.only = setOf(w.Hunks)
	}
	for i := range list {
		t.changes[list[i].Path] = &list[i]
	}
}

// takenOfSession finds what the steps of a session changed themselves, nil where there is none.
func (v *visit) takenOfSession(w *way) (*takenBack, error) {
	steps, err := w.steps(v)
	if err != nil || len(steps) == 0 {
		return nil, err
	}
	own, err := v.project.Sessions.OwnChangesOf(v.ctx(), w.Session, steps)
	if err != nil {
		return nil, err
	}
	t := &takenBack{
		way:     way{Do: "part", Session: w.Session, Message: w.Message, Steps: w.Steps, Turn: w.Turn, Policy: w.Policy},
		changes: make(map[string]*cairn.Change), diffs: own.FileDiffs,
	}
	t.take(w, own.List)
	return t, nil
}

// takenOfReverts finds what the reverts of a session changed.
func (v *visit) takenOfReverts(w *way) (*takenBack, error) {
	own, err := v.project.Sessions.RevertedChanges(v.ctx(), w.Session)
	if err != nil {
		return nil, err
	}
	t := &takenBack{
		way:     way{Do: "unrevert", Session: w.Session, Policy: w.Policy},
		changes: make(map[string]*cairn.Change), diffs: own.FileDiffs,
	}
	t.take(w, own.List)
	return t, nil
}

// diffOf is the comparison of one file with the names of its hunks.
func (t *takenBack) diffOf(v *visit, c *cairn.Change) (cairn.FileDiff, error) {
	opt := planOptions
	opt.Hunks = true
	return only(t.diffs(v.ctx(), []cairn.Change{*c}, opt))
}

// only is the first of some comparisons.
func only(list iter.Seq2[cairn.FileDiff, error]) (cairn.FileDiff, error) {
	for d, err := range list {
		return d, err
	}
	return cairn.FileDiff{}, cairn.ErrNotFound
}

// named is a comparison with the names of the hunks that its changes take back, "" for a change that
// takes back none.
type named struct {
	*comparison
	names []string
}

// isMirror reports whether a planned change is exactly the reverse of a change.
func isMirror(planned, back *cairn.Change) bool {
	return planned.OldID == back.NewID && planned.NewID == back.OldID && planned.OldMode == back.NewMode && planned.NewMode == back.OldMode
}

// mirrored is a comparison read from the new text to the old one.
func (c *comparison) mirrored() *comparison {
	edits := make([]linediff.Edit, len(c.edits))
	for i, e := range c.edits {
		edits[i] = linediff.Edit{A0: e.B0, A1: e.B1, B0: e.A0, B1: e.A1}
	}
	return &comparison{old: c.new, new: c.old, edits: edits}
}

// key is the text of a change, the removed and the added lines apart.
func key(gone, come [][]byte) string {
	return string(bytes.Join(gone, nil)) + "\x00" + string(bytes.Join(come, nil))
}

// nameEdits names the changes of a planned comparison by those that they take back: the ones with
// the same lines in the reverse. Equal changes have names only if as many are planned as there are
// to take back, because otherwise it is not certain which one is which.
func nameEdits(planned, back *comparison, names []string, only map[string]bool) *named {
	byText := make(map[string][]string)
	for i, e := range back.edits {
		if i < len(names) && (only == nil || only[names[i]]) {
			text := key(back.new[e.B0:e.B1], back.old[e.A0:e.A1])
			byText[text] = append(byText[text], names[i])
		}
	}
	texts, count := make([]string, len(planned.edits)), make(map[string]int)
	for i, e := range planned.edits {
		texts[i] = key(planned.old[e.A0:e.A1], planned.new[e.B0:e.B1])
		count[texts[i]]++
	}
	out := &named{planned, make([]string, len(planned.edits))}
	for i, text := range texts {
		if list := byText[text]; len(list) > 0 && len(list) == count[text] {
			out.names[i] = list[0]
			byText[text], count[text] = list[1:], count[text]-1
		}
	}
	return out
}
