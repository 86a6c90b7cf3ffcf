package retention

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// Random histories: what stays is what the rules say, byte for byte; what does not says so; a second
// cleaning does nothing; and as time goes on the same holds.
func TestThinRandom(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := &thinHistory{aged: newAged(t), rand: rand.New(rand.NewPCG(seed, 1)), states: make(map[string]map[string]string), when: make(map[string]time.Time)}
			h.grow(40)
			for range 3 {
				h.check()
				h.time = h.time.Add(time.Duration(h.rand.IntN(20*24)) * time.Hour)
				h.grow(8)
			}
		})
	}
}

// thinHistory is a random history with what it must hold.
type thinHistory struct {
	*aged
	rand   *rand.Rand
	lines  []string
	order  [][]string // ids by line, oldest first, without those of a fork's source
	states map[string]map[string]string
	when   map[string]time.Time
	held   []string // pinned
}

// grow adds checkpoints to lines of sessions up to the present.
func (h *thinHistory) grow(n int) {
	now := h.time
	for range n {
		line := h.rand.IntN(len(h.lines) + 1)
		if line == len(h.lines) {
			if line == 4 {
				continue
			}
			h.lines, h.order = append(h.lines, fmt.Sprint(history.RefSessions, "r", line)), append(h.order, nil)
		}
		if len(h.order[line]) == 0 {
			h.time = now.Add(-time.Duration(h.rand.IntN(60*24)) * time.Hour)
		} else {
			last := h.when[h.order[line][len(h.order[line])-1]]
			h.time = last.Add(time.Duration(h.rand.Int64N(int64(max(time.Second, now.Sub(last))))/int64(1+h.rand.IntN(40))) + time.Second)
		}
		files := map[string]string{"a": fmt.Sprint(h.rand.IntN(8)), "d/b": fmt.Sprint(h.rand.IntN(1000)), "d/e/c": string(gittest.Noise(h.rand.Uint64(), 200))}
		c := statetest.AppendLine(h, h.Store, h.lines[line], statetest.NewState(h, h.Store, files), nil)
		h.order[line], h.states[c.ID], h.when[c.ID] = append(h.order[line], c.ID), files, h.time
		if h.rand.IntN(8) == 0 {
			if err := h.Pin(h.Context(), c.ID, "pin"+c.ID[:8]); err != nil {
				h.Fatal(err)
			}
			h.held = append(h.held, c.ID)
		}
	}
	h.time = now
}

// stays tells by the words of the manual whether a checkpoint of a line keeps its state.
func (h *thinHistory) stays(line []string, i int) bool {
	at, age := h.when[line[i]], h.time.Sub(h.when[line[i]])
	if i == len(line)-1 || slices.Contains(h.held, line[i]) || age <= keepRules.All {
		return true
	}
	layout := "2006-01-02 15"
	if age > keepRules.Hourly {
		layout = "2006-01-02"
	}
	return h.when[line[i+1]].UTC().Format(layout) != at.UTC().Format(layout)
}

func (h *thinHistory) check() {
	h.Helper()
	gone := make(map[string]bool)
	for id := range h.states {
		gone[id] = !h.has(id)
	}
	h.clean(thinning())
	again := h.clean(thinning())
	if again.Thinned+again.Checkpoints != 0 {
		h.Errorf("a second cleaning did %+v", again)
	}
	var newest string
	for id := range h.states {
		if newest == "" || h.when[newest].Before(h.when[id]) {
			newest = id
		}
	}
	for n, line := range h.order {
		dead := h.time.Sub(h.when[line[len(line)-1]]) > keepRules.Daily && !slices.Contains(line, newest)
		for i, id := range line {
			_, err := h.Lookup(context.Background(), id)
			want := h.stays(line, i) && !gone[id] && (!dead || slices.Contains(h.held, id)) || id == newest
			switch {
			case want && err != nil:
				h.Errorf("line %d, checkpoint %d of %d: %v", n, i, len(line), err)
			case want:
				if got := statetest.Contents(h, h.Store, id); fmt.Sprint(got) != fmt.Sprint(h.states[id]) {
					h.Errorf("checkpoint %s: %v, want %v", id, got, h.states[id])
				}
			case !errors.Is(err, history.ErrThinned) && !dead:
				h.Errorf("line %d, checkpoint %d of %d: %v, want it thinned", n, i, len(line), err)
			}
		}
	}
}
