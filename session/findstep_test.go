package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestFindStep: a step is named by a whole id, a place from the newest that is not reverted, or the
// beginning of an id.
func TestFindStep(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	for i, id := range []string{"abc", "abd", "ab", "x"} {
		f.agentStep("s", "m"+id, id, "x", func() { f.write("b", fmt.Sprint(i)) })
	}
	if _, _, err := f.UndoTurn(background, "s", session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string]string{"abc": "abc", "ab": "ab", "x": "x", "@": "ab", "@~2": "abc"} {
		if got, err := f.FindStep(background, "s", spec); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", spec, got, err, want)
		}
	}
	for _, spec := range []string{"", "1", "@~3", "y"} {
		if got, err := f.FindStep(background, "s", spec); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%q is %q, %v", spec, got, err)
		}
	}
	_, err := f.FindStep(background, "s", "a")
	if !errors.Is(err, cairn.ErrAmbiguous) || !strings.Contains(err.Error(), `ab "Bash: x" or abc "Bash: x" or abd "Bash: x"`) {
		t.Errorf("%v", err)
	}
	if ids, err := f.FindSteps(background, "s", []string{"@", "abc"}); err != nil || fmt.Sprint(ids) != "[ab abc]" {
		t.Errorf("%q, %v", ids, err)
	}
}
