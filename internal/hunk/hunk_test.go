package hunk

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// numbered is a text of n lines; the given lines, from 1, have another text or, with "-", are gone.
func numbered(n int, changed map[int]string) []byte {
	var text strings.Builder
	for i := 1; i <= n; i++ {
		switch line, ok := changed[i]; {
		case !ok:
			fmt.Fprintf(&text, "line %d\n", i)
		case line != "-":
			text.WriteString(line + "\n")
		}
	}
	return []byte(text.String())
}

func ids(hunks []Piece) (list []string) {
	for _, h := range hunks {
		list = append(list, h.ID)
	}
	return list
}

func TestHunksAreSingleRuns(t *testing.T) {
	t.Parallel()
	before, after := numbered(9, nil), numbered(9, map[int]string{2: "two", 4: "four\nfour and a half", 6: "-"})
	type shown struct {
		header string
		lines  string
	}
	var got []shown
	for _, h := range Of("a", before, after) {
		got = append(got, shown{h.Header, strings.Join(h.Lines, "\n")})
	}
	want := []shown{
		{"@@ -1,3 +1,3 @@", " line 1\n-line 2\n+two\n line 3"},
		{"@@ -4,2 +4,3 @@ line 3", "-line 4\n+four\n+four and a half\n line 5"},
		{"@@ -6,4 +7,3 @@ line 5", "-line 6\n line 7\n line 8\n line 9"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNumbersAreThoseOfTheHeader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after string
		want          [4]int
		header        string
	}{
		{"", "a\nb\n", [4]int{0, 0, 1, 2}, "@@ -0,0 +1,2 @@"},
		{"a\nb\n", "", [4]int{1, 2, 0, 0}, "@@ -1,2 +0,0 @@"},
		{"a\n", "b\n", [4]int{1, 1, 1, 1}, "@@ -1 +1 @@"},
	} {
		h := Of("p", []byte(c.before), []byte(c.after))[0]
		if got := [4]int{h.OldStart, h.OldLines, h.NewStart, h.NewLines}; got != c.want || h.Header != c.header {
			t.Errorf("%q to %q: %v %q, want %v %q", c.before, c.after, got, h.Header, c.want, c.header)
		}
	}
}

// TestNamesHoldWhileOthersComeAndGo takes hunks of one file back in every combination. The
// hunks that are left have the names that they had.
func TestNamesHoldWhileOthersComeAndGo(t *testing.T) {
	t.Parallel()
	before := numbered(30, nil)
	after := numbered(30, map[int]string{3: "three", 5: "five\nand more", 7: "-", 20: "twenty", 22: "-", 30: "last"})
	all := Of("a", before, after)
	if len(all) != 6 {
		t.Fatalf("%d hunks", len(all))
	}
	for chosen := range 1 << len(all) {
		var back []linediff.Edit
		var left []string
		for i, h := range all {
			if chosen>>i&1 == 1 {
				back = append(back, h.Edit)
			} else {
				left = append(left, h.ID)
			}
		}
		if got := ids(Of("a", before, TakeBack(before, after, back))); !slices.Equal(got, left) {
			t.Errorf("without %b: %q, want %q", chosen, got, left)
		}
	}
}

func TestNamesTellApart(t *testing.T) {
	t.Parallel()
	before, after := numbered(5, nil), numbered(5, map[int]string{3: "three"})
	first := Of("a", before, after)[0].ID
	for what, other := range map[string]string{
		"another path":         Of("b", before, after)[0].ID,
		"other new lines":      Of("a", before, numbered(5, map[int]string{3: "drei"}))[0].ID,
		"one line more":        Of("a", before, numbered(5, map[int]string{3: "three\nthree"}))[0].ID,
		"other lines around":   Of("a", numbered(5, map[int]string{2: "2"}), numbered(5, map[int]string{2: "2", 3: "three"}))[0].ID,
		"only removed":         Of("a", before, numbered(5, map[int]string{3: "-"}))[0].ID,
		"a whole change":       OfChange("a", "binary").ID,
		"no newline at end":    Of("a", numbered(3, nil), []byte("line 1\nline 2\nthree"))[0].ID,
		"a carriage return":    Of("a", before, numbered(5, map[int]string{3: "three\r"}))[0].ID,
		"a part of the change": Of("a", before, numbered(5, map[int]string{3: "thre"}))[0].ID,
	} {
		if other == first {
			t.Errorf("%s has the same name", what)
		}
	}
	if OfChange("a", "mode", "100644", "100755").ID == OfChange("a", "mode", "10064", "4100755").ID {
		t.Error("two whole changes have one name")
	}
}

// TestEqualHunksAreNumbered has three equal changes between equal lines.
func TestEqualHunksAreNumbered(t *testing.T) {
	t.Parallel()
	block := "a\nb\nc\n%s\na\nb\nc\n"
	before := strings.Repeat(fmt.Sprintf(block, "old"), 3)
	after := strings.Repeat(fmt.Sprintf(block, "new"), 3)
	all := ids(Of("p", []byte(before), []byte(after)))
	if len(all) != 3 || all[0] == all[1] || all[1] == all[2] || all[0] == all[2] {
		t.Fatalf("names %q", all)
	}
	last := fmt.Sprintf(block, "new") + fmt.Sprintf(block, "new") + fmt.Sprintf(block, "old")
	if got := ids(Of("p", []byte(before), []byte(last))); !slices.Equal(got, all[:2]) {
		t.Errorf("without the last: %q, want %q", got, all[:2])
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	// Lines 3 and 4 became three, line 7 (8 of the new text) is gone, and 9 (9) is another.
	before := numbered(10, nil)
	after := numbered(10, map[int]string{3: "3a", 4: "3b\n3c", 7: "-", 9: "nine"})
	replaced := func(n int, by string) map[int]string {
		m := map[int]string{3: "3a", 4: "3b\n3c", 7: "-", 9: "nine"}
		m[n] = by
		return m
	}
	for _, c := range []struct {
		name   string
		ranges []Range
		want   []byte
	}{
		{"nothing", nil, after},
		{"other lines", []Range{{1, 2}, {6, 6}, {10, 10}}, after},
		{"an empty range", []Range{{9, 8}}, after},
		{"everything", []Range{{1, 100}}, before},
		{"the first of three for two", []Range{{3, 3}}, numbered(10, replaced(3, "line 3"))},
		{"the second", []Range{{4, 4}}, numbered(10, replaced(4, "line 4\n3c"))},
		{"the third, which replaced nothing", []Range{{5, 5}}, numbered(10, replaced(4, "3b"))},
		{"all three", []Range{{3, 5}}, numbered(10, map[int]string{7: "-", 9: "nine"})},
		{"all three, piece by piece and twice", []Range{{5, 5}, {3, 4}, {4, 5}}, numbered(10, map[int]string{7: "-", 9: "nine"})},
		{"a removal, by the line before", []Range{{7, 7}}, numbered(10, replaced(7, "line 7"))},
		{"a removal, by the line after", []Range{{8, 8}}, numbered(10, replaced(7, "line 7"))},
		{"a replacement", []Range{{9, 9}}, numbered(10, replaced(9, "line 9"))},
	} {
		edits := linediff.Diff(before, after)
		if got := TakeBack(before, after, Within(edits, c.ranges...)); string(got) != string(c.want) {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// TestLinesBesideHunks names lines of a hunk that is chosen as a whole, too.
func TestLinesBesideHunks(t *testing.T) {
	t.Parallel()
	before, after := []byte("a\nb\nc\nd\n"), []byte("a\nB\nC\nD\n")
	edits := linediff.Diff(before, after)
	both := append(Within(edits, Range{3, 3}), edits...)
	if got := TakeBack(before, after, append(both, Within(edits, Range{2, 2})...)); string(got) != string(before) {
		t.Errorf("got %q", got)
	}
}

// TestLinesWithoutNewlineDoNotRunTogether brings the last line of the old text to a place before
// others.
func TestLinesWithoutNewlineDoNotRunTogether(t *testing.T) {
	t.Parallel()
	before, after := []byte("a\nb"), []byte("a\nx\ny\n")
	got := TakeBack(before, after, Within(linediff.Diff(before, after), Range{2, 2}))
	if string(got) != "a\nb\ny\n" {
		t.Errorf("got %q", got)
	}
}

// TestManyHunks has ten thousand hunks in one file. Each has a name of its own, and all of them
// together are the whole difference.
func TestManyHunks(t *testing.T) {
	t.Parallel()
	changed := map[int]string{}
	for i := 2; i <= 20_000; i += 2 {
		changed[i] = fmt.Sprint("changed ", i)
	}
	before, after := numbered(20_001, nil), numbered(20_001, changed)
	hunks := Of("a", before, after)
	names, edits := map[string]bool{}, []linediff.Edit(nil)
	for _, h := range hunks {
		names[h.ID] = true
		edits = append(edits, h.Edit)
	}
	if len(names) != 10_000 {
		t.Errorf("%d names of %d hunks", len(names), len(hunks))
	}
	slices.Reverse(edits)
	if string(TakeBack(before, after, edits)) != string(before) {
		t.Error("all hunks together are not the difference")
	}
}
