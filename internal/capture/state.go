package capture

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// StateOf returns the state of a checkpoint, or captures the disk if spec is empty.
func (r *Capturer) StateOf(ctx context.Context, spec string) (state.State, error) {
	if spec == "" {
		return r.diskState(ctx)
	}
	c, err := r.Lookup(ctx, spec)
	if err != nil {
		return state.State{}, err
	}
	return history.StateOf(c)
}

// diskState captures the disk without making a checkpoint.
func (r *Capturer) diskState(ctx context.Context) (s state.State, err error) {
	err = r.Capturing(ctx, func(l *history.Locked) error {
		c, err := r.Capture(ctx, l, Options{})
		if err != nil {
			return err
		}
		defer c.Discard()
		s = c.State()
		return c.Publish(ctx, l)
	})
	return s, err
}
