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
}

// Operations knows what operations changed. Several goroutines may ask at once.
type Operations struct {
	from History

	mu      sync.Mutex
	changes map[string][]history.Change // by the id of the operation
}

// NewOperations returns the operations of a history, of which it has read none yet.
func NewOperations(from History) *Operations {
	return &Operations{from: from, changes: make(map[string][]history.Change)}
}

// Since lists the changes of the operations after a time, the oldest first. The states of an operation
// may be gone: then it has taken nothing back.
func (o *Operations) Since(ctx context.Context, when time.Time) (list [][]history.Change, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for op, err := range o.from.Operations(ctx) {
		if err != nil {
			return nil, err
		}
		if !op.When.After(when) {
			break
		}
		changes, known := o.changes[op.ID]
		if !known {
			changes, err = o.from.Changes(ctx, op.Before, op.After)
			if err != nil && !errors.Is(err, state.ErrNotFound) {
				return nil, err
			}
			o.changes[op.ID] = changes
		}
		list = append(list, changes)
	}
	slices.Reverse(list)
	return list, nil
}

// At picks the changes of a path out of those of operations.
func At(path string, operations [][]history.Change) (list []history.Change) {
	for _, changes := range operations {
		if at := slices.IndexFunc(changes, func(o history.Change) bool { return o.Path == path }); at >= 0 {
			list = append(list, changes[at])
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
