package history

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Refs and headers of lines with records.
const (
	RefSessions = RefRoot + "sessions/" // lines with records, see LineRef

	// LineHeader is the extra commit header of a checkpoint on a line with records.
	LineHeader  = "cairn-line"
	LineVersion = 1
)

// LineRecord is the JSON value of LineHeader.
type LineRecord struct {
	Version  int             `json:"v"`
	At       int64           `json:"at,omitempty"`       // nanoseconds since 1970; commits keep seconds
	Captured bool            `json:"captured,omitempty"` // the state was read from the disk then
	Record   json.RawMessage `json:"record,omitempty"`

	// Set for a checkpoint that a revert made, see LineEvent.
	Before  string      `json:"before,omitempty"`
	Wanted  string      `json:"wanted,omitempty"`
	Paths   state.Paths `json:"paths,omitempty"`
	Unmoved state.Paths `json:"unmoved,omitempty"`
	Created state.Paths `json:"created,omitempty"`

	Outside []string `json:"outside,omitempty"` // ids of records, see RefOutside
}

// LineEvent is one checkpoint of a line with records. Such a line tells the history of a root in
// one context, for instance in an agent's session. The owner of the line appends a record of its
// own to each checkpoint. Package cairn keeps the states. A revert changes the disk and the line as
// one.
type LineEvent struct {
	*Checkpoint

	OnLine bool // false for a checkpoint that is on no line with records, such as a day's

	// Record is the value that was given to Append or TakeBack. It is nil for a state that was only
	// saved before a revert.
	Record json.RawMessage

	// Set for a revert. Before is the state before it, and Wanted the state that it was to reach.
	// Paths are those that differ between Wanted and the state that was wanted before. Unmoved are
	// those of Paths that were left alone because another writer had changed them. Created are the
	// paths that the revert made where nothing existed.
	Before  string
	Wanted  string
	Paths   []string
	Unmoved []string
	Created []string

	Outside []string // ids of the records of paths outside the root that the event names
}

// LineRef returns the ref of a line, for instance for git log. The id may be any text but the empty
// one. An id that is too long for a ref is replaced by '+' and its hash; no encoded name begins
// with '+'.
func LineRef(id string) string {
	name := encodeName(id)
	if len(name) > pieceLength {
		sum := sha256.Sum256([]byte(id))
		name = "+" + hex.EncodeToString(sum[:])
	}
	return RefSessions + name
}

// BeginningDigits is the number of digits of an id that tell two beginnings of a line apart.
const BeginningDigits = 12

// FirstName is the name of a line without the id of its second beginning: a line that was begun again, or that a purge
// has rewritten, has a second name on a remote, which is its own with a hyphen and an id.
func FirstName(name string) string {
	at := len(name) - BeginningDigits - 1
	if at <= 0 || name[at] != '-' || strings.Trim(name[at+1:], "0123456789abcdef") != "" {
		return name
	}
	return name[:at]
}

// ReadLineEvent reads a checkpoint and the record of its line, if it has one.
func (r *Store) ReadLineEvent(id object.ID) (*LineEvent, error) { return r.readEvent(id, r.Ends()) }

// readEvent is ReadLineEvent with the ends of lines.
func (r *Store) readEvent(id object.ID, ends Ends) (*LineEvent, error) {
	c, err := r.readBy(id, ends)
	if errors.Is(err, odb.ErrNotFound) {
		return nil, state.NotFound("checkpoint %s, which has been cleaned away", id)
	}
	if err != nil {
		return nil, err
	}
	e := &LineEvent{Checkpoint: c}
	value := c.commit.Header(LineHeader)
	if value == "" {
		return e, nil
	}
	var rec LineRecord
	if err := json.Unmarshal([]byte(value), &rec); err != nil {
		return nil, fmt.Errorf("%w: record of checkpoint %s: %w", state.ErrCorrupt, id, err)
	}
	if rec.Version != LineVersion {
		return nil, state.LaterRelease("record of version %d in checkpoint %s", rec.Version, id)
	}
	e.OnLine = true
	e.Record, e.Before, e.Wanted = rec.Record, rec.Before, rec.Wanted
	e.Paths, e.Unmoved, e.Created, e.Outside = rec.Paths, rec.Unmoved, rec.Created, rec.Outside
	return e, nil
}

// CheckVersions returns an error that wraps state.ErrLater if a later release has made a checkpoint's commit.
func CheckVersions(c *object.CommitData) error {
	if value := c.Header(state.MetadataHeader); value != "" {
		if _, err := state.DecodeMetadata(value); errors.Is(err, state.ErrLater) {
			return err
		}
	}
	var rec LineRecord
	value := c.Header(LineHeader)
	if value == "" || json.Unmarshal([]byte(value), &rec) != nil || rec.Version <= LineVersion {
		return nil
	}
	return state.LaterRelease("record of version %d", rec.Version)
}

// LineTip returns the newest checkpoint of a line. The error wraps ErrNotFound where
// there is no such line, and ErrCorrupt where the store has lost the checkpoint.
func (r *Store) LineTip(id string) (*LineEvent, error) {
	commit, err := r.DB.Ref(LineRef(id))
	if errors.Is(err, odb.ErrNotFound) {
		return nil, state.NotFound("line %q", id)
	}
	if err != nil {
		return nil, err
	}
	e, err := r.ReadLineEvent(commit)
	if errors.Is(err, state.ErrNotFound) {
		return nil, fmt.Errorf("%w: the newest checkpoint %s of line %q is missing (%s)", state.ErrCorrupt, commit, id, state.MendHint)
	}
	return e, err
}

// LineEvent returns a checkpoint by its full id, with the record of its line.
func (r *Store) LineEvent(id string) (*LineEvent, error) {
	commit, err := object.ParseID(id)
	if err != nil {
		return nil, state.NotFound("checkpoint %q", id)
	}
	return r.ReadLineEvent(commit)
}

// LineEnds returns the first checkpoints of the lines whose older checkpoints were cleaned away.
func (r *Store) LineEnds(ctx context.Context) ([]*LineEvent, error) {
	ids, err := r.DB.Shallow()
	if err != nil {
		return nil, err
	}
	var ends []*LineEvent
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e, err := r.ReadLineEvent(id)
		if errors.Is(err, state.ErrNotFound) || err == nil && !e.before.IsZero() {
			continue // its line is gone, too, or goes on with thinned ones
		}
		if err != nil {
			return nil, err
		}
		ends = append(ends, e)
	}
	return ends, nil
}

// Tip is the newest checkpoint of a line, or why it cannot be read.
type Tip struct {
	Line  string     // id of the line, or the name of its ref where that does not tell the id
	ID    string     // of the checkpoint, "" where Err is set
	Event *LineEvent // nil where Err is set, and for a checkpoint that the caller knows
	Err   error
}

// LineTips returns the newest checkpoint of every line with records. One that cannot be read is logged, too. One that
// the caller knows by its id is not read.
func (r *Store) LineTips(ctx context.Context, known func(id string) bool) ([]Tip, error) {
	refs, err := r.DB.Refs(RefSessions)
	if err != nil {
		return nil, err
	}
	var tips []Tip
	for _, ref := range refs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tip := Tip{ID: ref.ID.String(), Err: ref.Err}
		if tip.Err == nil && !known(tip.ID) {
			tip.Event, tip.Err = r.ReadLineEvent(ref.ID)
		}
		if tip.Err != nil {
			tip.ID = ""
			r.Log.Warn("line left out", "ref", ref.Name, "error", tip.Err)
		}
		name := strings.TrimPrefix(ref.Name, RefSessions)
		var ok bool
		if tip.Line, ok = decodeName(name); !ok {
			tip.Line = name
		}
		tips = append(tips, tip)
	}
	return tips, nil
}

// Line yields a checkpoint of a line and those before it, newest first, thinned ones, too. If older
// ones were cleaned away, the last error wraps ErrNotFound.
func (r *Store) Line(ctx context.Context, from string) iter.Seq2[*LineEvent, error] {
	return func(yield func(*LineEvent, error) bool) {
		id, err := object.ParseID(from)
		ends := r.Ends()
		for from != "" && (err != nil || !id.IsZero()) {
			if err == nil {
				err = ctx.Err()
			}
			var e *LineEvent
			if err == nil {
				e, err = r.readEvent(id, ends)
			}
			if !yield(e, err) || err != nil {
				return
			}
			id = e.before
		}
	}
}

// Undone reports for some operations whether they are undone at present. An operation is named by
// the checkpoint after it. An operation that was cleaned away counts as not undone.
func (r *Store) Undone(ctx context.Context, after ...string) (map[string]bool, error) {
	undone, missing := make(map[string]bool), make(map[string]bool)
	for _, id := range after {
		missing[id] = true
	}
	if len(missing) == 0 {
		return undone, nil
	}
	taken := make(map[string]bool) // operations that were undone; an undo is newer than its operation, so the loop meets it first
	for op, err := range r.Operations(ctx) {
		if err != nil {
			return nil, err
		}
		if op.Undoes != "" && len(op.scope) == 0 && !taken[op.ID] {
			taken[op.Undoes] = true
		}
		if !missing[op.After] {
			continue
		}
		undone[op.After] = taken[op.ID]
		if delete(missing, op.After); len(missing) == 0 {
			break
		}
	}
	return undone, nil
}

// Wanted returns the checkpoint of the state that a revert was to reach.
func Wanted(e *LineEvent) string {
	if e.Wanted != "" {
		return e.Wanted
	}
	return e.ID
}
