package hooks

import (
	"strings"
	"testing"
)

// TestV52_AnswersQuotePrompts: Claude Code hands an answer on to the model, in the user's name, and
// asks the model by itself when a background command ends. A prompt that was just taken back stands
// in quotes in the answer, so that the model does not carry it out again.
func TestV52_AnswersQuotePrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	w.turnOf("s", "1", "make new", "echo x > new")
	w.turnOf("s", "2", "make newer", "echo x > newer")
	for _, c := range []struct{ text, want string }{
		{"cairn status", `cairn undo takes back: the turn "make newer" (1 file`},
		{"cairn diff", `s ago: the turn "make newer"`},
		{"cairn undo 2 --dry-run", "\nwould be taken back: the turn \"make new\"\nwould be taken back: the turn \"make newer\""},
		{"cairn undo 2", "\ntaken back: the turn \"make new\"\ntaken back: the turn \"make newer\""},
		{"cairn redo", "\nbrought back: the turn \"make new\""},
	} {
		got := w.prompted("s", c.text)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.text, got)
		}
		for line := range strings.Lines(got) {
			if bare := strings.NewReplacer(`"make newer"`, "", `"make new"`, "").Replace(line); strings.Contains(bare, "make new") {
				t.Errorf("%s: a prompt without quotes: %s", c.text, line)
			}
		}
	}
	w.noFailures()
}
