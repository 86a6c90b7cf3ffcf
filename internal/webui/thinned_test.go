package webui

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// The pages of a store with thinned checkpoints are there, say where some were thinned, and a state that is
// gone names the nearest one.
func TestThinnedPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	access.SetClock(f.repo, gittest.OneDay)
	var steps []*session.Step
	for i := range 4 {
		steps = append(steps, f.stepOf(session.StepBegin{Session: "s", Message: fmt.Sprint("m", i), Step: fmt.Sprint(i), Prompt: fmt.Sprint("write ", i)}, func() { f.write("a", fmt.Sprint(i)) }))
	}
	for i := range 3 {
		f.write("b", fmt.Sprint(i))
		f.track("")
	}
	done, err := f.repo.Clean(t.Context(), cairn.CleanOptions{Thorough: true, Retention: cairn.Retention{
		KeepLast: cairn.NoLimit, MaxBytes: cairn.NoLimit, Keep: cairn.KeepRules{All: 1, Daily: 90 * 24 * time.Hour},
	}})
	if err != nil || done.Thinned < 8 {
		t.Fatal(done, err)
	}
	if page := f.get(f.at("")); page.status != http.StatusOK || !strings.Contains(page.body, "2 thinned before") {
		t.Errorf("timeline: %d\n%s", page.status, page.body)
	}
	if page := f.get(f.at("session", "id", "s")); page.status != http.StatusOK || !strings.Contains(page.body, "write 0") {
		t.Errorf("session: %d\n%s", page.status, page.body)
	}
	page := f.get(f.at("changes", "from", steps[1].Before.ID, "to", steps[1].After.ID))
	if page.status != http.StatusNotFound || !strings.Contains(page.body, "was thinned on ") || !strings.Contains(page.body, "nearest kept") {
		t.Errorf("changes: %d\n%s", page.status, page.body)
	}
}
