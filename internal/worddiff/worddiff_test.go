package worddiff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/worddiff"
)

func kind(c byte) worddiff.Kind {
	switch {
	case c == ' ':
		return worddiff.OtherRun
	case c == '\n':
		return worddiff.Skip
	case 'a' <= c && c <= 'z':
		return worddiff.Run
	}
	return worddiff.Alone
}

func TestCut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "\n\n": "", "ab": "ab", "ab  c\nd((": "ab|  |c|d|(|(", "\na": "a", "(": "(", "a\n": "a",
	} {
		var got []string
		for _, w := range worddiff.Cut([]byte(text), kind) {
			got = append(got, text[w.From:w.To])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q is cut into %q", text, got)
		}
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	old, new := []byte("a = b(c)"), []byte("a = d(c)\n")
	got := worddiff.Diff(old, worddiff.Cut(old, kind), new, worddiff.Cut(new, kind))
	if want := []linediff.Edit{{A0: 4, A1: 5, B0: 4, B1: 5}}; !slices.Equal(got, want) {
		t.Errorf("the edits are %s", fmt.Sprint(got))
	}
}
