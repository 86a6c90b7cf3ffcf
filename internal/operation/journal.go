package operation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/outside"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// journal describes an operation that has begun. Any later process can finish the operation
// from it.
type journal struct {
	Kind      string             `json:"kind"`
	Target    string             `json:"target"`
	Undoes    string             `json:"undoes,omitempty"`
	Scope     state.Paths        `json:"scope,omitempty"`
	Token     string             `json:"token"`
	Before    string             `json:"before"`
	Changes   []journalChange    `json:"changes"`
	Kept      []state.PathReason `json:"kept"`
	Conflicts []state.PathReason `json:"conflicts"`
	Line      *journalLine       `json:"line,omitempty"`
	Git       *gitBack           `json:"git,omitempty"`
	Joint     *jointShare        `json:"joint,omitempty"`
	Outside   *journalOutside    `json:"outside,omitempty"`

	before  object.ID
	changes []apply.Change
	git     *GitResult    // of the part that is done
	outside *outside.Plan // of the part that is done; nil for none

	outsideRecord string // of outside; "" for none
}

// journalLine describes the checkpoint that an operation appends to a line.
type journalLine struct {
	Ref     string          `json:"ref"`
	Record  json.RawMessage `json:"record"`
	Message string          `json:"message"`
	Wanted  string          `json:"wanted"`            // checkpoint of the state to be brought about
	Paths   state.Paths     `json:"paths"`             // where that differs from what was wanted before
	Settled state.Paths     `json:"settled,omitempty"` // reported, but as wanted

	outside string // id of the record of what changed outside the root; "" for none
}

// journalChange is a apply.Change.
type journalChange struct {
	Path   state.Path  `json:"path"`
	Action string      `json:"action"`
	Mode   object.Mode `json:"mode"`
	Perm   state.Octal `json:"perm"`
	ID     string      `json:"id"`
	Was    *journalWas `json:"was,omitempty"`
	As     state.Path  `json:"as,omitempty"`
}

type journalWas struct {
	Mode object.Mode `json:"mode"`
	Perm state.Octal `json:"perm"`
	Stat index.Stat  `json:"stat"`
	ID   string      `json:"id"`
}

func newJournal(token string, req opRequest, before object.ID, p *plan.Plan) *journal {
	return &journal{
		Kind: req.kind, Target: req.target, Undoes: req.undoes, Scope: req.scope, Token: token, Before: before.String(),
		Kept: p.Kept, Conflicts: p.Conflicts, Line: req.line, Git: req.git, Joint: req.joint.share(), before: before, changes: p.Changes,
	}
}

// writeJournal writes the journal. Before the journal gets its name it calls first, unless that is nil; an
// error of first is the outcome then.
func (r *Operator) writeJournal(l *history.Locked, j *journal, first func() error) error {
	r.Holds(l)
	if j.Joint != nil {
		j.Joint.Root = state.Path(r.Root)
	}
	j.Changes = make([]journalChange, len(j.changes))
	for i, c := range j.changes {
		j.Changes[i] = journalChangeOf(&c)
	}
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	l.Untidy() // whether the journal is gone has to be seen
	var failed error
	err = r.DB.WriteJournal(history.JournalName, data, func() error {
		if first != nil {
			failed = first()
		}
		return failed
	})
	if failed == nil && err != nil {
		return fmt.Errorf("write the journal, nothing has been changed: %w", err)
	}
	return failed
}

func journalChangeOf(c *apply.Change) journalChange {
	out := journalChange{
		Path: state.Path(c.Path), Action: c.Action.String(), Mode: c.Mode, Perm: state.Octal(c.Perm),
		ID: c.ID.String(), As: state.Path(c.As),
	}
	if c.Was != nil {
		out.Was = &journalWas{c.Was.Mode, state.Octal(c.Was.Perm), c.Was.Stat, c.Was.ID.String()}
	}
	return out
}

func parseJournal(data []byte) (*journal, error) {
	j := &journal{}
	if err := json.Unmarshal(data, j); err != nil {
		return nil, err
	}
	var err error
	if j.before, err = object.ParseID(j.Before); err != nil {
		return nil, err
	}
	j.changes = make([]apply.Change, len(j.Changes))
	for i, in := range j.Changes {
		if j.changes[i], err = in.change(); err != nil {
			return nil, err
		}
	}
	return j, nil
}

func (in *journalChange) change() (apply.Change, error) {
	c := apply.Change{Path: string(in.Path), Mode: in.Mode, Perm: uint16(in.Perm), As: string(in.As)}
	var errs [3]error
	c.Action, errs[0] = apply.ParseAction(in.Action)
	c.ID, errs[1] = object.ParseID(in.ID)
	if in.Was != nil {
		c.Was = &dir.State{Mode: in.Was.Mode, Perm: uint16(in.Was.Perm), Stat: in.Was.Stat}
		c.Was.ID, errs[2] = object.ParseID(in.Was.ID)
	}
	return c, errors.Join(errs[:]...)
}

// keptIgnored lists the paths that stay because of ignore rules. The capture after the
// operation applies the rules to them again, so that a file that was not ignored for a while
// is not captured for ever.
func (j *journal) keptIgnored() []string {
	var out []string
	for _, k := range j.Kept {
		if k.Reason == plan.ReasonIgnoredThen || k.Reason == plan.ReasonIgnoredToday {
			out = append(out, string(k.Path))
		}
	}
	return out
}

// created lists the paths that the operation made where nothing stood. An undo may delete
// them whatever the ignore rules say.
func (j *journal) created(res *Result) []string {
	var out []string
	for i := range j.changes {
		c := &j.changes[i]
		if c.Action != apply.Create && c.Action != apply.Mkdir {
			continue
		}
		if _, done := slices.BinarySearch(res.Restored, c.Path); done {
			out = append(out, c.Path)
		}
	}
	return out
}

// cameToNothing reports whether an operation was to change paths and changed none, for instance because every
// directory is write-protected. It is not recorded: an undo of it would have nothing to do and never reach the
// operations before it, and a failed undo would count as one. So the boundary of a line stays where it is. A
// share of a joint operation is recorded in any case.
func (j *journal) cameToNothing(res *Result) bool {
	return len(j.changes) > 0 && j.Joint == nil && !res.moves()
}

// result sorts the outcomes of an apply.
func (j *journal) result(outcomes []apply.Outcome) *Result {
	res := &Result{Kept: j.Kept, Conflicts: j.Conflicts, Git: j.git, Outside: outsideResult(j.outside)}
	var withheld []string
	for i := range outcomes {
		o := &outcomes[i]
		if o.Withheld {
			withheld = append(withheld, o.Path)
		}
		switch {
		case plan.IsGuard(&j.changes[i]) && o.Err == nil:
		case o.Done:
			res.add(o.Path, o.Action)
		case errors.Is(o.Err, apply.ErrNotEmpty): // later files are in it
		default:
			res.Conflicts = append(res.Conflicts, state.PathReason{Path: state.Path(o.Path), Reason: cause(o.Err).Error()})
		}
	}
	if len(withheld) > 0 {
		res.Notes = append(res.Notes, wording.WithheldLine(withheld, pathtext.Quote))
	}
	res.tidy()
	return res
}

// cause removes the path from an error. The result lists the path beside it.
func cause(err error) error {
	var withPath *fs.PathError
	if errors.As(err, &withPath) {
		return withPath.Err
	}
	return err
}

// dropJournal ends an operation that is recorded, or that has changed nothing. Either needs neither the
// journal nor the state before, so it does not matter which of the two goes first.
func (r *Operator) dropJournal(l *history.Locked) error {
	r.Holds(l)
	return atomicfile.AtOnce([]func() error{
		func() error { return r.DB.RemoveJournal(history.JournalName) },
		func() error { return r.DB.DropRef(history.RefBefore) },
	}, func(drop func() error) error { return drop() })
}

// RecoverOperations finishes the operation of a dead process. If its journal is damaged,
// the state before the operation becomes a checkpoint, so that nothing is lost.
func (r *Operator) RecoverOperations(ctx context.Context, l *history.Locked) error {
	journals, err := r.DB.Journals()
	if err != nil {
		return err
	}
	for _, stored := range journals {
		if stored.Name != history.JournalName {
			continue
		}
		if history.IsRefusal(stored.Err) {
			return stored.Err
		}
		var j *journal
		if err = stored.Err; err == nil {
			j, err = parseJournal(stored.Data)
		}
		if err != nil {
			r.Log.Warn("journal of an interrupted operation is unreadable; the state before it is kept as a checkpoint", "error", err)
			return r.salvage(l)
		}
		err = r.resume(ctx, l, j)
		if errors.Is(err, state.ErrCorrupt) || errors.Is(err, odb.ErrNotFound) {
			r.Log.Warn("an interrupted operation cannot be finished, because the store is damaged; the state before it is kept as a checkpoint, if it is whole", "error", err)
			return r.salvage(l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recorded reports whether the newest record has a token. A process that left a journal with it died before it
// removed the journal.
func (r *Operator) recorded(token string) (bool, error) {
	newest, err := r.Tip(history.RefOperations)
	if newest == nil {
		return false, err
	}
	var rec history.OperationRecord
	err = json.Unmarshal([]byte(history.CommitOf(newest).Header(history.OperationHeader)), &rec)
	return err == nil && rec.Token == token, nil
}

func (r *Operator) resume(ctx context.Context, l *history.Locked, j *journal) error {
	if recorded, err := r.recorded(j.Token); err != nil {
		return err
	} else if recorded {
		return r.dropJournal(l) // a record that no operation names goes with the next cleaning
	}
	if whole, err := r.wholeJoint(ctx, j); err != nil || !whole {
		return r.dropShare(l, j, err)
	}
	if err := apply.RemoveTemps(r.Root, j.Token, j.changes); err != nil {
		// The paths beside them become conflicts. An error here would end every later command, too.
		r.Log.Warn("temporary files of an interrupted operation may be left", "error", err)
	}
	if err := r.resumeGit(ctx, j); err != nil {
		return err
	}
	res, err := r.finish(ctx, l, j, nil)
	if err != nil {
		return err
	}
	r.Log.Info("finished an interrupted operation", "kind", j.Kind, "operation", res.Operation,
		"restored", len(res.Restored), "deleted", len(res.Deleted), "conflicts", len(res.Conflicts))
	r.tellUnfinished(ctx, j)
	return nil
}

// salvage makes the state before an operation with a lost journal a checkpoint of today's line.
func (r *Operator) salvage(l *history.Locked) error {
	id, err := r.DB.Ref(history.RefBefore)
	if errors.Is(err, odb.ErrNotFound) {
		return r.dropJournal(l)
	}
	if err == nil {
		_, err = r.ReadCheckpoint(id)
	}
	if errors.Is(err, state.ErrCorrupt) || errors.Is(err, odb.ErrNotFound) {
		return r.dropJournal(l)
	}
	if err != nil {
		return err
	}
	line := r.Today()
	tip, err := r.Tip(line)
	if err != nil {
		return err
	}
	if tip != nil {
		line += "-interrupted-" + id.String()[:history.MinPrefix]
	}
	if err := r.DB.SetRef(line, id); err != nil {
		return err
	}
	return r.dropJournal(l)
}
