package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestCountArgs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"log -5": "log --number=5", "log -12 --stat": "log --number=12 --stat", "log -- -5": "log -- -5", "log -S -5": "log -S -5", "track -5": "track -5",
		"-C log log -3": "-C log log --number=3", "log --since -3": "log --since -3", "log -n 5": "log -n 5", "log -": "log -", "log": "log",
	} {
		args := strings.Fields(text)
		if got := countArgs(slices.Clone(args)); strings.Join(got, " ") != want {
			t.Errorf("%s becomes %q", text, got)
		}
	}
}
