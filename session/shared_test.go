package session_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
	"github.com/seed-fb9cbc17/cairn/session"
)

// R70: the sessions of a project share one store of contents. What one has captured
// costs the next nothing but its records.
func TestR70_SessionsShareContents(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		var text strings.Builder
		for range 500 {
			fmt.Fprintln(&text, rng.Uint64())
		}
		tree[fmt.Sprintf("f%d", i)] = gittest.File(text.String())
	}
	f := newFixture(t, tree)
	step := func(id string) int64 {
		_, err := f.BeginStep(t.Context(), session.StepBegin{Session: id, Message: "m", Step: "s"})
		if err == nil {
			_, err = f.EndStep(t.Context(), session.StepEnd{Session: id, Step: "s"})
		}
		if err != nil {
			t.Fatal(err)
		}
		size, err := retention.SizeOf(f.repo.StoreDir())
		if err != nil {
			t.Fatal(err)
		}
		return size
	}
	first := step("one")
	if more := step("two") - first; more > first/10 {
		t.Errorf("the first session took %d bytes, the second %d more", first, more)
	}
}
