//go:build unix

package programmodel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// history is a seed and which of its steps are played.
type history struct {
	seed  uint64
	steps []int
}

// finding is a broken promise and what led to it.
type finding struct {
	rule    string // which promise; a shortened history has to break the same one
	text    string
	history history
	log     []string
}

// action is something that a step may do.
type action struct {
	weight int
	do     func(*world)
}

var actions = []action{
	{30, (*world).edit}, {6, (*world).editRules}, {6, (*world).userGit},
	{10, (*world).track}, {8, (*world).restore}, {5, (*world).revertRange}, {9, (*world).undo}, {5, (*world).redo},
	{4, (*world).thereAndBack}, {4, (*world).killed}, {2, (*world).clean}, {2, (*world).checkStore},
	{10, (*world).agentGoesOn}, {5, (*world).sessionBack}, {2, (*world).server}, {4, (*world).revertPatches},
}

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

func pickAction(rng *rand.Rand) func(*world) {
	sum := 0
	for _, a := range actions {
		sum += a.weight
	}
	n := rng.IntN(sum)
	for _, a := range actions {
		if n -= a.weight; n < 0 {
			return a.do
		}
	}
	panic("unreachable")
}

// play goes through a history. It returns what it found, nil if all promises held,
// and how many steps it took.
func play(t *testing.T, h history) (found *finding, steps int) {
	w := newWorld(t, h.seed)
	defer w.end()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *finding:
			r.history, r.log = h, w.log
			r.history.steps = slices.DeleteFunc(slices.Clone(h.steps), func(n int) bool { return n > w.step })
			found = r
		default:
			panic(r)
		}
	}()
	for _, n := range h.steps {
		w.begin(n)
		pickAction(w.rng)(w)
		steps++
	}
	w.step = historySteps
	w.lastLook()
	return nil, steps
}

// fail ends the history with a finding.
func (w *world) fail(rule, format string, args ...any) {
	panic(&finding{rule: rule, text: fmt.Sprintf(format, args...)})
}

// shortenings bounds how often a history is played to shorten it.
const shortenings = 40

// shorten leaves out steps as long as the same rule breaks.
func shorten(t *testing.T, h history, found *finding) *finding {
	best := found
	tries := 0
	for size := len(best.history.steps) / 2; size > 0 && tries < shortenings; {
		shorter := false
		for at := 0; at+size <= len(best.history.steps) && tries < shortenings; {
			try := history{h.seed, slices.Delete(slices.Clone(best.history.steps), at, at+size)}
			tries++
			if f, _ := play(t, try); f != nil && f.rule == found.rule {
				best, shorter = f, true
				continue
			}
			at += size
		}
		if !shorter || size > len(best.history.steps) {
			size /= 2
		}
	}
	return best
}
