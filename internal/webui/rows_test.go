package webui

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestHunks(t *testing.T) {
	t.Parallel()
	old, new := lines("a", "b", "c", "d", "e", "f", "g", "h", "i", "j"), lines("a", "B", "c", "d", "e", "f", "g", "h", "x", "y", "j")
	got := describe(compareTexts(old, new).hunks(1))
	want := []string{"skip 0", "1a 1a", "2b 2B", "3c 3c", "skip 4", "8h 8h", "9i 9x", "- 10y", "10j 11j"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if rest := compareTexts(old, lines("a", "B")).rest(1); rest != 0 {
		t.Errorf("rest %d", rest)
	}
	if got := describe(compareTexts(nil, lines("a")).hunks(3)); strings.Join(got, ",") != "skip 0,- 1a" {
		t.Errorf("a new file: %v", got)
	}
	if got := compareTexts(old, old).hunks(3); len(got) != 0 {
		t.Errorf("equal texts: %v", got)
	}
}

func lines(l ...string) []byte { return []byte(strings.Join(l, "\n") + "\n") }

func describe(hunks []hunk) (out []string) {
	side := func(n int, text []byte) string {
		if n == 0 {
			return "-"
		}
		return fmt.Sprint(n, strings.TrimSpace(string(text)))
	}
	for _, h := range hunks {
		out = append(out, fmt.Sprint("skip ", h.skipped))
		for _, r := range h.rows {
			out = append(out, side(r.old, r.oldText)+" "+side(r.new, r.newText))
		}
	}
	return out
}

// With the whole file as context the rows are both texts, line by line; with less,
// nothing but common lines is left out, and their number is told.
func TestRowsAreTheTexts(t *testing.T) {
	t.Parallel()
	text := rapid.Custom(func(t *rapid.T) []byte {
		list := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "a\r\n"}), 0, 30).Draw(t, "lines")
		return []byte(strings.Join(list, "") + rapid.SampledFrom([]string{"", "a"}).Draw(t, "end"))
	})
	rapid.Check(t, func(t *rapid.T) {
		c := compareTexts(text.Draw(t, "old"), text.Draw(t, "new"))
		context := rapid.SampledFrom([]int{0, 1, 3, wholeFile}).Draw(t, "context")
		for range rapid.IntRange(0, 3).Draw(t, "opened") {
			from := rapid.IntRange(0, 35).Draw(t, "from")
			c.opened = append(c.opened, span{from, from + rapid.IntRange(1, 9).Draw(t, "lines")})
		}
		old, new, left := 0, 0, 0
		for _, h := range c.hunks(context) {
			for range h.skipped {
				if !bytes.Equal(c.old[old], c.new[new]) {
					t.Fatalf("line %d is left out, but changed", old+1)
				}
				old, new, left = old+1, new+1, left+1
			}
			for _, r := range h.rows {
				if r.old > 0 {
					old++
					if r.old != old || !bytes.Equal(r.oldText, c.old[old-1]) {
						t.Fatalf("row %v is not old line %d", r, old)
					}
				}
				if r.new > 0 {
					new++
					if r.new != new || !bytes.Equal(r.newText, c.new[new-1]) {
						t.Fatalf("row %v is not new line %d", r, new)
					}
				}
			}
		}
		if rest := c.rest(context); len(c.old)-old != rest || len(c.new)-new != rest {
			t.Fatalf("%d and %d lines are left, rest says %d", len(c.old)-old, len(c.new)-new, rest)
		}
		if context == wholeFile && left > 0 {
			t.Fatalf("%d lines are left out", left)
		}
	})
}

func TestChangedPart(t *testing.T) {
	t.Parallel()
	for _, c := range [][4]string{
		{"return a + b", "return a - b", "+", "-"},
		{"func Deposit(amount int) {", "func Deposit(amount int64) {", "int", "int64"},
		{"same", "same", "", ""},
		{"alpha", "omega", "", ""},                     // they share nothing that a reader sees
		{"x := größe", "x := grüße", "größe", "grüße"}, // never inside a rune
	} {
		o, n := changedPart([]byte(c[0]), []byte(c[1]))
		if c[0][o.from:o.to] != c[2] || c[1][n.from:n.to] != c[3] {
			t.Errorf("%q and %q: %q and %q, want %q and %q", c[0], c[1], c[0][o.from:o.to], c[1][n.from:n.to], c[2], c[3])
		}
	}
}

var tagsOfCode = regexp.MustCompile(`</?(?:b|span(?: class=[a-z])?)>`)

// Whatever the text and whatever is marked in it, the page says the text and has no
// tags but ours.
func TestCodeSaysTheText(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"<script>", "&amp;", "\"", "'", "a", "é", "//", "/*", "1", " ", "\t", "</span>", "<b>", "func", "`"})
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), ""))
		line := newColoured("a.go", [][]byte{text}).line(1)
		runes := []rune(string(text)) // a mark never cuts one
		from := rapid.IntRange(0, len(runes)).Draw(t, "from")
		to := rapid.IntRange(from, len(runes)).Draw(t, "to")
		line.marked = []span{{len(string(runes[:from])), len(string(runes[:to]))}}
		page := string(line.appendHTML(nil))
		if said := html.UnescapeString(tagsOfCode.ReplaceAllString(page, "")); said != string(text) {
			t.Fatalf("%q says %q", page, said)
		}
		if strings.Contains(tagsOfCode.ReplaceAllString(page, ""), "<") {
			t.Fatalf("%q has other tags", page)
		}
	})
}

func TestCodeShowsTheInvisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\xffb":         `a<span class=x>\xff</span>b`,
		"a\u202eb":       `a<span class=x>\u{202e}</span>b`,
		"a\x00b":         `a<span class=x>\x00</span>b`,
		"a\u200bb":       `a<span class=x>\u{200b}</span>b`,
		"\x1b[31m\u2028": `<span class=x>\x1b</span>[31m<span class=x>\u{2028}</span>`,
	} {
		line := newCodeLine([]byte(text), nil)
		if got := string(line.appendHTML(nil)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	long := newCodeLine([]byte(strings.Repeat("é", maxLine)), nil)
	if got := string(long.appendHTML(nil)); !strings.HasSuffix(got, "more bytes</span>") || strings.Contains(got, `\x`) || len(got) > maxLine+100 {
		t.Errorf("a long line comes out with %d bytes", len(got))
	}
}

func TestLineEnds(t *testing.T) {
	t.Parallel()
	table := diffTable{name: "a", split: true, context: 3}
	page := string(table.html(compareTexts([]byte("a\nb\n"), []byte("a\r\nb"))))
	if strings.Count(page, `\r</span>`) != 1 || strings.Count(page, "no newline at the end") != 1 {
		t.Error(page)
	}
}

// The rows of a long comparison come on pages, each line on one of them.
func TestLongTable(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range maxRows + 50 {
		fmt.Fprintf(&text, "line %d.\n", i)
	}
	more := func(row int) string { return fmt.Sprint("?row=", row) }
	for _, split := range []bool{true, false} {
		first := diffTable{name: "a", split: split, context: 3, more: more}
		one := string(first.html(compareTexts(nil, []byte(text.String()))))
		if !strings.Contains(one, fmt.Sprintf(`<a href="?row=%d">`, maxRows)) || strings.Count(one, "<tr>") != maxRows {
			t.Errorf("split %v: %d rows", split, strings.Count(one, "<tr>"))
		}
		second := diffTable{name: "a", split: split, context: 3, more: more, first: maxRows}
		two := string(second.html(compareTexts(nil, []byte(text.String()))))
		if strings.Count(two, "<tr>") != 50 || !strings.Contains(two, fmt.Sprintf("<td class=l data-n=%d>", maxRows+1)) || strings.Contains(two, "<a") {
			t.Errorf("split %v: the second page has %d rows", split, strings.Count(two, "<tr>"))
		}
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a/b.go": "a/b.go", "é": "é", "a\xe9": `a\xe9`, "a\r\n\t": `a\r\n\t`, "\u202e": `\u{202e}`, "": ""} {
		if got := visible(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 1234567: "1,234,567 files"} {
		if got := plural(n, "file"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func BenchmarkTable(b *testing.B) {
	var old, new strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&old, "\tresult[%d] = compute(%d, \"text\") // of line %d\n", i, i, i)
		fmt.Fprintf(&new, "\tresult[%d] = compute(%d, \"words\") // of line %d\n", i, i+1, i)
	}
	for b.Loop() {
		t := diffTable{name: "a.go", split: true, context: 3}
		b.ReportMetric(float64(len(t.html(compareTexts([]byte(old.String()), []byte(new.String()))))), "bytes")
	}
}
