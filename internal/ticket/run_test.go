package ticket

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/session"
)

// doer notes what it is asked for. It fails with err.
type doer struct {
	err       error
	tracks    []cairn.TrackOptions
	limited   bool // the last track had a deadline
	steps     []string
	meanwhile func() // runs inside a call
}

func (d *doer) Track(ctx context.Context, opt cairn.TrackOptions) (*cairn.TrackResult, error) {
	d.tracks = append(d.tracks, opt)
	_, d.limited = ctx.Deadline()
	if d.meanwhile != nil {
		d.meanwhile()
	}
	return &cairn.TrackResult{Hash: "h"}, d.err
}

func (d *doer) BeginStep(_ context.Context, b session.StepBegin) (*session.Step, error) {
	d.steps = append(d.steps, b.Step)
	return &session.Step{ID: b.Step, Session: b.Session}, d.err
}

func (d *doer) AddMessage(_ context.Context, b session.SessionBegin, m session.MessageBegin) (*session.Message, error) {
	d.steps = append(d.steps, b.Meta["agent"]+" "+m.Message+" "+m.Prompt)
	return &session.Message{ID: m.Message}, d.err
}

func (d *doer) EndStep(_ context.Context, e session.StepEnd) (*session.Step, error) {
	d.steps = append(d.steps, "end "+e.Step)
	st := &session.Step{ID: e.Step, Session: e.Session, Message: "m"}
	st.Patch.Files = []string{"/r/a"}
	return st, d.err
}

// runs is the Work of tickets that d does.
func (b Book) runs(d Doer) func(id string) Work {
	return func(id string) Work {
		return func(ctx context.Context, r *Request, _ bool) (*Answer, error) { return b.Run(ctx, id, r, d, b.runs(d)) }
	}
}

// TestRunTrack: a track has the options and the time of its request, and the answer
// names the ticket of the rest.
func TestRunTrack(t *testing.T) {
	t.Parallel()
	b, d := newBook(t), &doer{}
	r := track("/r")
	r.Track = NewTrack(cairn.TrackOptions{Message: "m", Paths: []string{"a\xff"}, OnlyPaths: true}, time.Hour)
	id, rest, err := b.MakeWithRest(r)
	if err != nil {
		t.Fatal(err)
	}
	a, err := b.Finish(t.Context(), id, b.runs(d)(id))
	if err != nil || a.Err() != nil {
		t.Fatal(err, a)
	}
	var got protocol.Track
	if err := json.Unmarshal(a.Result, &got); err != nil || got.Hash != "h" || got.Rest != rest || !d.limited {
		t.Errorf("%+v, %v, limited %v", got, err, d.limited)
	}
	if _, err := b.Finish(t.Context(), rest, b.runs(d)(rest)); err != nil || d.limited {
		t.Errorf("%v, limited %v", err, d.limited)
	}
	if len(d.tracks) != 2 || !slices.Equal(d.tracks[0].Paths, []string{"a\xff"}) || !d.tracks[0].OnlyPaths || d.tracks[1].Paths != nil || d.tracks[1].OnlyPaths {
		t.Errorf("%+v", d.tracks)
	}
}

// TestRunStep: a step begins after the older steps of its session and of no other.
func TestRunStep(t *testing.T) {
	t.Parallel()
	b, d := newBook(t), &doer{}
	var ids []string
	for _, name := range []string{"1", "2", "3"} {
		ids = append(ids, b.must(t, &Request{Root: "/r", Step: NewStep(session.StepBegin{Session: "s", Step: name})}))
		b.must(t, &Request{Root: "/r", Step: NewStep(session.StepBegin{Session: "other", Step: "of another"})})
	}
	_, pending, err := b.Steps("/r", "s")
	if err != nil || len(pending) != 3 {
		t.Fatal(pending, err)
	}
	last := pending[1]
	if _, err := b.Finish(t.Context(), last, b.runs(d)(last)); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{ids[0]: "1", ids[1]: "2", ids[2]: "3"}
	if want := []string{names[pending[0]], names[last]}; !slices.Equal(d.steps, want) {
		t.Errorf("the steps %q have begun, want %q", d.steps, want)
	}
}

// TestFinishAll: all work of a root is done, each once, and none of another root. A failure keeps none of the rest.
func TestFinishAll(t *testing.T) {
	t.Parallel()
	b, d := newBook(t), &doer{err: errors.New("failed")}
	for range 2 {
		for _, r := range []*Request{track("/r"), {Root: "/r", Step: NewStep(session.StepBegin{Session: "s", Step: "1"})}, track("/other")} {
			b.must(t, r)
		}
		if err := b.FinishAll(t.Context(), "/r", b.runs(d)); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.tracks) != 2 || len(d.steps) != 2 {
		t.Errorf("%d tracks, steps %q", len(d.tracks), d.steps)
	}
}

// TestRunFails: work that fails is answered with one fault for each error; work that is
// interrupted has no answer.
func TestRunFails(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	d := &doer{err: errors.Join(cairn.ErrNoSpace, errors.New("and another"))}
	id := b.must(t, track("/r"))
	a, err := b.Finish(t.Context(), id, b.runs(d)(id))
	if err != nil || len(a.Faults) != 2 || !errors.Is(a.Err(), cairn.ErrNoSpace) || a.Err().Error() != d.err.Error() {
		t.Errorf("%+v, %v", a, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	d.meanwhile = cancel
	id = b.must(t, track("/r"))
	if _, err := b.Finish(ctx, id, b.runs(d)(id)); !errors.Is(err, context.Canceled) || b.Answer(id) != nil {
		t.Errorf("%v, answer %+v", err, b.Answer(id))
	}
}

// TestStepThroughRequest: the beginning of a step comes back as it was.
func TestStepThroughRequest(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	want := session.StepBegin{
		Session: "s", Message: "m", Role: session.RoleUser, Step: "1", Prompt: "p", Paths: []string{"a\xff"}, Meta: map[string]string{"k": "v"},
		Owner: &session.Owner{Lease: time.Minute, Processes: []session.Process{{PID: 7, Start: "8"}}},
	}
	r, err := b.Request(b.must(t, &Request{Root: "/r", Step: NewStep(want)}))
	if err != nil {
		t.Fatal(err)
	}
	got := r.Step.Begin()
	if !slices.Equal(got.Paths, want.Paths) || got.Meta["k"] != "v" || got.Owner.Lease != want.Owner.Lease || !slices.Equal(got.Owner.Processes, want.Owner.Processes) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got.Session != "s" || got.Message != "m" || got.Role != session.RoleUser || got.Step != "1" || got.Prompt != "p" {
		t.Errorf("%+v, want %+v", got, want)
	}
}
