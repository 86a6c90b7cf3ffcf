package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Operation is a restore, revert, merge, undo or redo that was carried out. Before and After are
// checkpoints. Before holds every file that the operation overwrote or deleted.
type Operation struct {
	ID        string             `json:"id"`
	Kind      string             `json:"kind" enum:"restore,revert,unrevert,merge,undo,redo"`
	When      time.Time          `json:"time"`
	Target    string             `json:"target,omitempty" doc:"Checkpoint that it went back to, or that a merge brought the changes of."`
	Undoes    string             `json:"undoes,omitempty" doc:"Operation that it took back."`
	Before    string             `json:"before" doc:"Checkpoint that holds everything that was overwritten or deleted."`
	After     string             `json:"after"`
	Paths     state.Paths        `json:"paths" doc:"Changed."`
	Kept      []state.PathReason `json:"kept"`
	Conflicts []state.PathReason `json:"conflicts"`
	Git       []string           `json:"git,omitempty" doc:"What it changed in the git repository, in words."`

	GitConflicts []GitConflict `json:"gitConflicts,omitempty" doc:"Refs and other parts of the git repository that stayed."`

	Outside state.Paths `json:"outside,omitempty" doc:"Absolute paths outside the root that it changed."`

	Joint *Joint `json:"joint,omitempty" doc:"Present if it went over several directories. Each has an operation of its own with this id."`

	scope   []string // what it was narrowed down to
	created []string // of Paths, where nothing stood before
	outside string   // id of the record of Outside
	token   string   // of the journal
	clock   process.Instant
}

// When returns the time of an operation as the present clock has it, which may have been set back since.
func (r *Store) When(op *Operation) time.Time {
	return op.clock.Bound(op.When, r.Now(), process.Awake())
}

// TokenOf returns the token of an operation's journal, "" where the record has none.
func TokenOf(op *Operation) string { return op.token }

// Narrowed reports whether the operation was narrowed down to some paths or hunks. Restores and
// reverts do not record that.
func (op *Operation) Narrowed() bool { return len(op.scope) > 0 }

// GitConflict is a ref that stays where it is.
type GitConflict struct {
	Ref    state.Path `json:"ref" doc:"Full name, or HEAD, index, .git, or the name of an operation in progress."`
	Reason string     `json:"reason"`
}

// Operations yields the operations of this root, newest first. An error ends the
// iteration.
func (r *Store) Operations(ctx context.Context) iter.Seq2[*Operation, error] {
	return func(yield func(*Operation, error) bool) {
		id, err := r.DB.Ref(RefOperations)
		if errors.Is(err, odb.ErrNotFound) {
			return
		}
		for err == nil {
			var op *Operation
			var previous object.ID
			if op, previous, err = r.readOperation(id); err != nil {
				break
			}
			if op == nil {
				return // the operation before the oldest one that was kept; only its commit is left
			}
			if !yield(op, nil) || previous.IsZero() {
				return
			}
			id, err = previous, ctx.Err()
		}
		yield(nil, err)
	}
}

// readOperation reads an operation and the id of the one before it. It returns nil for an operation
// that was cleaned away, of which only the commit is left.
func (r *Store) readOperation(id object.ID) (*Operation, object.ID, error) {
	c, err := r.ReadCheckpoint(id)
	if err != nil {
		return nil, object.ID{}, err
	}
	if len(c.commit.Parents) == 0 && r.DB.EndsLine(id) { // no operation is thinned
		return nil, object.ID{}, nil
	}
	var rec OperationRecord
	if err := json.Unmarshal([]byte(c.commit.Header(OperationHeader)), &rec); err != nil {
		return nil, object.ID{}, fmt.Errorf("%w: operation %s: %w", state.ErrCorrupt, id, err)
	}
	op := &Operation{
		ID: c.ID, Kind: rec.Kind, When: c.When, Target: rec.Target, Undoes: rec.Undoes, Before: rec.Before, After: rec.After,
		Paths: rec.Paths, Git: rec.Git, GitConflicts: rec.GitConflicts, Joint: rec.Joint, scope: rec.Scope, created: rec.Created,
		Outside: rec.OutsidePaths, outside: rec.Outside, token: rec.Token, clock: rec.Clock,
		Kept: append([]state.PathReason{}, rec.Kept...), Conflicts: append([]state.PathReason{}, rec.Conflicts...),
	}
	if rec.At != 0 {
		op.When = time.Unix(0, rec.At)
	}
	var previous object.ID
	if len(c.commit.Parents) == 3 {
		previous = c.commit.Parents[0]
	}
	return op, previous, nil
}

// operationStates yields the states before and after every operation, newest first.
func (r *Store) operationStates(ctx context.Context) iter.Seq2[*Checkpoint, error] {
	return func(yield func(*Checkpoint, error) bool) {
		for op, err := range r.Operations(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, spec := range []string{op.After, op.Before} {
				id, err := object.ParseID(spec)
				if err != nil {
					yield(nil, fmt.Errorf("%w: operation %s", state.ErrCorrupt, op.ID))
					return
				}
				c, err := r.ReadCheckpoint(id)
				if !yield(c, err) || err != nil {
					return
				}
			}
		}
	}
}

// Latest finds among operations, newest first, the last that kind has not taken back.
// Those of that kind take back the operation that they name, or what comes next where they name
// none. What an undo can take back is everything but undos; what a redo can, undos since the last
// other operation.
func Latest(kind string, ops iter.Seq2[*Operation, error]) (*Operation, error) {
	var taking []*Operation // operations of kind that are not yet matched, the oldest last
	for op, err := range ops {
		switch {
		case err != nil:
			return nil, err
		case op.Kind == kind:
			taking = append(taking, op)
		case kind == "redo" && op.Kind != "undo":
			return nil, nil
		default:
			if op, taking = leftOf(op, taking); op != nil {
				return op, nil
			}
		}
	}
	return nil, nil
}

// leftOf returns the part of an operation that the operations in taking have not taken back, nil
// for nothing: an undo may be limited to some paths. rest are those of taking that are not used up.
func leftOf(op *Operation, taking []*Operation) (left *Operation, rest []*Operation) {
	for i := len(taking) - 1; i >= 0; i-- {
		by := taking[i]
		if by.Undoes != "" && by.Undoes != op.ID {
			continue
		}
		taking = slices.Delete(taking, i, i+1)
		if len(by.scope) == 0 {
			return nil, taking
		}
		some := *op
		some.Paths = slices.DeleteFunc(slices.Clone(op.Paths), state.NewPathScope(by.scope).Covers)
		if op = &some; len(op.Paths) == 0 {
			return nil, taking
		}
	}
	return op, taking
}

// Beyond says which changes beside the files of the root count.
type Beyond struct {
	Git     bool // of the user's git repository
	Outside bool // of paths outside the root
}

// counts reports whether an operation changed something that counts.
func (b Beyond) counts(op *Operation) bool {
	others := len(op.Git) > 0 || len(op.Outside) > 0
	return !others || len(op.Paths)+len(op.Kept) > 0 || b.Git && len(op.Git) > 0 || b.Outside && len(op.Outside) > 0
}

// Counting leaves out the operations whose changes do not count.
func Counting(ops iter.Seq2[*Operation, error], beyond Beyond) iter.Seq2[*Operation, error] {
	return func(yield func(*Operation, error) bool) {
		for op, err := range ops {
			if err == nil && !beyond.counts(op) {
				continue
			}
			if !yield(op, err) {
				return
			}
		}
	}
}

// WithoutLines leaves out the operations that moved the boundary of a line with records, and those
// that took such a move back, or brought it back.
func (r *Store) WithoutLines(ops iter.Seq2[*Operation, error]) iter.Seq2[*Operation, error] {
	moves := make(map[string]bool)
	return func(yield func(*Operation, error) bool) {
		for op, err := range ops {
			if err != nil {
				yield(nil, err)
				return
			}
			move, err := r.movesLine(op, moves)
			if err != nil || !move {
				if !yield(op, err) || err != nil {
					return
				}
			}
		}
	}
}

// movesLine reports whether an operation moved a line, or took such a move back. known holds the
// answers by id. An operation that was cleaned away counts as none.
func (r *Store) movesLine(op *Operation, known map[string]bool) (bool, error) {
	if move, ok := known[op.ID]; ok {
		return move, nil
	}
	move, err := r.MovedLine(op)
	if err == nil && !move && op.Undoes != "" {
		var undone *Operation
		if undone, err = r.operation(op.Undoes); err == nil && undone != nil {
			move, err = r.movesLine(undone, known)
		}
	}
	known[op.ID] = move
	return move, err
}

// MovedLine reports whether an operation itself moved the boundary of a line with records.
func (r *Store) MovedLine(op *Operation) (bool, error) {
	e, err := r.LineEvent(op.After)
	if errors.Is(err, state.ErrNotFound) {
		return false, nil
	}
	return err == nil && e.OnLine, err
}

// operation reads an operation by its id, nil for one that was cleaned away.
func (r *Store) operation(id string) (*Operation, error) {
	parsed, err := object.ParseID(id)
	if err != nil {
		return nil, nil
	}
	op, _, err := r.readOperation(parsed)
	if errors.Is(err, odb.ErrNotFound) || errors.Is(err, state.ErrNotFound) {
		return nil, nil
	}
	return op, err
}

// ChangedScope selects the paths that an operation changed and scope covers. An operation lists
// every path that it changed, so a directory in the list means only its permission bits.
func ChangedScope(op *Operation, scope *state.PathScope) *state.PathScope {
	var paths []string
	for _, path := range op.Paths {
		if scope.Covers(path) {
			paths = append(paths, path)
		}
	}
	return state.NewPathScope(nil).WithAlone(paths)
}

// Origin returns the operation that another one took back or brought back, directly or through
// further ones. An operation that took none back is its own origin. It returns nil where one on the
// way was cleaned away.
func (r *Store) Origin(op *Operation) (*Operation, error) {
	var seen []string
	for op != nil && op.Undoes != "" && !slices.Contains(seen, op.ID) {
		seen = append(seen, op.ID)
		var err error
		if op, err = r.operation(op.Undoes); err != nil {
			return nil, err
		}
	}
	return op, nil
}

// OutsideRecords lists the records of paths outside the root that go back with an operation, the newest first.
// An operation that takes an undo back does the first operation again. Where the undo left such paths, they still
// are as the first operation left them, so that its record counts, too.
func (r *Store) OutsideRecords(op *Operation) (records []string, err error) {
	for op != nil {
		if op.outside != "" {
			records = append(records, op.outside)
		}
		undone, err := r.operation(op.Undoes)
		if err != nil || undone == nil || undone.outside != "" {
			return records, err
		}
		if op, err = r.operation(undone.Undoes); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// Joint names an operation that goes over several roots. The store of each root has a record of its
// share, with the same Joint.
type Joint struct {
	ID    string      `json:"id"`
	Roots state.Paths `json:"roots" doc:"Absolute paths of the directories, sorted."`
}

// ShareOf returns the share that this root has in a joint operation, nil if the log has none, and
// whether a later operation has taken it back.
func (r *Store) ShareOf(ctx context.Context, id string) (share *Operation, undone bool, err error) {
	taken := make(map[string]bool)
	for op, err := range r.Operations(ctx) {
		if err != nil {
			return nil, false, err
		}
		if op.Undoes != "" && len(op.scope) == 0 && !taken[op.ID] {
			taken[op.Undoes] = true
		}
		if op.Joint != nil && op.Joint.ID == id {
			return op, taken[op.ID], nil
		}
	}
	return nil, false, nil
}
