package session_test

import (
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// The checkpoints of steps carry the time at which they were taken: the timeline
// sorts by it, and cleaning up goes by age.
func TestStepsHaveTheirTime(t *testing.T) {
	t.Parallel()
	repo, err := cairn.Open(cairn.Options{Root: t.TempDir(), DataDir: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	s := session.New(repo)
	start := time.Now().Truncate(time.Second)
	if _, err := s.BeginStep(t.Context(), session.StepBegin{Session: "s", Message: "m", Step: "a"}); err != nil {
		t.Fatal(err)
	}
	step, err := s.EndStep(t.Context(), session.StepEnd{Session: "s", Step: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{step.Before.ID, step.After.ID} {
		c, err := repo.Lookup(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if c.When.Before(start) || c.When.After(time.Now()) {
			t.Errorf("checkpoint of %v, taken after %v", c.When, start)
		}
	}
}
