package operation

import (
	"context"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/watch"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

// recaptureOptions narrows the capture after an operation to the paths that the operation
// changed. The next capture finds concurrent changes elsewhere, so that they are not
// attributed to the operation. Files that were written and verified are not read again. They are captured
// whatever the ignore rules say: the state that they come from had captured them, or saved them from an
// operation, and the captures that follow would miss what this one brought back.
//
// The capture is complete after a crash (x is nil), and if the operation changed ignore rules,
// because these decide about other paths.
func recaptureOptions(j *journal, outcomes []apply.Outcome, x *index.Index, by *apply.Executor) capture.Options {
	opt := capture.Options{
		Purpose: capture.ForRecord, FineDirs: by.DirsStampFinely, Forget: make(map[string]bool), Held: writtenFiles(outcomes),
	}
	ignored := j.keptIgnored()
	for _, path := range ignored {
		opt.Forget[path] = true
	}
	if x == nil {
		return opt
	}
	opt.Known = knownFrom(outcomes)
	if slices.ContainsFunc(j.changes, isRules) {
		return opt
	}
	scope := capture.NewWatchScope(j.touched(ignored), x)
	opt.Scope, opt.Names = scope.Dirs, scope.Names
	return opt
}

// writtenFiles returns the files and links that the operation wrote.
func writtenFiles(outcomes []apply.Outcome) map[string]bool {
	done := make(map[string]bool, len(outcomes))
	for i := range outcomes {
		if o := &outcomes[i]; o.Done && (o.Action == apply.Create || o.Action == apply.Modify) {
			done[o.Path] = true
		}
	}
	return done
}

func isRules(c apply.Change) bool {
	_, name := index.Split(c.Path)
	return index.IsIgnoreFile(name)
}

// touched returns the paths of the operation in the form of watched changes.
func (j *journal) touched(more []string) *watch.Changes {
	c := &watch.Changes{Dirs: make(map[string]map[string]struct{})}
	add := func(dir, name string) {
		if c.Dirs[dir] == nil {
			c.Dirs[dir] = make(map[string]struct{})
		}
		c.Dirs[dir][name] = struct{}{}
	}
	for i := range j.changes {
		add(index.Split(j.changes[i].Path))
		if plan.IsDirectory(&j.changes[i]) {
			add(j.changes[i].Path, "")
		}
	}
	for _, path := range more {
		add(index.Split(path))
	}
	return c
}

// knownFrom returns the ids of the written files. Their contents were read back and compared,
// and their stats are from after the write.
func knownFrom(outcomes []apply.Outcome) scan.Known {
	entries := make(map[string]*index.Entry, len(outcomes))
	for i := range outcomes {
		o := &outcomes[i]
		if e := &o.Entry; o.Done && o.Action != apply.Chmod && !e.ID.IsZero() && e.Stat != (index.Stat{}) {
			entries[o.Path] = e
		}
	}
	return func(path string, mode object.Mode, st *index.Stat) (id object.ID, lasting, ok bool) {
		e := entries[path]
		if e == nil || e.Mode != mode || e.Stat != *st {
			return object.ID{}, false, false
		}
		return e.ID, !e.Racy, true
	}
}

// recordOperation captures what the operation touched and adds the state after and
// the operation itself, which become part of the store, with their refs, at once.
func (r *Operator) recordOperation(
	ctx context.Context, l *history.Locked, j *journal, res *Result, opt capture.Options,
) (object.ID, error) {
	disk, err := r.Capture(ctx, l, opt)
	if err != nil {
		return object.ID{}, err
	}
	defer disk.Discard()
	s, batch, err := r.stateAfter(ctx, l, disk, j, res)
	if err != nil {
		return object.ID{}, err
	}
	defer batch.Discard()
	refs, err := r.addOutside(batch, j)
	if err != nil {
		return object.ID{}, err
	}
	after, err := r.addAfter(batch, s, j, res)
	if err != nil {
		return object.ID{}, err
	}
	id, err := r.addOperation(batch, s, j, res, after)
	if err != nil {
		return object.ID{}, err
	}
	if j.Line != nil {
		refs = append(refs, odb.RefUpdate{Name: j.Line.Ref, ID: after})
	}
	refs = append(refs, odb.RefUpdate{Name: history.RefOperations, ID: id})
	if batch == disk.Batch {
		return id, disk.Publish(ctx, l, refs...)
	}
	return id, batch.Commit(refs...)
}

// stateAfter returns the state after an operation and the batch that holds its new objects.
// The state has the captured files and the written files that no capture holds, because they are too
// large, or ignored and only their permission bits were set. Without the latter, an undo could not tell
// them from later work.
// To edit the captured trees, stateAfter publishes them first.
func (r *Operator) stateAfter(
	ctx context.Context, l *history.Locked, disk *capture.Snapshot, j *journal, res *Result,
) (state.State, *odb.Batch, error) {
	s := disk.State()
	written, beside := r.written(disk, j, res)
	dirs := plan.DirsBeside(r.live(disk), slices.Values(beside))
	if len(written) == 0 {
		s, err := r.withSaved(nil, s, nil, dirs)
		return s, disk.Batch, err
	}
	if err := disk.Publish(ctx, l); err != nil {
		return s, nil, err
	}
	batch := r.DB.NewBatch()
	s, err := r.withSaved(batch, s, written, dirs)
	if err != nil {
		batch.Discard()
	}
	return s, batch, err
}

// written has the files that an operation wrote and a capture does not hold, and the
// paths at or above which directories may be beside the capture.
func (r *Operator) written(disk *capture.Snapshot, j *journal, res *Result) (files map[string]*dir.State, beside []string) {
	files = make(map[string]*dir.State)
	for i := range j.changes {
		c := &j.changes[i]
		if _, done := slices.BinarySearch(res.Restored, c.Path); !done {
			continue
		}
		if plan.IsDirectory(c) {
			beside = append(beside, c.Path)
		}
		if rec := disk.Index.Lookup(c.Path); !c.ID.IsZero() && (rec == nil || rec.Skip() != index.Captured) && !r.Denied(c.Path) {
			files[c.Path] = &dir.State{Mode: c.Mode, Perm: c.Perm, ID: c.ID}
			beside = append(beside, c.Path)
		}
	}
	return files, beside
}

func (r *Operator) addAfter(batch *odb.Batch, s state.State, j *journal, res *Result) (object.ID, error) {
	before, err := r.ReadCheckpoint(j.before)
	if err != nil {
		return object.ID{}, err
	}
	if j.Line != nil {
		j.Line.outside = j.outsideRecord
		return r.addReverted(batch, s, before, j.Line, j.created(res), res)
	}
	return r.AddState(batch, s, before, history.StateLabel{Message: "after " + j.Kind, Author: history.Identity.Name})
}

func (r *Operator) addOperation(batch *odb.Batch, s state.State, j *journal, res *Result, after object.ID) (object.ID, error) {
	rec := history.OperationRecord{
		Kind: j.Kind, Target: j.Target, Undoes: j.Undoes, Token: j.Token, Scope: j.Scope,
		Before: j.before.String(), After: after.String(),
		Paths:   slices.Concat(res.Restored, res.Deleted),
		Created: j.created(res), Kept: res.Kept, Conflicts: res.Conflicts,
	}
	if j.git != nil {
		rec.Git, rec.GitConflicts = j.git.Changes, j.git.Conflicts
	}
	if res.Outside != nil {
		rec.Outside, rec.OutsidePaths = j.outsideRecord, slices.Concat(res.Outside.Restored, res.Outside.Deleted)
	}
	if j.Joint != nil {
		rec.Joint = &j.Joint.Joint
	}
	return r.AddOperation(batch, s, rec)
}
