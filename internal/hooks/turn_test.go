package hooks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/session"
)

func TestTurnsAreKeptUntilTheyEnd(t *testing.T) {
	t.Parallel()
	ts := turns{t.TempDir()}
	use := func(f func(*turn)) {
		t.Helper()
		if err := ts.use(t.Context(), "/root", "../x", func(t *turn, _ func() error) error { f(t); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	files := func() []string {
		list, _ := filepath.Glob(filepath.Join(ts.dir, "turns", "*"))
		return list
	}
	child := &event{session: "../x/a", parent: "../x"}
	use(func(now *turn) {
		now.Message, now.Step = "m", "s"
		now.announce(&event{call: "c", tool: "Bash"})
		now.announce(&event{call: "c", tool: "Bash"})
		now.of(child).Step = "of the child"
	})
	if len(files()) != 1 {
		t.Fatalf("%q", files())
	}
	use(func(now *turn) {
		if now.Message != "m" || now.Step != "s" || len(now.Calls) != 1 || now.Parts[0] != (part{ID: "c", Tool: "Bash"}) || now.of(child).Step != "of the child" {
			t.Errorf("%+v", now)
		}
		now.forget("other")
		now.forget("c")
		if len(now.Calls) != 0 {
			t.Errorf("%+v", now)
		}
	})
	if err := os.WriteFile(files()[0], []byte("{damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	use(func(now *turn) {
		if !now.empty() {
			t.Errorf("%+v", now)
		}
	})
	if list := files(); len(list) != 0 {
		t.Errorf("left: %q", list)
	}
}

func TestTurnsWaitNoLongerThanAllowed(t *testing.T) {
	t.Parallel()
	ts := turns{t.TempDir()}
	err := ts.use(t.Context(), "/root", "s", func(*turn, func() error) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		return ts.use(ctx, "/root", "s", func(*turn, func() error) error { t.Error("two at once"); return nil })
	})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "another hook") {
		t.Errorf("%v", err)
	}
}

func TestOldTurnsAreSwept(t *testing.T) {
	t.Parallel()
	ts := turns{t.TempDir()}
	for _, id := range []string{"old", "new"} {
		if err := ts.use(t.Context(), "/root", id, func(t *turn, _ func() error) error { t.Message = id; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	old := filepath.Join(ts.dir, "turns", turnKey("/root", "old")+".json")
	long := time.Now().Add(-2 * turnAge)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	ts.sweep()
	list, err := filepath.Glob(filepath.Join(ts.dir, "turns", "*"))
	if err != nil || len(list) != 1 || list[0] == old {
		t.Errorf("%q, %v", list, err)
	}
}

// TestSubAgentBeginsOnce: the session of a sub-agent begins with its first tool, and again only where a call tells
// more of it.
func TestSubAgentBeginsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	w.prompt("s", "1", "go")
	begun := 0
	w.asked = func(kind service.RequestKind) {
		if kind == service.RequestBegin {
			begun++
		}
	}
	for n, call := range []struct {
		more map[string]any
		want int
	}{{nil, 1}, {nil, 0}, {map[string]any{"agent_type": "Explore"}, 1}, {map[string]any{"agent_type": "Explore"}, 0}, {nil, 0}} {
		begun = 0
		fields := map[string]any{"agent_id": "sub", "tool_name": "Bash", "tool_use_id": fmt.Sprint(n), "tool_input": map[string]string{"command": "true"}}
		maps.Copy(fields, call.more)
		w.tell("PreToolUse", "s", fields)
		w.tell("PostToolUse", "s", fields)
		if begun != call.want {
			t.Errorf("call %d: begun %d times", n, begun)
		}
	}
	w.asked = nil
	w.sessions(func(all *session.Sessions) {
		if s, err := all.Get(t.Context(), "s/sub"); err != nil || s.Parent != "s" || s.Title != "Explore" || s.Steps != 5 {
			t.Errorf("%+v, %v", s, err)
		}
	})
	w.noFailures()
}
