package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// OperationHeader is the extra commit header of an operation.
const OperationHeader = "cairn-operation"

// OperationRecord describes an operation. The operation's commit has the tree and metadata of the
// state after it. The commit's parents are the operation before it, if any, and the checkpoints
// before and after.
type OperationRecord struct {
	Version   int                `json:"v"`
	Kind      string             `json:"kind"`
	Target    string             `json:"target,omitempty"`
	Undoes    string             `json:"undoes,omitempty"`
	Token     string             `json:"token,omitempty"` // of the journal
	At        int64              `json:"at,omitempty"`    // nanoseconds since 1970; commits keep seconds
	Clock     process.Instant    `json:"clock,omitzero"`  // at the time At
	Before    string             `json:"before"`
	After     string             `json:"after"`
	Paths     state.Paths        `json:"paths"`             // changed
	Scope     state.Paths        `json:"scope,omitempty"`   // the paths that an undo, a redo or a merge was limited to
	Created   state.Paths        `json:"created,omitempty"` // those of Paths that did not exist before
	Kept      []state.PathReason `json:"kept,omitempty"`
	Conflicts []state.PathReason `json:"conflicts,omitempty"`
	Git       []string           `json:"git,omitempty"` // what it changed in the user's git repository

	GitConflicts []GitConflict `json:"gitConflicts,omitempty"` // what stayed there

	Outside      string      `json:"outsideRecord,omitempty"` // of what it changed outside the root
	OutsidePaths state.Paths `json:"outside,omitempty"`       // absolute

	Joint *Joint `json:"joint,omitempty"` // of an operation of several roots
}

// AddOperation adds an operation to a batch, after the newest one of the store. s is the state after it.
// Version, time and clock of the record are filled in.
func (r *Store) AddOperation(batch *odb.Batch, s state.State, rec OperationRecord) (object.ID, error) {
	now := r.Now()
	rec.Version, rec.At, rec.Clock = 1, now.UnixNano(), process.Awake()
	q := CommitRequest{Tree: s.Tree, Message: rec.Kind, When: now}
	value, err := json.Marshal(rec)
	if err != nil {
		return object.ID{}, err
	}
	if q.Meta, err = s.Meta.Encode(); err != nil {
		return object.ID{}, err
	}
	q.Extra = []object.Header{{Key: OperationHeader, Value: string(value)}}
	previous, err := r.DB.Ref(RefOperations)
	switch {
	case err == nil:
		q.Parents = append(q.Parents, previous)
	case IsRefusal(err):
		return object.ID{}, err
	case !errors.Is(err, odb.ErrNotFound):
		r.Log.Warn("operations begun anew", "error", err)
	}
	for _, text := range []string{rec.Before, rec.After} {
		id, err := object.ParseID(text)
		if err != nil {
			return object.ID{}, err
		}
		q.Parents = append(q.Parents, id)
	}
	return AddCommit(batch, q)
}

// StateLabel holds the message and author of a checkpoint. Without a message, an unchanged state
// gets no new checkpoint unless Again is set.
type StateLabel struct {
	Message, Author string
	Again           bool
}

// DefaultAuthor is the author of a checkpoint whose caller names none.
const DefaultAuthor = "user"

// Labelled reports whether the caller of a track has given the checkpoint a message.
func Labelled(c *object.CommitData) bool {
	return c.Header(LineHeader) == "" && c.Header(OperationHeader) == "" && c.Author.Name != Identity.Name && strings.TrimSpace(c.Message) != state.NoMessage
}

// AddState adds the commit of a state to a batch and returns its id. It returns the id of the
// previous checkpoint if the state is the same, unless the label has a message or asks for a new one.
func (r *Store) AddState(batch *odb.Batch, s state.State, previous *Checkpoint, label StateLabel) (object.ID, error) {
	meta, err := s.Meta.Encode()
	if err != nil {
		return object.ID{}, err
	}
	if previous != nil && previous.commit.Header(state.MetadataHeader) == meta {
		previous.meta = s.Meta // spares the caller a decoding
		if label.Message == "" && !label.Again && previous.tree == s.Tree {
			return previous.id, nil
		}
	}
	when := r.Now()
	q := CommitRequest{
		Tree: s.Tree, Meta: meta, Message: label.Message, When: when, Extra: []object.Header{atHeader(when)},
		Author: object.Signature{Name: label.Author, Email: "cairn@localhost"},
	}
	if q.Message == "" {
		q.Message = state.NoMessage
	}
	if q.Author.Name == "" {
		q.Author.Name = DefaultAuthor
	}
	if previous != nil {
		q.Parents = []object.ID{previous.id}
	}
	return AddCommit(batch, q)
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
		return 0, nil, fmt.Errorf("%w: %s is a %s, not a blob", state.ErrCorrupt, id, kind)
	}
	return size, rc, nil
}

// originHeader is the extra commit header of an exported checkpoint. It names the checkpoint that
// the exported one was made from.
const originHeader = "cairn-origin"

// WithoutHistory encodes the commit for an export, without parents. A commit that is itself an
// export keeps its origin header.
func WithoutHistory(c *Checkpoint) ([]byte, error) {
	origin := c.ID
	if before := c.commit.Header(originHeader); before != "" && len(c.commit.Parents) == 0 {
		origin = before
	}
	return object.AppendCommit(nil, &object.CommitData{
		Tree: c.tree, Author: c.commit.Author, Committer: c.commit.Committer,
		Extra: []object.Header{
			{Key: state.MetadataHeader, Value: c.commit.Header(state.MetadataHeader)},
			{Key: originHeader, Value: origin},
		},
		Message: c.commit.Message,
	})
}

// Exported returns the id that an exported checkpoint has in the store that it was made in, and the
// checkpoint's own id for any other.
func Exported(c *Checkpoint) string {
	if c.commit != nil && len(c.commit.Parents) == 0 {
		if origin := c.commit.Header(originHeader); origin != "" {
			return origin
		}
	}
	return c.ID
}
