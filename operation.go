package cairn

import (
	"context"
	"fmt"
	"io"
	"maps"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// opRequest is what an operation is about to do.
type opRequest struct {
	kind   string // as Operation.Kind
	target string // checkpoint id
	dryRun bool
	planID string   // of the only plan to be carried out; "" = whatever is planned
	undoes string   // operation that this one takes back
	scope  []string // paths that this was narrowed down to
	line   *journalLine
}

// OperationHeader is the extra commit header of an operation.
const OperationHeader = "cairn-operation"

// OperationRecord says what an operation did. Its commit has the tree and metadata
// of the state after; its parents are the operation before it, if any, and the
// checkpoints before and after.
type OperationRecord struct {
	Version   int              `json:"v"`
	Kind      string           `json:"kind"`
	Target    string           `json:"target,omitempty"`
	Undoes    string           `json:"undoes,omitempty"`
	Token     string           `json:"token,omitempty"` // of the journal
	At        int64            `json:"at,omitempty"`    // nanoseconds since 1970; commits keep seconds
	Before    string           `json:"before"`
	After     string           `json:"after"`
	Paths     []state.PathText `json:"paths"`             // changed
	Scope     []state.PathText `json:"scope,omitempty"`   // what an undo or redo was narrowed down to
	Created   []state.PathText `json:"created,omitempty"` // of these, where nothing stood before
	Kept      []PathReason     `json:"kept,omitempty"`
	Conflicts []PathReason     `json:"conflicts,omitempty"`
}

// operate carries out an operation. Dying at any point loses nothing:
//
//  1. capture the disk and make the plan
//  2. save what the plan touches and no capture holds, publish the state before:
//     from here on it can be restored
//  3. write the journal: from here on the next command finishes the operation
//  4. apply
//  5. record the operation, drop the journal
func (r *operator) operate(ctx context.Context, req opRequest, makePlan func(*Snapshot) (*Plan, error)) (*Result, error) {
	if err := r.Enabled(); err != nil && !req.dryRun {
		return nil, err
	}
	var res *Result
	err := r.Capturing(ctx, func() error {
		disk, err := r.Capture(ctx, captureOptions{})
		if err != nil {
			return err
		}
		defer disk.Discard()
		if err := disk.PublishFor(ctx); err != nil {
			return err
		}
		defer disk.SaveUnlessSaved(ctx)
		p, err := makePlan(disk)
		if err != nil {
			return err
		}
		res, err = r.operateOn(ctx, req, disk, p)
		return err
	})
	return res, err
}

// operateOn carries out a plan, unless it is only asked for or there is nothing to
// do. The caller holds the lock.
func (r *operator) operateOn(ctx context.Context, req opRequest, disk *Snapshot, p *Plan) (*Result, error) {
	res, err := r.preview(req, p)
	if err != nil || req.dryRun || !req.toBeRecorded(p) {
		return res, err
	}
	return r.carryOut(ctx, req, disk, p)
}

// toBeRecorded: a plan without changes is no operation, except where somebody takes
// an operation back and chooses to keep every later change. That is settled then.
func (q *opRequest) toBeRecorded(p *Plan) bool {
	return len(p.Changes) > 0 || q.undoes != "" && len(p.Kept) > 0 && len(p.Conflicts) == 0
}

func (r *operator) carryOut(ctx context.Context, req opRequest, disk *Snapshot, p *Plan) (*Result, error) {
	before, err := r.saveBefore(ctx, req, disk, p)
	if err != nil {
		return nil, err
	}
	res, err := r.carryOutFrom(ctx, req, before, disk, p)
	if err != nil {
		err = &BegunError{err}
	}
	return res, err
}

// BegunError is that of an operation which must not be tried once more from the start.
type BegunError struct{ Err error }

func (e *BegunError) Error() string { return e.Err.Error() }

func (e *BegunError) Unwrap() error { return e.Err }

func (r *operator) carryOutFrom(ctx context.Context, req opRequest, before object.ID, disk *Snapshot, p *Plan) (*Result, error) {
	j := newJournal(req, before, p)
	if err := r.writeJournal(j); err != nil {
		return nil, err
	}
	return r.finish(ctx, j, disk.Index)
}

// saveBefore stores and publishes the state before an operation: what the capture holds, and
// what no capture holds but the plan touches. It follows what was newest, on the
// line that the operation belongs to or outside of such lines.
func (r *operator) saveBefore(ctx context.Context, req opRequest, disk *Snapshot, p *Plan) (object.ID, error) {
	batch := r.NewBatch(false)
	defer batch.Discard()
	s := state.State{Tree: disk.Tree, Meta: disk.Metadata()}
	for _, content := range p.Merged {
		if _, err := batch.Add(object.Blob, content); err != nil {
			return object.ID{}, err
		}
	}
	dirs := DirsBeside(r.store, disk.Index, p.Beside)
	s, err := r.withSaved(batch, s, p.Save(r.Root, batch), dirs)
	if err != nil {
		return object.ID{}, err
	}
	previous, err := r.before(ctx, req)
	if err != nil {
		return object.ID{}, err
	}
	id, err := r.AddState(batch, s, previous, StateLabel{})
	if err != nil {
		return object.ID{}, err
	}
	return id, state.AsNoSpace(batch.Commit(odb.RefUpdate{Name: RefBefore, ID: id}))
}

func (r *operator) before(ctx context.Context, req opRequest) (*Checkpoint, error) {
	if req.line != nil {
		return r.Tip(req.line.Ref), nil
	}
	return r.Newest(ctx)
}

// withSaved is a state that holds files and directories which the capture left out.
func (r *operator) withSaved(batch *odb.Batch, s state.State, saved map[string]*dir.State, dirs map[string]uint16) (state.State, error) {
	if len(dirs) > 0 {
		s.Meta = s.Meta.WithDirs(dirs, state.DirsAbove(maps.Keys(saved)))
	}
	if len(saved) == 0 {
		return s, nil
	}
	edits := make(map[string]*object.Entry, len(saved))
	captured := make(map[string]bool, len(saved))
	for path := range saved {
		captured[path] = true
	}
	meta := s.Meta.WithoutSkipped(captured)
	for path, was := range saved {
		edits[path] = &object.Entry{Mode: was.Mode, ID: was.ID}
		if was.Mode != object.Symlink {
			meta.SetPerm(path, was.Mode, was.Perm)
		}
	}
	tree, err := r.EditTree(batch, s.Tree, edits)
	return state.State{Tree: tree, Meta: meta}, err
}

// StateLabel says what a checkpoint is about. Without a message an unchanged state
// needs no new checkpoint.
type StateLabel struct{ Message, Author string }

// DefaultAuthor made what nobody else says they made.
const DefaultAuthor = "user"

// AddState adds the commit of a state to a batch, unless the checkpoint before is
// the same and no message asks for a new one.
func (r *store) AddState(batch *odb.Batch, s state.State, previous *Checkpoint, label StateLabel) (object.ID, error) {
	meta, err := s.Meta.Encode()
	if err != nil {
		return object.ID{}, err
	}
	return r.AddEncoded(batch, s.Tree, meta, previous, label)
}

func (r *store) AddEncoded(batch *odb.Batch, tree object.ID, meta string, previous *Checkpoint, label StateLabel) (object.ID, error) {
	if previous != nil && label.Message == "" && previous.tree == tree && previous.commit.Header(state.MetadataHeader) == meta {
		return previous.id, nil
	}
	q := CommitRequest{Tree: tree, Meta: meta, Message: label.Message, When: r.Now(), Author: object.Signature{Name: label.Author, Email: "cairn@localhost"}}
	if q.Message == "" {
		q.Message = "checkpoint"
	}
	if q.Author.Name == "" {
		q.Author.Name = DefaultAuthor
	}
	if previous != nil {
		q.Parents = []object.ID{previous.id}
	}
	return AddCommit(batch, q)
}

// finish applies a journal and records the operation. x is the stat cache of the
// capture that the plan was made from; nil means that a process that died has left the
// journal behind.
func (r *operator) finish(ctx context.Context, j *journal, x *index.Index) (*Result, error) {
	applier := &apply.Executor{Root: r.Root, Source: Source{r.DB}, Token: j.Token, Resume: x == nil, Sync: !r.Opt.NoSync}
	outcomes, err := applier.Run(ctx, j.changes, r.applyProgress())
	if err != nil {
		return nil, fmt.Errorf("%s interrupted, the next command finishes it: %w", j.Kind, err)
	}
	res := j.result(outcomes)
	id, err := r.recordOperation(ctx, j, res, recaptureOptions(j, outcomes, x, applier))
	if err != nil {
		return nil, fmt.Errorf("record the %s, which is done: %w", j.Kind, err)
	}
	res.Operation = id.String()
	return res, r.dropJournal()
}

func (r *operator) applyProgress() func(done, total int) {
	if r.Opt.Progress == nil {
		return nil
	}
	return func(done, total int) { r.Opt.Progress(Progress{Phase: "apply", Files: done, Total: total}) }
}

// Source gives the contents of blobs to an Applier.
type Source struct{ DB *odb.DB }

// Open implements apply.Source.
func (s Source) Open(id object.ID) (int64, io.ReadCloser, error) {
	kind, size, rc, err := s.DB.Open(id)
	if err != nil {
		return 0, nil, err
	}
	if kind != object.Blob {
		rc.Close()
		return 0, nil, fmt.Errorf("%w: %s is a %s, not a blob", ErrCorrupt, id, kind)
	}
	return size, rc, nil
}
