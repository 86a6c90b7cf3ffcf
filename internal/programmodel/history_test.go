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

// action is something that a step may do. A history that has a focus does it more often.
type action struct {
	weight int
	do     func(*world)
	focus  string
}

// focuses are what histories may have in view, most of them nothing.
var focuses = []string{"", "", "", "sessions", "rules", "ways back"}

var actions = []action{
	{30, (*world).edit, ""}, {6, (*world).editRules, "rules"}, {6, (*world).userGit, ""},
	{10, (*world).track, "rules"}, {8, (*world).restore, "ways back"}, {5, (*world).revertRange, "ways back"}, {9, (*world).undo, "ways back"}, {5, (*world).redo, "ways back"},
	{4, (*world).thereAndBack, "ways back"}, {4, (*world).killed, ""}, {2, (*world).clean, ""}, {2, (*world).checkStore, ""},
	{10, (*world).agentGoesOn, "sessions"}, {5, (*world).sessionBack, "sessions"}, {2, (*world).server, ""}, {4, (*world).revertPatches, "ways back"},
	{5, (*world).revertHunks, "ways back"}, {5, (*world).revertSessionHunks, "sessions"},
}

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

// pickAction draws what a step does.
func (w *world) pickAction() func(*world) {
	sum := 0
	for _, a := range actions {
		sum += w.weight(a)
	}
	n := w.rng.IntN(sum)
	for _, a := range actions {
		if n -= w.weight(a); n < 0 {
			return a.do
		}
	}
	panic("unreachable")
}

func (w *world) weight(a action) int {
	if w.focus != "" && a.focus == w.focus {
		return 3 * a.weight
	}
	return a.weight
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
		w.pickAction()(w)
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
