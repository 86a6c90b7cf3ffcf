package goback

import (
	"bufio"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// TestAskShowsControls: no escape sequence of a file reaches the terminal that is asked, neither of its lines nor of
// its name, in ASCII, in UTF-8 or as single bytes.
func TestAskShowsControls(t *testing.T) {
	t.Parallel()
	evil := "\x1b]52;c;cHdu\a\u009b31m\x9b2J\rx"
	for _, d := range []cairn.FileDiff{
		{File: cairn.Path("n" + evil), Hunks: []cairn.Hunk{{ID: "1", Header: "@@ -1 +1 @@", Lines: []string{"-a", "+" + evil}}}},
		{File: "whole", Hunks: []cairn.Hunk{{ID: "1", Header: "symlink to " + evil, Whole: true}}},
	} {
		var out strings.Builder
		a := asker{in: bufio.NewReader(strings.NewReader("y\n")), out: &out, word: "take", where: "back"}
		if err := a.file(&d); err != nil || len(a.chosen) != 1 {
			t.Fatalf("chosen %q, %v", a.chosen, err)
		}
		if text := out.String(); strings.ContainsAny(text, "\x1b\a\r\u009b") || strings.Contains(text, "\x9b2J") || !strings.Contains(text, "^[]52;c;cHdu^G<U+009B>31m<9B>2J^Mx") {
			t.Errorf("%q", text)
		}
	}
}
