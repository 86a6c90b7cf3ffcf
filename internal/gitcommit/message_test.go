package gitcommit

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn/internal/usergit"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("words of a prompt ", 9)
	added := []File{{Path: "dir/a", After: usergit.Entry{Mode: usergit.ModeFile, ID: "1"}}}
	removed := []File{{Path: "b", Before: usergit.Entry{Mode: usergit.ModeFile, ID: "1"}}}
	for name, c := range map[string]struct {
		prompt string
		files  []File
		want   string
	}{
		"one line":           {" Fix it \n", nil, "Fix it\n"},
		"a body":             {"Fix it\nbecause", nil, "Fix it\n\nbecause\n"},
		"a body after blank": {"Fix it\r\n\r\nbecause\r\nof this\r\n", nil, "Fix it\n\nbecause\nof this\n"},
		"control characters": {"Fix\x1b[31m it\x00\nx\ty", nil, "Fix[31m it\n\nx\ty\n"},
		"long":               {long, nil, "words of a prompt words of a prompt words of a prompt words of a...\n\n" + strings.TrimSpace(long) + "\n"},
		"one long word":      {strings.Repeat("ä", 80), nil, strings.Repeat("ä", 69) + "...\n\n" + strings.Repeat("ä", 80) + "\n"},
		"no prompt, added":   {"", added, "Add a\n"},
		"no prompt, removed": {" \n", removed, "Remove b\n"},
		"no prompt, both":    {"", append(added, removed...), "Change a and 1 more\n"},
		"no prompt, a name":  {"", []File{{Path: "a\nb"}}, "Add \"a\\nb\"\n"},
		"nothing":            {"", nil, "Change nothing\n"},
	} {
		got := Message(c.prompt, c.files)
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		if subject, _, _ := strings.Cut(got, "\n"); utf8.RuneCountInString(subject) > maxSubject {
			t.Errorf("%s: the subject has %d characters", name, utf8.RuneCountInString(subject))
		}
	}
}
