package session

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/takenback"
)

// turnsBack knows which parts of turns operations have taken back.
type turnsBack struct {
	*takenback.Back
	operations *takenback.Operations
}

// leftOf is what is left of the changes of a turn after the operations since its end: a hunk, a file
// or a step that the user has taken back is not committed.
func (c *turnCommitter) leftOf(ctx context.Context, ways [][]cairn.Change, ended int64) (left [][]cairn.Change, err error) {
	operations, err := c.back.operations.Since(ctx, time.Unix(0, ended))
	if err != nil || len(operations) == 0 {
		return ways, err
	}
	for _, way := range ways {
		since := takenback.At(way[0].Path, operations)
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

func (c *turnCommitter) newTurnsBack() *turnsBack {
	back := &takenback.Back{Read: takenback.Texts(c.lines.OpenBlob), Made: make(map[string][]byte)}
	return &turnsBack{back, takenback.NewOperations(c.repo)}
}

// openBlob opens a captured blob, or a content that a turn was left with.
func (c *turnCommitter) openBlob(id string) (int64, io.ReadCloser, error) {
	if content, made := c.back.Made[id]; made {
		return int64(len(content)), io.NopCloser(bytes.NewReader(content)), nil
	}
	return c.lines.OpenBlob(id)
}
