package ticket

import (
	"context"
	"encoding/json"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Doer does on one root what tickets ask for.
type Doer interface {
	Track(context.Context, cairn.TrackOptions) (*cairn.TrackResult, error)
	BeginStep(context.Context, session.StepBegin) (*session.Step, error)
	AddMessage(context.Context, session.SessionBegin, session.MessageBegin) (*session.Message, error)
	EndStep(context.Context, session.StepEnd) (*session.Step, error)
}

// Run lets d do what the request of a ticket asks for, and returns the answer. A step
// begins or ends, and a message is recorded, after the work of older tickets of the session; work does
// that. When ctx
// ends before the work is done, there is no answer, and the error is that of ctx.
func (b Book) Run(ctx context.Context, id string, r *Request, d Doer, work func(id string) Work) (*Answer, error) {
	result, err := b.run(ctx, id, r, d, work)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	a := new(Answer)
	if err == nil {
		a.Result, err = json.Marshal(result)
	}
	if err != nil {
		return Failed(err), nil
	}
	return a, nil
}

func (b Book) run(ctx context.Context, id string, r *Request, d Doer, work func(id string) Work) (any, error) {
	if of := r.session(); of != "" {
		if err := b.FinishSteps(ctx, string(r.Root), of, id, work); err != nil {
			return nil, err
		}
	}
	switch {
	case r.Step != nil:
		return d.BeginStep(ctx, r.Step.Begin())
	case r.Message != nil:
		begin, message := r.Message.Add()
		return d.AddMessage(ctx, begin, message)
	case r.End != nil:
		st, err := d.EndStep(ctx, r.End.End())
		if err == nil {
			st.Patch.Files = nil // there may be very many, and the session has them
		}
		return st, err
	}
	if r.Track.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Track.Timeout)
		defer cancel()
	}
	t, err := d.Track(ctx, r.Track.Options())
	if err != nil {
		return nil, err
	}
	return protocol.Track{TrackResult: *t, Rest: r.Rest}, nil
}
