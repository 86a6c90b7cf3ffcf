package takenback

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// History has the operations of a root, newest first, and tells what they changed.
type History interface {
	Operations(ctx context.Context) iter.Seq2[*history.Operation, error]
	Changes(ctx context.Context, from, to string, paths ...string) ([]history.Change, error)
	Lookup(ctx context.Context, spec string) (*history.Checkpoint, error)
}

// Operation is what an operation changed.
type Operation struct {
	changes []history.Change

	// A restore or revert has a target. Paths that differ from it afterwards have kept something else.
	target int64           // its time in nanoseconds since 1970, 0 for none
	differ map[string]bool // from the target
}

// Change is what an operation changed at a path.
type Change struct {
	history.Change
	Whole bool // the path is again as it was before the change in question
}

// Operations knows what operations changed. Several goroutines may ask at once.
type Operations struct {
	from History

	mu    sync.Mutex
	known map[string]*Operation // by id
}

// NewOperations returns the operations of a history, of which it has read none yet.
func NewOperations(from History) *Operations {
	return &Operations{from: from, known: make(map[string]*Operation)}
}

// Since lists the operations after a time, the oldest first. The states of an operation may be gone:
// then it has taken nothing back.
func (o *Operations) Since(ctx context.Context, when time.Time) (list []*Operation, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for op, err := range o.from.Operations(ctx) {
		if err != nil {
			return nil, err
		}
		if !op.When.After(when) {
			break
		}
		if o.known[op.ID] == nil {
			if o.known[op.ID], err = o.read(ctx, op); err != nil {
				return nil, err
			}
		}
		list = append(list, o.known[op.ID])
	}
	slices.Reverse(list)
	return list, nil
}

func (o *Operations) read(ctx context.Context, op *history.Operation) (*Operation, error) {
	out := &Operation{differ: make(map[string]bool)}
	var err error
	if out.changes, err = o.from.Changes(ctx, op.Before, op.After); err != nil {
		return out, ignoreGone(err)
	}
	if op.Kind != "restore" && op.Kind != "revert" || op.Target == "" {
		return out, nil
	}
	target, err := o.from.Lookup(ctx, op.Target)
	if err != nil {
		return out, ignoreGone(err)
	}
	differing, err := o.from.Changes(ctx, op.Target, op.After)
	if err != nil {
		return out, ignoreGone(err)
	}
	for i := range differing {
		out.differ[differing[i].Path] = true
	}
	out.target = target.At()
	return out, nil
}

// ignoreGone drops the error about a state that a cleaning has removed.
func ignoreGone(err error) error {
	if errors.Is(err, state.ErrNotFound) {
		return nil
	}
	return err
}

// At picks the changes of a path out of those of operations. begun is the time before a change in
// question: an operation that brought the path back to a state from then has taken all of it back.
func At(path string, begun time.Time, operations []*Operation) (list []Change) {
	for _, op := range operations {
		at := slices.IndexFunc(op.changes, func(o history.Change) bool { return o.Path == path })
		if at >= 0 {
			whole := op.target != 0 && op.target <= begun.UnixNano() && !op.differ[path]
			list = append(list, Change{op.changes[at], whole})
		}
	}
	return list
}

// maxText is the size up to which a text is looked at for places that were taken back.
const maxText = 32 << 20

// Texts reads the blobs that open opens, nil for one that is too large to be merged.
func Texts(open func(id string) (int64, io.ReadCloser, error)) func(id string) ([]byte, error) {
	return func(id string) ([]byte, error) {
		size, content, err := open(id)
		if err != nil {
			return nil, err
		}
		defer content.Close()
		if size > maxText {
			return nil, nil
		}
		text, err := io.ReadAll(content)
		return append([]byte{}, text...), err
	}
}
