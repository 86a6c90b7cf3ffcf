package history

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Moment is a checkpoint in the order in which the disk had the states of all lines.
type Moment struct {
	ID, Tree object.ID
	Parent   object.ID // the checkpoint before it on its line, zero for the first

	// Same: an event of a line with the state of the event before, that is not known to have been
	// captured. So it says nothing about the disk.
	Same  bool
	Event bool // it is on a line with records
	Tip   bool // it is the newest of such a line

	// Operation is the operation that made the state, "" for none. Restored is also set for a
	// revert of a line whose operation was cleaned away.
	Operation string
	Restored  bool

	at    int64 // nanoseconds; a multiple of a second unless exact
	exact bool
}

// AtHeader is the extra commit header with the nanoseconds of a checkpoint's time. Commits keep
// seconds.
const AtHeader = "cairn-at"

// atHeader returns the header of a time.
func atHeader(when time.Time) object.Header {
	return object.Header{Key: AtHeader, Value: strconv.FormatInt(when.UnixNano(), 10)}
}

// Timeline returns the checkpoints of all lines and the states around operations in the order of
// their times, the oldest first. All of them are states of one disk, and a line keeps its order
// whatever the clock did. Checkpoints of earlier releases have times of whole seconds. Within a
// second a state comes next whose content the disk has already, or whose line comes from there.
func (r *Store) Timeline(ctx context.Context) ([]Moment, error) {
	c := &moments{repo: r, ctx: ctx, ends: r.Ends(), by: make(map[object.ID]*Moment)}
	refs, err := r.refsBelow(RefTracks, RefSessions, RefLost)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if ref.Err != nil {
			r.Log.Warn("line left out", "ref", ref.Name, "error", ref.Err)
			continue
		}
		if err := c.line(ref.ID); err != nil {
			return nil, err
		}
		if m := c.by[ref.ID]; m != nil {
			m.Tip = strings.HasPrefix(ref.Name, RefSessions)
		}
	}
	for op, err := range r.Operations(ctx) {
		if err != nil {
			return nil, err
		}
		if err := c.operation(op); err != nil {
			return nil, err
		}
	}
	return c.inOrder()
}

// Ancestors returns a checkpoint and those before it on its line, the oldest first. It is the
// timeline of a checkpoint that is no state of this disk.
func (r *Store) Ancestors(ctx context.Context, id object.ID) ([]Moment, error) {
	c := &moments{repo: r, ctx: ctx, ends: r.Ends(), by: make(map[object.ID]*Moment)}
	if err := c.line(id); err != nil {
		return nil, err
	}
	if m := c.by[id]; m != nil {
		m.Tip = m.Event
	}
	return c.inOrder()
}

// moments collects a timeline.
type moments struct {
	repo *Store
	ctx  context.Context
	ends Ends
	by   map[object.ID]*Moment
	all  []*Moment
}

// line adds a checkpoint and those before it. A checkpoint that was cleaned away ends it, and so
// does a damaged one: the rest of the history is whole.
func (c *moments) line(id object.ID) error {
	for after := (object.ID{}); !id.IsZero() && c.by[id] == nil; {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		m, err := c.repo.readMoment(id, c.ends)
		if err != nil {
			c.endsEarly(after, id, err)
			return nil
		}
		c.by[id] = m
		c.all = append(c.all, m)
		after, id = id, m.Parent
	}
	return nil
}

// endsEarly tells of a checkpoint that cannot be read: a step that it had may have made what now seems to be the user's
// change. A cleaning that has cut the line below the checkpoint after it in the meantime is no damage.
func (c *moments) endsEarly(after, id object.ID, err error) {
	if errors.Is(err, odb.ErrNotFound) && !c.ends.cut.Has(after) && c.repo.Ends().cut.Has(after) {
		c.repo.Log.Debug("line ends here", "checkpoint", id, "error", err)
		return
	}
	c.repo.Log.Warn("older part of a line left out", "checkpoint", id, "error", err)
}

func (c *moments) operation(op *Operation) error {
	for _, text := range []string{op.Before, op.After} {
		id, err := object.ParseID(text)
		if err != nil {
			continue
		}
		if err := c.line(id); err != nil {
			return err
		}
		if m := c.by[id]; m != nil && text == op.After && op.Before != op.After {
			m.Operation, m.Restored = op.ID, true
			if !m.exact {
				m.at, m.exact = op.When.UnixNano(), op.When.Nanosecond() != 0
			}
		}
	}
	return nil
}

// readMoment reads a checkpoint as a Moment. Its parent is one whose state is there.
func (r *Store) readMoment(id object.ID, ends Ends) (*Moment, error) {
	kind, data, err := r.DB.Read(id)
	if err != nil {
		return nil, err
	}
	if kind != object.Commit {
		return nil, odb.ErrNotFound
	}
	head, _, _ := strings.Cut(string(data), "\n\n")
	m := &Moment{ID: id}
	own := false
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			m.Tree, err = object.ParseID(value)
		case "parent":
			if m.Parent.IsZero() {
				m.Parent, err = object.ParseID(value)
			}
		case "committer":
			m.setTime(value)
		case AtHeader:
			m.setExact(value)
		case LineHeader:
			m.Event, m.Same = true, !captured(value) // the latter until the parent is known
			m.setLine(value)
		case state.MetadataHeader:
			own = true
		}
		if err != nil {
			return nil, err
		}
	}
	if !own {
		return nil, errors.New("not a checkpoint")
	}
	if ends.Has(id, []object.ID{m.Parent}) {
		m.Parent = object.ID{}
	} else if ends.thinned != nil && !m.Parent.IsZero() {
		m.Parent, _ = r.kept(ends, m.Parent)
	}
	return m, nil
}

// setTime reads the seconds of "name <email> seconds zone".
func (m *Moment) setTime(signature string) {
	fields := strings.Fields(signature[strings.LastIndexByte(signature, '>')+1:])
	if len(fields) > 0 && !m.exact {
		seconds, _ := strconv.ParseInt(fields[0], 10, 64)
		m.at = seconds * int64(time.Second)
	}
}

func (m *Moment) setExact(text string) {
	if at, ok := headerTime(text); ok {
		m.at, m.exact = at, true
	}
}

// setLine reads two fields of a LineRecord. Records are long and there are thousands of them, so
// nothing else is decoded.
func (m *Moment) setLine(record string) {
	if at, ok := lineTime(record); ok {
		m.at, m.exact = at, true
	}
	m.Restored = strings.Contains(record, `,"before":"`) // no other field has this name
}

// beforeLineTime begins a LineRecord.
const beforeLineTime = `{"v":1,"at":`

// lineTime reads the time of a LineRecord in nanoseconds.
func lineTime(record string) (int64, bool) {
	rest, ok := strings.CutPrefix(record, beforeLineTime)
	if !ok {
		return 0, false
	}
	return leadingNumber(rest)
}

// captured reports whether a LineRecord says that its state was captured. Earlier releases do not say it.
func captured(record string) bool {
	rest, _ := strings.CutPrefix(record, beforeLineTime)
	return strings.HasPrefix(strings.TrimLeft(rest, "0123456789"), `,"captured":true`)
}

// operationTime reads the time of an OperationRecord in nanoseconds. Records may list thousands of paths, so nothing
// else is decoded. No text before the time holds its key: JSON puts a backslash before a quotation mark in a text.
func operationTime(record string) (int64, bool) {
	_, rest, ok := strings.Cut(record, `,"at":`)
	if !ok {
		return 0, false
	}
	return leadingNumber(rest)
}

// leadingNumber reads a number that ends with its member or its object.
func leadingNumber(text string) (int64, bool) {
	number, _, _ := strings.Cut(text, ",")
	at, err := strconv.ParseInt(strings.TrimSuffix(number, "}"), 10, 64)
	return at, err == nil
}
