package cairn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Operation is one restore or revert that was carried out. Before and After are
// checkpoints; Before holds everything that the operation overwrote or deleted.
type Operation struct {
	ID        string
	Kind      string // "restore", "revert", "unrevert", "undo" or "redo"
	When      time.Time
	Target    string // checkpoint that it went back to
	Undoes    string // operation that it took back, for an undo or redo
	Before    string
	After     string
	Paths     []string // changed
	scope     []string // what it was narrowed down to
	created   []string // of Paths, where nothing stood before
	Kept      []PathReason
	Conflicts []PathReason
}

// Operations yields the operations of this root, newest first. An error ends the
// iteration.
func (r *store) Operations(ctx context.Context) iter.Seq2[*Operation, error] {
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
				return // what is left of the one before the oldest that lives
			}
			if !yield(op, nil) || previous.IsZero() {
				return
			}
			id, err = previous, ctx.Err()
		}
		yield(nil, err)
	}
}

// readOperation reads one operation and the id of the one before it. It returns nil
// for one that was cleaned away, of which only the commit is left.
func (r *store) readOperation(id object.ID) (*Operation, object.ID, error) {
	c, err := r.ReadCheckpoint(id)
	if err != nil {
		return nil, object.ID{}, err
	}
	if len(c.commit.Parents) == 0 && r.DB.EndsLine(id) {
		return nil, object.ID{}, nil
	}
	var rec OperationRecord
	if err := json.Unmarshal([]byte(c.commit.Header(OperationHeader)), &rec); err != nil {
		return nil, object.ID{}, fmt.Errorf("%w: operation %s: %w", ErrCorrupt, id, err)
	}
	op := &Operation{
		ID: c.ID, Kind: rec.Kind, When: c.When, Target: rec.Target, Undoes: rec.Undoes, Before: rec.Before, After: rec.After,
		Paths: pathtext.Plain(rec.Paths), scope: pathtext.Plain(rec.Scope), created: pathtext.Plain(rec.Created), Kept: rec.Kept, Conflicts: rec.Conflicts,
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
func (r *store) operationStates(ctx context.Context) iter.Seq2[*Checkpoint, error] {
	return func(yield func(*Checkpoint, error) bool) {
		for op, err := range r.Operations(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, spec := range []string{op.After, op.Before} {
				id, err := object.ParseID(spec)
				if err != nil {
					yield(nil, fmt.Errorf("%w: operation %s", ErrCorrupt, op.ID))
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

type operationJSON struct {
	ID        string           `json:"id"`
	Kind      string           `json:"kind"`
	When      time.Time        `json:"time"`
	Target    string           `json:"target,omitempty"`
	Undoes    string           `json:"undoes,omitempty"`
	Before    string           `json:"before"`
	After     string           `json:"after"`
	Paths     []state.PathText `json:"paths"`
	Kept      []PathReason     `json:"kept"`
	Conflicts []PathReason     `json:"conflicts"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (op *Operation) UnmarshalJSON(data []byte) error {
	var j operationJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*op = Operation{
		ID: j.ID, Kind: j.Kind, When: j.When, Target: j.Target, Undoes: j.Undoes, Before: j.Before, After: j.After,
		Paths: pathtext.Plain(j.Paths), Kept: j.Kept, Conflicts: j.Conflicts,
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (op Operation) MarshalJSON() ([]byte, error) {
	return json.Marshal(operationJSON{
		op.ID, op.Kind, op.When, op.Target, op.Undoes, op.Before, op.After, pathtext.Texts(op.Paths),
		append([]PathReason{}, op.Kept...), append([]PathReason{}, op.Conflicts...),
	})
}
