package cairn

import (
	"context"
	"fmt"
	"io"
	"maps"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
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

// operationHeader is the extra commit header of an operation.
const operationHeader = "cairn-operation"

// operationRecord says what an operation did. Its commit has the tree and metadata
// of the state after; its parents are the operation before it, if any, and the
// checkpoints before and after.
type operationRecord struct {
	Version   int          `json:"v"`
	Kind      string       `json:"kind"`
	Target    string       `json:"target,omitempty"`
	Undoes    string       `json:"undoes,omitempty"`
	Token     string       `json:"token,omitempty"` // of the journal
	At        int64        `json:"at,omitempty"`    // nanoseconds since 1970; commits keep seconds
	Before    string       `json:"before"`
	After     string       `json:"after"`
	Paths     []pathText   `json:"paths"`             // changed
	Scope     []pathText   `json:"scope,omitempty"`   // what an undo or redo was narrowed down to
	Created   []pathText   `json:"created,omitempty"` // of these, where nothing stood before
	Kept      []PathReason `json:"kept,omitempty"`
	Conflicts []PathReason `json:"conflicts,omitempty"`
}

// operate carries out an operation. Dying at any point loses nothing:
//
//  1. capture the disk and make the plan
//  2. save what the plan touches and no capture holds, publish the state before:
//     from here on it can be restored
//  3. write the journal: from here on the next command finishes the operation
//  4. apply
//  5. record the operation, drop the journal
func (r *Repo) operate(ctx context.Context, req opRequest, makePlan func(*capture) (*plan, error)) (*Result, error) {
	if err := r.enabled(); err != nil && !req.dryRun {
		return nil, err
	}
	var res *Result
	err := r.capturing(ctx, func() error {
		disk, err := r.capture(ctx, captureOptions{})
		if err != nil {
			return err
		}
		defer disk.discard()
		if err := disk.publishFor(ctx); err != nil {
			return err
		}
		defer disk.saveUnlessSaved(ctx)
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
func (r *Repo) operateOn(ctx context.Context, req opRequest, disk *capture, p *plan) (*Result, error) {
	res, err := r.preview(req, p)
	if err != nil || req.dryRun || !req.toBeRecorded(p) {
		return res, err
	}
	return r.carryOut(ctx, req, disk, p)
}

// toBeRecorded: a plan without changes is no operation, except where somebody takes
// an operation back and chooses to keep every later change. That is settled then.
func (q *opRequest) toBeRecorded(p *plan) bool {
	return len(p.changes) > 0 || q.undoes != "" && len(p.kept) > 0 && len(p.conflicts) == 0
}

func (r *Repo) carryOut(ctx context.Context, req opRequest, disk *capture, p *plan) (*Result, error) {
	before, err := r.saveBefore(ctx, req, disk, p)
	if err != nil {
		return nil, err
	}
	res, err := r.carryOutFrom(ctx, req, before, disk, p)
	if err != nil {
		err = &begunError{err}
	}
	return res, err
}

// begunError is that of an operation which must not be tried once more from the start.
type begunError struct{ err error }

func (e *begunError) Error() string { return e.err.Error() }
func (e *begunError) Unwrap() error { return e.err }

func (r *Repo) carryOutFrom(ctx context.Context, req opRequest, before object.ID, disk *capture, p *plan) (*Result, error) {
	j := newJournal(req, before, p)
	if err := r.writeJournal(j); err != nil {
		return nil, err
	}
	return r.finish(ctx, j, disk.index)
}

// saveBefore stores and publishes the state before an operation: what the capture holds, and
// what no capture holds but the plan touches. It follows what was newest, on the
// line that the operation belongs to or outside of such lines.
func (r *Repo) saveBefore(ctx context.Context, req opRequest, disk *capture, p *plan) (object.ID, error) {
	batch := r.newBatch(false)
	defer batch.Discard()
	s := state{disk.tree, disk.metadata()}
	for _, content := range p.merged {
		if _, err := batch.Add(object.Blob, content); err != nil {
			return object.ID{}, err
		}
	}
	dirs := dirsBeside(r, disk.index, p.beside)
	s, err := r.withSaved(batch, s, p.save(r.root, batch), dirs)
	if err != nil {
		return object.ID{}, err
	}
	previous, err := r.before(ctx, req)
	if err != nil {
		return object.ID{}, err
	}
	id, err := r.addState(batch, s, previous, stateLabel{})
	if err != nil {
		return object.ID{}, err
	}
	return id, asNoSpace(batch.Commit(odb.RefUpdate{Name: refBefore, ID: id}))
}

func (r *Repo) before(ctx context.Context, req opRequest) (*Checkpoint, error) {
	if req.line != nil {
		return r.tip(req.line.Ref), nil
	}
	return r.newest(ctx)
}

// withSaved is a state that holds files and directories which the capture left out.
func (r *Repo) withSaved(batch *odb.Batch, s state, saved map[string]*dir.State, dirs map[string]uint16) (state, error) {
	if len(dirs) > 0 {
		s.meta = s.meta.withDirs(dirs, dirsAbove(maps.Keys(saved)))
	}
	if len(saved) == 0 {
		return s, nil
	}
	edits := make(map[string]*object.Entry, len(saved))
	captured := make(map[string]bool, len(saved))
	for path := range saved {
		captured[path] = true
	}
	meta := s.meta.withoutSkipped(captured)
	for path, was := range saved {
		edits[path] = &object.Entry{Mode: was.Mode, ID: was.ID}
		if was.Mode != object.Symlink {
			meta.setPerm(path, was.Mode, was.Perm)
		}
	}
	tree, err := r.editTree(batch, s.tree, edits)
	return state{tree, meta}, err
}

// stateLabel says what a checkpoint is about. Without a message an unchanged state
// needs no new checkpoint.
type stateLabel struct{ message, author string }

// defaultAuthor made what nobody else says they made.
const defaultAuthor = "user"

// addState adds the commit of a state to a batch, unless the checkpoint before is
// the same and no message asks for a new one.
func (r *Repo) addState(batch *odb.Batch, s state, previous *Checkpoint, label stateLabel) (object.ID, error) {
	meta, err := s.meta.encode()
	if err != nil {
		return object.ID{}, err
	}
	return r.addEncoded(batch, s.tree, meta, previous, label)
}

func (r *Repo) addEncoded(batch *odb.Batch, tree object.ID, meta string, previous *Checkpoint, label stateLabel) (object.ID, error) {
	if previous != nil && label.message == "" && previous.tree == tree && previous.commit.Header(metadataHeader) == meta {
		return previous.id, nil
	}
	q := commitRequest{tree: tree, meta: meta, message: label.message, when: r.now(), author: object.Signature{Name: label.author, Email: "cairn@localhost"}}
	if q.message == "" {
		q.message = "checkpoint"
	}
	if q.author.Name == "" {
		q.author.Name = defaultAuthor
	}
	if previous != nil {
		q.parents = []object.ID{previous.id}
	}
	return addCommit(batch, q)
}

// finish applies a journal and records the operation. x is the stat cache of the
// capture that the plan was made from; nil means that a process that died has left the
// journal behind.
func (r *Repo) finish(ctx context.Context, j *journal, x *index.Index) (*Result, error) {
	applier := &apply.Executor{Root: r.root, Source: source{r.db}, Token: j.Token, Resume: x == nil, Sync: !r.opt.NoSync}
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

func (r *Repo) applyProgress() func(done, total int) {
	if r.opt.Progress == nil {
		return nil
	}
	return func(done, total int) { r.opt.Progress(Progress{Phase: "apply", Files: done, Total: total}) }
}

// source gives the contents of blobs to an Applier.
type source struct{ db *odb.DB }

// Open implements apply.Source.
func (s source) Open(id object.ID) (int64, io.ReadCloser, error) {
	kind, size, rc, err := s.db.Open(id)
	if err != nil {
		return 0, nil, err
	}
	if kind != object.Blob {
		rc.Close()
		return 0, nil, fmt.Errorf("%w: %s is a %s, not a blob", ErrCorrupt, id, kind)
	}
	return size, rc, nil
}
