package blame_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/blame"
)

// of blames the last of some contents. A content that begins with '!' is restored, and "-" is an
// absent file. Blanks stand for ends of lines.
func of(t *testing.T, contents ...string) *blame.Result {
	t.Helper()
	list := make([]blame.Version, len(contents))
	for i, c := range contents {
		c, list[i].Restored = strings.CutPrefix(c, "!")
		contents[i] = strings.ReplaceAll(c, " ", "\n")
		if list[i].Key = c; c == "-" {
			list[i].Key = ""
		}
	}
	r, err := blame.Of(list, func(i int) ([]byte, error) { return []byte(contents[i]), nil }, blame.Options{Deleted: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	for name, of1 := range map[string]struct {
		contents []string
		want     []int
	}{
		"one version":                       {[]string{"a b "}, []int{0, 0}},
		"empty":                             {[]string{"a ", ""}, []int{}},
		"absent at the end":                 {[]string{"a ", "-"}, []int{}},
		"absent at first":                   {[]string{"-", "a "}, []int{1}},
		"a line in between":                 {[]string{"a c ", "a b c "}, []int{0, 1, 0}},
		"an end without a newline":          {[]string{"a b", "a b "}, []int{0, 1}},
		"a newline at the end goes back":    {[]string{"a b", "a b ", "a b"}, []int{0, 0}},
		"retyped":                           {[]string{"a b ", "a ", "a c b "}, []int{0, 2, 2}},
		"retyped, and the whole is as once": {[]string{"a b ", "a ", "a b "}, []int{0, 0}},
		"restored":                          {[]string{"a b ", "a ", "a c ", "!a c b "}, []int{0, 2, 0}},
		"restored what never was":           {[]string{"a ", "!a x "}, []int{0, 1}},
		"restored, the last life counts":    {[]string{"x a ", "a ", "x a b ", "a b ", "a b c ", "!x a b c "}, []int{2, 0, 2, 4}},
		"the file itself comes back":        {[]string{"a ", "a b ", "-", "a b "}, []int{0, 1}},
		"the file comes back in part":       {[]string{"a ", "a b ", "-", "!b c "}, []int{1, 3}},
		"equal lines keep their order":      {[]string{"} } ", "} x } ", "x ", "!} x } "}, []int{0, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := []int{}
			for _, l := range of(t, of1.contents...).Lines {
				got = append(got, l.Version)
			}
			if !slices.Equal(got, of1.want) {
				t.Errorf("%v instead of %v", got, of1.want)
			}
		})
	}
}

// TestDeleted shows deleted lines where they stood.
func TestDeleted(t *testing.T) {
	t.Parallel()
	for name, of1 := range map[string]struct {
		contents []string
		want     string
	}{
		"none":                {[]string{"a ", "a b "}, ""},
		"first":               {[]string{"a b ", "b "}, "a:0-1@0"},
		"last":                {[]string{"a b ", "a "}, "b:0-1@1"},
		"replaced":            {[]string{"a b c ", "a x c "}, "b:0-1@1"},
		"one after the other": {[]string{"a b c d ", "a b d ", "a d "}, "b:0-2@1 c:0-1@1"},
		"came back":           {[]string{"a b c ", "a c ", "a b c "}, ""},
		"the whole file":      {[]string{"a ", "a b ", "-"}, "a:0-2@0 b:1-2@0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, d := range of(t, of1.contents...).Deleted {
				got = append(got, fmt.Sprintf("%s:%d-%d@%d", strings.TrimSpace(d.Text), d.Version, d.By, d.Before))
			}
			if text := strings.Join(got, " "); text != of1.want {
				t.Errorf("%q instead of %q", text, of1.want)
			}
		})
	}
}

// TestEqualLines: with equal lines several answers are right. A line must be of a version in which
// its text stands at the named place, and every identity is given once.
func TestEqualLines(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 1))
		var list []blame.Version
		var texts []string
		for range 2 + random.IntN(10) {
			var b strings.Builder
			for range random.IntN(12) {
				b.WriteString([]string{"}\n", "\n", "a\n", "b\n"}[random.IntN(4)])
			}
			list, texts = append(list, blame.Version{Key: "=" + b.String(), Restored: random.IntN(3) == 0}), append(texts, b.String())
		}
		r, err := blame.Of(list, func(i int) ([]byte, error) { return []byte(texts[i]), nil }, blame.Options{Deleted: true})
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[blame.Line]bool)
		check := func(l blame.Line, text string) {
			if was := blame.LineTexts([]byte(texts[l.Version]))[l.Number-1]; was != text || seen[l] {
				t.Fatalf("seed %d: %q is %+v (%q), seen %v", seed, text, l, was, seen[l])
			}
			seen[l] = true
		}
		for i, text := range blame.LineTexts([]byte(texts[len(texts)-1])) {
			check(r.Lines[i], text)
		}
		for _, d := range r.Deleted {
			check(d.Line, strings.TrimSuffix(d.Text, "\n"))
		}
	}
}

func TestContentThatCannotBeRead(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := blame.Of([]blame.Version{{Key: "x"}}, func(int) ([]byte, error) { return nil, broken }, blame.Options{})
	if !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}
