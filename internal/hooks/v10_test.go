package hooks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestV10_HooksAtTheBudget: every turn is recorded, in one session and then in others,
// while the store drops the oldest for it. The newest turn can be taken back.
func TestV10_HooksAtTheBudget(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	w := newWorld(t, Codex, aTree())
	w.retention = &cairn.Retention{KeepLast: 3, MaxBytes: 600 << 10, MinFree: cairn.NoLimit}
	text := func(n int) string {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		data := make([]byte, 50<<10)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		return string(data)
	}
	for i := range 26 {
		id := "s0"
		if i >= 16 {
			id = fmt.Sprintf("s%d", i)
		}
		call, input := fmt.Sprintf("c%d", i), map[string]string{"command": "write a"}
		w.prompt(id, fmt.Sprint(i), "go")
		w.use("PreToolUse", id, "Bash", call, input)
		w.write("a", text(i))
		w.use("PostToolUse", id, "Bash", call, input)
		w.tell("Stop", id, nil)
		w.noFailures()
		w.sessions(func(all *session.Sessions) {
			list, err := all.List(context.Background())
			if err != nil || len(list) == 0 || list[0].Steps == 0 || list[0].Truncated != (i >= 12 && i < 16) && i >= 12 && i < 16 {
				t.Fatalf("after turn %d: %+v, %v", i, list, err)
			}
		})
	}
	w.prompted("s25", "cairn undo")
	if got, err := os.ReadFile(filepath.Join(w.root, "a")); err != nil || string(got) != text(24) {
		t.Error("the newest turn was not taken back")
	}
	w.noFailures()
}
