package trial

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Errors of a search.
var (
	// ErrPasses: the command passes at the end, so nothing broke.
	ErrPasses = errors.New("the command passes")
	// ErrFails: the command fails at the beginning already.
	ErrFails = errors.New("the command fails already")
	// ErrUntestable: an end cannot be tested, or the command did not end by itself.
	ErrUntestable = errors.New("no result")
)

// abort is the lowest status that ends a search, 128 in git bisect run: the command was killed, or was
// not there.
const abort = 126

// Result is what a search has found.
type Result struct {
	Good *cairn.Checkpoint `json:"good" doc:"The last state at which the command passed."`

	// First is nil if states before the first failure cannot be tested. It is one of Candidates then.
	First      *cairn.Checkpoint   `json:"first,omitempty" doc:"The first state at which the command fails. None if states before it cannot be tested."`
	Candidates []*cairn.Checkpoint `json:"candidates" doc:"The states one of which is the first; one if it is known."`

	Steps  int `json:"steps" doc:"States from the first to the last one."`
	Tested int `json:"tested" doc:"How often the command ran."`
	Reused int `json:"reused" doc:"Results that were noted before."`
}

// Bisect searches steps, of which the command passes at the first and fails at the last, for the first
// one at which it fails. The function test returns the exit status for a step.
func Bisect(ctx context.Context, steps []*cairn.Checkpoint, test func(context.Context, *cairn.Checkpoint) (int, error)) (*Result, error) {
	b := &bisection{ctx: ctx, steps: steps, test: test, skipped: make(map[int]bool)}
	if err := b.ends(); err != nil {
		return nil, err
	}
	good, bad := 0, len(steps)-1
	for {
		i, ok := b.next(good, bad)
		if !ok {
			break
		}
		status, err := b.status(i)
		switch {
		case err != nil:
			return nil, err
		case status == 0:
			good = i
		case status == history.TestSkipped:
			b.skipped[i] = true
		default:
			bad = i
		}
	}
	out := &Result{Good: steps[good], Candidates: steps[good+1 : bad+1], Steps: len(steps)}
	if bad == good+1 {
		out.First = steps[bad]
	}
	return out, nil
}

type bisection struct {
	ctx     context.Context
	steps   []*cairn.Checkpoint
	test    func(context.Context, *cairn.Checkpoint) (int, error)
	skipped map[int]bool
}

// ends makes sure of what a search takes for granted.
func (b *bisection) ends() error {
	if len(b.steps) < 2 {
		return fmt.Errorf("%w: there is one state only", ErrUntestable)
	}
	for _, end := range []struct {
		at   int
		pass bool
		err  error
	}{{len(b.steps) - 1, false, ErrPasses}, {0, true, ErrFails}} {
		status, err := b.status(end.at)
		switch {
		case err != nil:
			return err
		case status == history.TestSkipped:
			return fmt.Errorf("%w: %s cannot be tested", ErrUntestable, short(b.steps[end.at]))
		case end.pass != (status == 0):
			return fmt.Errorf("%w at %s", end.err, short(b.steps[end.at]))
		}
	}
	return nil
}

// status tries a step. The status of a command that was interrupted says nothing about the step.
func (b *bisection) status(i int) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	status, err := b.test(b.ctx, b.steps[i])
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if err == nil && (status < 0 || status >= abort) {
		err = fmt.Errorf("%w: the command ended with status %d at %s", ErrUntestable, status, short(b.steps[i]))
	}
	return status, err
}

// next returns the step between two others that is nearest to their middle and not skipped.
func (b *bisection) next(good, bad int) (int, bool) {
	middle := good + (bad-good)/2
	for away := 0; away <= bad-good; away++ {
		for _, i := range []int{middle - away, middle + away} {
			if i > good && i < bad && !b.skipped[i] {
				return i, true
			}
		}
	}
	return 0, false
}
