package setup

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// TestEventNamedTwice: of two members with one name, agents read the last. Setup puts its entry there, and a removal
// leaves what the user has there.
func TestEventNamedTwice(t *testing.T) {
	t.Parallel()
	for _, name := range []string{known.Claude, known.Cursor} {
		p, _ := places(t)
		a, err := agentOf(name)
		if err != nil {
			t.Fatal(err)
		}
		path, event := a.settingsPath(p), a.events[0].name
		mine := `"` + event + `": [{"hooks": [{"type": "command", "command": "beep"}]}]`
		if a.form != grouped {
			mine = `"` + event + `": [{"command": "beep"}]`
		}
		apply(t, name, Options{Places: p, Program: program})
		made := contents(t, path)
		end := strings.LastIndex(made, "]")
		write(t, path, made[:end+1]+",\n    "+mine+made[end+1:])
		if s := statusOf(t, p, name); s.Complete {
			t.Errorf("%s: the event counts as there, and the agent does not see it", name)
		}
		if plan := apply(t, name, Options{Places: p, Program: program}); len(plan.Changes) == 0 {
			t.Errorf("%s: nothing was added for the event", name)
		}
		if s := statusOf(t, p, name); !s.Complete {
			t.Errorf("%s: the event is missing", name)
		}
		apply(t, name, Options{Places: p, Program: program, Remove: true})
		if left := contents(t, path); !strings.Contains(left, mine) || strings.Contains(left, "cairn") {
			t.Errorf("%s: %s", name, left)
		}
	}
}

// TestRemarksBesideEntries: lists that hold comments of the user stay when the entries of cairn in them go.
func TestRemarksBesideEntries(t *testing.T) {
	t.Parallel()
	p, home := places(t)
	path := filepath.Join(home, "claude", "settings.json")
	const before = "{\n  \"model\": \"a\",\n  \"hooks\": {\n    // mine come here\n    \"Stop\": [\n      // and here\n    ]\n  }\n}\n"
	write(t, path, before)
	apply(t, known.Claude, Options{Places: p, Program: program})
	write(t, path, strings.Replace(contents(t, path), `"a"`, `"b"`, 1))
	apply(t, known.Claude, Options{Places: p, Program: program, Remove: true})
	if got, want := contents(t, path), strings.Replace(before, `"a"`, `"b"`, 1); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
