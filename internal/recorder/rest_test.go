package recorder

import (
	"testing"
	"time"
)

// TestRest plays looks at the files against a clock of its own.
func TestRest(t *testing.T) {
	t.Parallel()
	type look struct {
		after time.Duration
		state string
		want  bool
	}
	ms := time.Millisecond
	var endless []look
	for i := range 200 {
		endless = append(endless, look{500 * ms, string(rune('a' + i%2)), i == 120})
	}
	for name, looks := range map[string][]look{
		"nothing happens":       {{0, "", false}, {5 * time.Minute, "", false}},
		"a burst, then rest":    {{0, "", false}, {250 * ms, "a", false}, {250 * ms, "ab", false}, {250 * ms, "ab", false}, {250 * ms, "ab", true}, {250 * ms, "", false}},
		"looks are far apart":   {{0, "a", false}, {3 * time.Second, "b", false}, {3 * time.Second, "b", true}},
		"taken back by itself":  {{0, "a", false}, {250 * ms, "", false}, {250 * ms, "a", false}, {250 * ms, "a", false}, {250 * ms, "a", true}},
		"a burst without end":   endless[:121],
		"two bursts":            {{0, "a", false}, {time.Second, "a", true}, {time.Second, "b", false}, {time.Second, "b", true}},
		"the next begins early": {{0, "a", false}, {time.Second, "a", true}, {100 * ms, "b", false}, {100 * ms, "b", false}},
	} {
		var r rest
		now := time.Unix(0, 0)
		for i, l := range looks {
			now = now.Add(l.after)
			if got := r.reached(l.state, now); got != l.want {
				t.Errorf("%s: look %d: %v", name, i, got)
			}
		}
	}
}

func TestRestPauses(t *testing.T) {
	t.Parallel()
	var idle rest
	last := time.Duration(0)
	for range 10 {
		pause := idle.pause(time.Millisecond)
		if pause < last || pause < minPause || pause > maxPause {
			t.Errorf("%v after %v", pause, last)
		}
		last = pause
	}
	if last != maxPause {
		t.Errorf("%v", last)
	}
	if pause := idle.pause(time.Second); pause != costShare*time.Second {
		t.Errorf("a dear look: %v", pause)
	}
	idle.reached("a", time.Unix(0, 0))
	if pause := idle.pause(time.Millisecond); pause != minPause {
		t.Errorf("while files move: %v", pause)
	}
}
