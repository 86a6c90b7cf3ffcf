package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestOneCommandTwice: settings of the user and of the project both call the hook for one prompt. One undo takes back
// one turn, and both calls give the same answer. The next undo takes back the next turn.
func TestOneCommandTwice(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{Codex, Claude, Qwen} {
		for _, parallel := range []bool{false, true} {
			w := newWorld(t, agent, aTree())
			for _, turn := range []string{"1", "2", "3"} {
				w.prompt("s", turn, "go "+turn)
				w.use("PreToolUse", "s", "Bash", "c"+turn, map[string]string{"command": "x"})
				w.write("by-"+turn, turn)
				w.tell(map[bool]string{true: "PostToolBatch", false: "PostToolUse"}[agent == Claude], "s", map[string]any{
					"tool_name": "Bash", "tool_use_id": "c" + turn, "tool_input": map[string]string{"command": "x"},
					"tool_calls": []any{map[string]any{"tool_name": "Bash", "tool_use_id": "c" + turn}},
				})
				w.tell("Stop", "s", nil)
			}
			has := func(name string) bool { _, err := os.Stat(w.path(name)); return err == nil }
			var opening sync.Mutex
			opt := Options{Dir: filepath.Join(w.data, "hooks"), Pause: w.pauses, Open: func(ctx context.Context, dir string) (*Project, error) {
				opening.Lock()
				defer opening.Unlock()
				return w.open(ctx, dir)
			}}
			undo := func(id string) string {
				payload, _ := json.Marshal(map[string]string{
					"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": w.root, "prompt": "cairn undo", "prompt_id": id, "turn_id": id,
				})
				var out bytes.Buffer
				Handle(t.Context(), agent, bytes.NewReader(payload), &out, opt)
				return out.String()
			}
			var answers [2]string
			var both sync.WaitGroup
			for i := range answers {
				call := func() { answers[i] = undo("u1") }
				if parallel {
					both.Go(call)
				} else {
					call()
				}
			}
			both.Wait()
			if answers[0] != answers[1] || !strings.Contains(answers[0], "deleted by-3") {
				t.Errorf("%s: %q", agent, answers)
			}
			if has("by-3") || !has("by-2") {
				t.Errorf("%s: by-3 is there: %t, by-2: %t", agent, has("by-3"), has("by-2"))
			}
			if undo("u2"); has("by-2") || !has("by-1") {
				t.Errorf("%s: the next undo: by-2 is there: %t, by-1: %t", agent, has("by-2"), has("by-1"))
			}
		}
	}
}

// TestTwinsWithoutIDs: where an agent tells nothing of its prompts, only a call beside the command is the same.
func TestTwinsWithoutIDs(t *testing.T) {
	t.Parallel()
	ended := time.Now()
	do := &request{verb: "undo", count: 1}
	for _, c := range []struct {
		message string
		began   time.Time
		same    bool
	}{
		{"", ended.Add(-time.Millisecond), true}, {"", ended.Add(time.Millisecond), false},
		{"m", ended.Add(twinTime / 2), true}, {"m", ended.Add(2 * twinTime), false},
	} {
		h := &hook{agent: Codex, began: c.began, event: &event{session: "s", said: true, do: do, message: c.message}, turn: new(turn)}
		h.turn.Typed = &typed{h.typedCommand(), ended, "done"}
		if h.isTwin() != c.same {
			t.Errorf("%+v", c)
		}
	}
}
