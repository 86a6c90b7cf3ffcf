package session

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gitcommit"
)

// maxTakenBack is the size up to which a text is looked at for places that were taken back.
const maxTakenBack = 32 << 20

// takenBack knows which parts of turns operations have taken back.
type takenBack struct {
	*gitcommit.Back
	changes map[string][]cairn.Change // of an operation, by its id
}

// leftOf is what is left of the changes of a turn after the operations since its end: a hunk, a file
// or a step that the user has taken back is not committed.
func (c *turnCommitter) leftOf(ctx context.Context, ways [][]cairn.Change, ended int64) (left [][]cairn.Change, err error) {
	operations, err := c.operationsSince(ctx, ended)
	if err != nil || len(operations) == 0 {
		return ways, err
	}
	for _, way := range ways {
		var since []cairn.Change
		for _, list := range operations {
			at := slices.IndexFunc(list, func(o cairn.Change) bool { return o.Path == way[0].Path })
			if at >= 0 {
				since = append(since, list[at])
			}
		}
		var rest []cairn.Change
		for _, change := range way {
			if change, err = c.back.Left(change, since); err != nil {
				return nil, err
			}
			if change.OldID != change.NewID || change.OldMode != change.NewMode {
				rest = append(rest, change)
			}
		}
		if len(rest) > 0 {
			left = append(left, rest)
		}
	}
	return left, nil
}

// operationsSince lists the changes of the operations after a time, the oldest first. The states of an
// operation may be gone: then it takes nothing out of a commit.
func (c *turnCommitter) operationsSince(ctx context.Context, since int64) (list [][]cairn.Change, err error) {
	for op, err := range c.repo.Operations(ctx) {
		if err != nil {
			return nil, err
		}
		if op.When.UnixNano() <= since {
			break
		}
		changes, known := c.back.changes[op.ID]
		if !known {
			changes, err = c.repo.Changes(ctx, op.Before, op.After)
			if err != nil && !errors.Is(err, cairn.ErrNotFound) {
				return nil, err
			}
			c.back.changes[op.ID] = changes
		}
		list = append(list, changes)
	}
	slices.Reverse(list)
	return list, nil
}

func (c *turnCommitter) newTakenBack() *takenBack {
	return &takenBack{&gitcommit.Back{Read: c.readText, Made: make(map[string][]byte)}, make(map[string][]cairn.Change)}
}

// readText reads a captured blob, nil for one that is too large.
func (c *turnCommitter) readText(id string) ([]byte, error) {
	size, content, err := c.lines.OpenBlob(id)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	if size > maxTakenBack {
		return nil, nil
	}
	text, err := io.ReadAll(content)
	return append([]byte{}, text...), err
}

// openBlob opens a captured blob, or a content that a turn was left with.
func (c *turnCommitter) openBlob(id string) (int64, io.ReadCloser, error) {
	if content, made := c.back.Made[id]; made {
		return int64(len(content)), io.NopCloser(bytes.NewReader(content)), nil
	}
	return c.lines.OpenBlob(id)
}
