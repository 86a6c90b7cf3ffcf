package linediff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
)

// lines makes a text of words, a word a line.
func lines(words string) string {
	return strings.Join(strings.Fields(words), "\n") + "\n"
}

// numbered is a text of the lines prefix+from to prefix+to.
func numbered(prefix string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%s%d\n", prefix, i)
	}
	return b.String()
}

// cases are asked of git as well; want, where given, is the patch to print.
var cases = []struct{ name, a, b, want string }{
	{name: "both empty"},
	{name: "identical", a: "x\ny\n", b: "x\ny\n"},
	{name: "identical without final newline", a: "x\ny", b: "x\ny"},
	{name: "all new", b: "x\ny\n", want: "@@ -0,0 +1,2 @@\n+x\n+y\n"},
	{name: "all new, one line", b: "x\n", want: "@@ -0,0 +1 @@\n+x\n"},
	{name: "all new without final newline", b: "x\ny", want: "@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n"},
	{name: "all gone", a: "x\ny\n", want: "@@ -1,2 +0,0 @@\n-x\n-y\n"},
	{name: "all gone without final newline", a: "x", want: "@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n"},
	{name: "one empty line new", b: "\n", want: "@@ -0,0 +1 @@\n+\n"},
	{name: "one line", a: "x\n", b: "y\n", want: "@@ -1 +1 @@\n-x\n+y\n"},
	{
		name: "final newline lost", a: "x\ny\n", b: "x\ny",
		want: "@@ -1,2 +1,2 @@\n x\n-y\n+y\n\\ No newline at end of file\n",
	},
	{
		name: "final newline gained", a: "x\ny", b: "x\ny\n",
		want: "@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+y\n",
	},
	{
		name: "no final newline on either side", a: "x\ny", b: "z\ny",
		want: "@@ -1,2 +1,2 @@\n-x\n+z\n y\n\\ No newline at end of file\n",
	},
	{
		name: "both last lines differ without newline", a: "x", b: "y",
		want: "@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n",
	},
	{name: "line appended after a missing newline", a: "x\ny", b: "x\ny\nz"},
	{name: "to CRLF", a: "x\ny\nz\n", b: "x\r\ny\r\nz\r\n"},
	{name: "one line to CRLF", a: "x\r\ny\nz\r\n", b: "x\r\ny\r\nz\r\n", want: "@@ -1,3 +1,3 @@\n x\r\n-y\n+y\r\n z\r\n"},
	{name: "lone CR is no line end", a: "x\ry\rz", b: "x\ry\rq"},
	{name: "NUL late in the file", a: strings.Repeat("1234567\n", 1000) + "\x00\n", b: strings.Repeat("1234567\n", 1000) + "\x00\x00\n"},

	{name: "change at line 1", a: numbered("", 1, 9), b: "x\n" + numbered("", 2, 9)},
	{name: "change in the last line", a: numbered("", 1, 9), b: numbered("", 1, 8) + "x\n"},
	{name: "six lines between changes make one hunk", a: numbered("", 1, 20), b: lines("1 2 3 4 x 6 7 8 9 10 11 y 13 14 15 16 17 18 19 20")},
	{name: "seven lines between changes make two hunks", a: numbered("", 1, 20), b: lines("1 2 3 4 x 6 7 8 9 10 11 12 y 14 15 16 17 18 19 20")},
	{name: "deletion and insertion apart", a: lines("a b c d e f g h i j k l m n"), b: lines("a c d e f g h i j k l m x n")},

	// Positions of groups that can slide.
	{
		name: "a copy of a function goes below", a: "func a() {\n\tx()\n}\n\nend\n",
		b:    "func a() {\n\tx()\n}\n\nfunc b() {\n\tx()\n}\n\nend\n",
		want: "@@ -2,4 +2,8 @@ func a() {\n \tx()\n }\n \n+func b() {\n+\tx()\n+}\n+\n end\n",
	},
	{name: "blank line slides down", a: "a\n\nb\n", b: "a\n\n\nb\n"},
	{name: "blank lines removed from a run", a: "a\n\n\n\n\nb\n", b: "a\n\nb\n"},
	{name: "block before a blank line", a: "a\n\nb\n\nc\n", b: "a\n\nx\n\nb\n\nc\n"},
	{name: "no blank line but dedent", a: "for {\n  a\n}\n", b: "for {\n  a\n}\nfor {\n  b\n}\n"},
	{name: "else branch", a: "if {\n  a\n}\n", b: "if {\n  a\n} else {\n  b\n  a\n}\n"},
	{name: "comment above function", a: "// one\nfunc one() {\n}\n", b: "// two\nfunc two() {\n}\n// one\nfunc one() {\n}\n"},
	{name: "end keyword", a: "def a\n  x\nend\n\ndef c\n  x\nend\n", b: "def a\n  x\nend\n\ndef b\n  x\nend\n\ndef c\n  x\nend\n"},
	{name: "at the start of the file", a: "a\nb\n", b: "a\na\nb\n"},
	{name: "at the end of the file", a: "a\nb\n", b: "a\nb\nb\n"},
	{name: "the end of the file is no good end", a: "a\n\n c\n\n   d\n   d\n  b\n c\n\n   d\n   d\n", b: "a\n\n c\n\n   d\n   d\n  b\n c\n\n   d\n   d\n  b\n c\n\n   d\n   d\n"},
	{name: "many blank lines", a: "a\n" + strings.Repeat("\n", 30) + "b\n", b: "a\n" + strings.Repeat("\n", 30) + "c\n" + strings.Repeat("\n", 30) + "b\n"},
	{name: "twenty blank lines", a: " a\n" + strings.Repeat("\n", 20) + " b\n", b: " a\n" + strings.Repeat("\n", 20) + " c\n" + strings.Repeat("\n", 20) + " b\n"},
	{name: "indents beyond the limit", a: in(250) + "a\n" + in(200) + "b\n", b: in(250) + "a\n" + in(199) + "x\n" + in(250) + "a\n" + in(200) + "b\n"},
	{name: "tabs and blanks", a: "\ta\n    \tb\n\t}\n", b: "\ta\n    \tb\n        c\n    \tb\n\t}\n"},
	{name: "form feed is no blank", a: "a\n\f\nb\n", b: "a\n\f\nc\n\f\nb\n"},
	{name: "CR and blanks are blank", a: "a\n \r\n b\n", b: "a\n \r\n c\n \r\n b\n"},
	{name: "slides over more than a hundred lines", a: "a\n" + strings.Repeat("  x\n", 150) + "b\n", b: "a\n" + strings.Repeat("  x\n", 151) + "b\n"},
	{name: "slides from a shallow line far above", a: "  a\n" + strings.Repeat("  x\n", 99) + "b\n", b: "  a\n" + strings.Repeat("  x\n", 100) + "b\n"},
	{name: "moves to the deletion it can meet", a: "a\nb\nb\nc\nb\nd\n", b: "a\nb\nb\nb\nx\nb\nd\n"},
	{name: "groups merge while sliding", a: lines("a x x b x x c"), b: lines("a x x x b x x x c")},
	{name: "very repetitive", a: strings.Repeat("a\nb\n", 200), b: strings.Repeat("a\nb\nb\n", 130) + "a\n"},
	{name: "one word many times", a: strings.Repeat("x\n", 500), b: strings.Repeat("x\n", 321)},

	// Lines the search does not see.
	{name: "common line in a rewritten block", a: numbered("u", 1, 9) + "}\n" + numbered("v", 1, 9) + strings.Repeat("}\n", 20), b: numbered("w", 1, 9) + "}\n" + numbered("z", 1, 9) + strings.Repeat("}\n", 20)},
	{name: "common line with too few unmatched ones", a: numbered("u", 1, 3) + "}\n" + numbered("v", 1, 3) + strings.Repeat("}\n", 20), b: numbered("w", 1, 3) + "}\n" + numbered("z", 1, 3) + strings.Repeat("}\n", 20)},
	{name: "common lines at the edge of the reach", a: commonAt(100), b: strings.ReplaceAll(commonAt(100), "u", "w")},
	{name: "common lines beyond the reach", a: commonAt(101), b: strings.ReplaceAll(commonAt(101), "u", "w")},
	{name: "common only with the common tail", a: numbered("u", 1, 20) + "X\n" + numbered("v", 1, 20) + "end\n" + strings.Repeat("X\n", 1536), b: numbered("w", 1, 20) + "X\n" + numbered("z", 1, 20) + "end\n" + strings.Repeat("X\n", 1536)},

	// The tail that git leaves unread when it prints no context.
	{name: "tail of 1023 bytes", a: strings.Repeat("12\n", 341), b: strings.Repeat("12\n", 342)},
	{name: "tail of 1026 bytes", a: strings.Repeat("12\n", 342), b: strings.Repeat("12\n", 343)},
	{name: "tail of one block", a: strings.Repeat("1\n", 512), b: strings.Repeat("1\n", 513)},
	{name: "tail of a long line", a: "a\n" + strings.Repeat("y", 5000), b: "b\n" + strings.Repeat("y", 5000)},
	{name: "tail of long lines", a: strings.Repeat(strings.Repeat("y", 600)+"\n", 8), b: strings.Repeat(strings.Repeat("y", 600)+"\n", 9)},

	// Headings.
	{name: "heading", a: "func a() {\n" + numbered("", 1, 9), b: "func a() {\n" + numbered("", 1, 8) + "x\n", want: "@@ -7,4 +7,4 @@ func a() {\n 6\n 7\n 8\n-9\n+x\n"},
	{name: "heading of an underscore", a: "_a\n" + numbered("", 1, 9), b: "_a\n" + numbered("", 1, 8) + "x\n"},
	{name: "heading of a dollar", a: "$a\n" + numbered("", 1, 9), b: "$a\n" + numbered("", 1, 8) + "x\n"},
	{name: "no heading of a digit, blank or bracket", a: "1\n a\n}\n" + numbered("", 1, 9), b: "1\n a\n}\n" + numbered("", 1, 8) + "x\n"},
	{name: "no heading of a letter beyond ASCII", a: "éa\n" + numbered("", 1, 9), b: "éa\n" + numbered("", 1, 8) + "x\n"},
	{name: "heading within the context is not seen", a: numbered("", 1, 6) + "func b() {\n1\n9\n", b: numbered("", 1, 6) + "func b() {\n1\nx\n"},
	{name: "heading kept for the next hunk", a: "func a() {\n" + numbered("", 1, 40), b: "func a() {\n" + numbered("", 1, 9) + "x\n" + numbered("", 11, 29) + "y\n" + numbered("", 31, 40)},
	{name: "heading from the old text", a: "func a() {\n" + numbered("", 1, 40), b: "func b() {\n" + numbered("", 1, 29) + "y\n" + numbered("", 31, 40)},
	{name: "heading of 80 bytes", a: heading(strings.Repeat("a", 80), "9"), b: heading(strings.Repeat("a", 80), "x")},
	{name: "heading of 81 bytes", a: heading(strings.Repeat("a", 81), "9"), b: heading(strings.Repeat("a", 81), "x")},
	{name: "heading cut amid blanks", a: heading(strings.Repeat("a", 70)+"               b", "9"), b: heading(strings.Repeat("a", 70)+"               b", "x")},
	{name: "heading cut amid a character", a: heading(strings.Repeat("a", 79)+"é", "9"), b: heading(strings.Repeat("a", 79)+"é", "x")},
	{name: "heading cut amid a character after blanks", a: heading("a"+strings.Repeat(" ", 77)+"€", "9"), b: heading("a"+strings.Repeat(" ", 77)+"€", "x")},
	{name: "heading with blanks at its end", a: heading("func a() \t \r", "9"), b: heading("func a() \t \r", "x")},
	{name: "heading with form feed at its end", a: heading("func a()\f\v", "9"), b: heading("func a()\f\v", "x")},
	{name: "heading in UTF-8", a: heading("función ñandú() // €😀", "9"), b: heading("función ñandú() // €😀", "x")},
	{name: "heading in Latin 1", a: heading("funci\xf3n x()", "9"), b: heading("funci\xf3n x()", "x")},
	{name: "heading with a surrogate", a: heading("a\xed\xa0\x80b", "9"), b: heading("a\xed\xa0\x80b", "x")},
	{name: "heading with a noncharacter", a: heading("a\uffffb", "9"), b: heading("a\uffffb", "x")},
	{name: "heading with another noncharacter", a: heading("a\ufffeb", "9"), b: heading("a\ufffeb", "x")},
	{name: "heading with the replacement character", a: heading("a\ufffdb", "9"), b: heading("a\ufffdb", "x")},
}

func in(n int) string { return strings.Repeat(" ", n) }

func heading(line, last string) string { return line + "\n" + numbered("", 1, 8) + last + "\n" }

// commonAt has a common line X amid unmatched ones, and common lines that tip the
// balance unless they are further away than so many lines.
func commonAt(distance int) string {
	return strings.Repeat("X\n", 400) + "m\n" + strings.Repeat("X\n", 32) + numbered("u", 1, distance-1) + "X\n" + numbered("ux", 1, 3) + "m\n" + "end\n"
}

func TestCasesAreWhatGitPrints(t *testing.T) {
	t.Parallel()
	var pairs []textPair
	for _, c := range cases {
		pairs = append(pairs, textPair{c.name, []byte(c.a), []byte(c.b)})
	}
	comparePairs(t, pairs, 3, 0, 1, 100)
}

func TestCases(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a, b := []byte(c.a), []byte(c.b)
			patch, st := unified(t, a, b, defaultContext)
			if c.want != "" && string(patch) != c.want {
				t.Errorf("patch\n%s\nwant\n%s", patch, c.want)
			}
			if n := Count(a, b); n != st {
				t.Errorf("Count says %v, WriteUnified %v", n, st)
			}
			if msg := checkEdits(a, b, Diff(a, b)); msg != "" {
				t.Error(msg)
			}
			if got, err := patched(a, patch); err != nil || !bytes.Equal(got, b) {
				t.Errorf("the patch makes %q (%v), want %q", got, err, b)
			}
		})
	}
}

func TestEqualTextsHaveNoHunks(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", "a\n", "a\n\nb"} {
		patch, st := unified(t, []byte(s), []byte(s), 3)
		if len(patch) > 0 || st != (Stat{}) || Count([]byte(s), []byte(s)) != (Stat{}) || len(Diff([]byte(s), []byte(s))) > 0 {
			t.Errorf("%q differs from itself", s)
		}
	}
}

func TestBinary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		content string
		want    bool
	}{
		{"", false},
		{"text\n", false},
		{"\xff\xfe\x01", false},
		{"a\x00b", true},
		{strings.Repeat("x", 7999) + "\x00", true},
		{strings.Repeat("x", 8000) + "\x00", false},
	} {
		if got := Binary([]byte(c.content)); got != c.want {
			t.Errorf("Binary of %d bytes is %v, want %v", len(c.content), got, c.want)
		}
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	a, b := []byte(numbered("", 1, 100)), []byte(strings.Replace(numbered("", 1, 100), "50\n", "x\n", 1))
	for _, c := range []struct {
		context int
		want    string
	}{
		{0, "@@ -47,7 +47,7 @@"},
		{-1, "@@ -50 +50 @@"},
		{-7, "@@ -50 +50 @@"},
		{1, "@@ -49,3 +49,3 @@"},
		{1 << 30, "@@ -1,100 +1,100 @@"},
		{int(^uint(0) >> 1), "@@ -1,100 +1,100 @@"},
	} {
		var buf bytes.Buffer
		if _, err := WriteUnified(&buf, a, b, Options{Context: c.context}); err != nil {
			t.Fatal(err)
		}
		if got, _, _ := strings.Cut(buf.String(), "\n"); got != c.want {
			t.Errorf("context %d: %s, want %s", c.context, got, c.want)
		}
	}
}

// failingWriter takes so many bytes and then fails.
type failingWriter struct{ room int }

var errFull = errors.New("full")

func (w *failingWriter) Write(p []byte) (int, error) {
	if len(p) > w.room {
		n := w.room
		w.room = 0
		return n, errFull
	}
	w.room -= len(p)
	return len(p), nil
}

func TestWriteErrorsComeBack(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", 3*outputBuffer) + "\n"
	for name, c := range map[string][2]string{
		"short":      {"a\n", "b\n"},
		"all new":    {"", numbered("line ", 1, 50000)},
		"long lines": {long + "a\n", long + "b\n"},
		"many hunks": {strings.Repeat(numbered("", 1, 50)+"a\n", 2000), strings.Repeat(numbered("", 1, 50)+"b\n", 2000)},
	} {
		size, _ := unified(t, []byte(c[0]), []byte(c[1]), 3)
		for _, room := range []int{0, 1, outputBuffer, len(size) - 1} {
			if room >= len(size) {
				continue
			}
			if _, err := WriteUnified(&failingWriter{room}, []byte(c[0]), []byte(c[1]), Options{}); !errors.Is(err, errFull) {
				t.Errorf("%s: room for %d of %d bytes: error %v", name, room, len(size), err)
			}
		}
		if _, err := WriteUnified(&failingWriter{len(size)}, []byte(c[0]), []byte(c[1]), Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLongLines writes lines around the size of the buffer.
func TestLongLines(t *testing.T) {
	t.Parallel()
	for _, n := range []int{outputBuffer - 2, outputBuffer - 1, outputBuffer, outputBuffer + 1, 5 * outputBuffer} {
		long := strings.Repeat("y", n)
		a, b := []byte("a\n"+long+"\nb"), []byte("c\n"+long+"\n"+long)
		want := "@@ -1,3 +1,3 @@\n-a\n+c\n " + long + "\n-b\n\\ No newline at end of file\n+" + long + "\n\\ No newline at end of file\n"
		if got, _ := unified(t, a, b, 3); string(got) != want {
			t.Errorf("line of %d bytes: %d bytes written, want %d", n, len(got), len(want))
		}
	}
}

// checkEdits says what is wrong with the edits as a way from a to b, or "".
func checkEdits(a, b []byte, edits []Edit) string {
	ta, tb := newText(a), newText(b)
	var made []byte
	atA, atB := 0, 0
	for i, e := range edits {
		switch {
		case e.A0 > e.A1 || e.B0 > e.B1 || e.A1 > ta.lines() || e.B1 > tb.lines():
			return fmt.Sprintf("edit %d %v is out of range", i, e)
		case e.A0 == e.A1 && e.B0 == e.B1:
			return fmt.Sprintf("edit %d %v changes nothing", i, e)
		case e.A0-atA != e.B0-atB || e.A0 < atA || i > 0 && e.A0 == atA:
			return fmt.Sprintf("edit %d %v does not follow %v", i, e, edits[max(0, i-1)])
		}
		made = append(made, ta.slice(atA, e.A0)...)
		made = append(made, tb.slice(e.B0, e.B1)...)
		atA, atB = e.A1, e.B1
	}
	made = append(made, ta.slice(atA, ta.lines())...)
	if !bytes.Equal(made, b) {
		return fmt.Sprintf("the edits make %q, want %q", clip(made), clip(b))
	}
	return ""
}

func clip(b []byte) []byte { return b[:min(len(b), 200)] }

// patched applies hunks to a, checking every line and number on the way.
func patched(a, patch []byte) ([]byte, error) {
	old := newText(a)
	var out []byte
	done, made := 0, 0 // lines of a consumed, lines of b written
	for len(patch) > 0 {
		header, rest, _ := bytes.Cut(patch, []byte("\n"))
		patch = rest
		at, n, atNew, nNew, err := parseHeader(string(header))
		if err != nil {
			return nil, err
		}
		if at < done || at+n > old.lines() || made+at-done != atNew {
			return nil, fmt.Errorf("hunk %q does not fit in", header)
		}
		out = append(out, old.slice(done, at)...)
		made += at - done
		done = at
		for done < at+n || made < atNew+nNew {
			line, rest, found := bytes.Cut(patch, []byte("\n"))
			if !found || len(line) == 0 {
				return nil, io.ErrUnexpectedEOF
			}
			patch = rest
			content := append(bytes.Clone(line[1:]), '\n')
			if tail, ok := bytes.CutPrefix(patch, []byte("\\ No newline at end of file\n")); ok {
				patch, content = tail, content[:len(content)-1]
			}
			if mark := line[0]; mark == ' ' || mark == '-' {
				if done >= old.lines() || !bytes.Equal(old.line(done), content) {
					return nil, fmt.Errorf("line %d is not %q", done+1, content)
				}
				done++
			}
			if mark := line[0]; mark == ' ' || mark == '+' {
				out = append(out, content...)
				made++
			}
		}
	}
	return append(out, old.slice(done, old.lines())...), nil
}

// parseHeader reads "@@ -1,2 +3,4 @@ heading" and numbers lines from 0.
func parseHeader(line string) (at, n, atNew, nNew int, err error) {
	fields := strings.SplitN(line, " ", 4)
	if len(fields) < 4 || fields[0] != "@@" || !strings.HasPrefix(fields[3], "@@") {
		return 0, 0, 0, 0, fmt.Errorf("hunk header %q", line)
	}
	span := func(s, mark string) (at, n int) {
		first, count, several := strings.Cut(strings.TrimPrefix(s, mark), ",")
		at, err1 := strconv.Atoi(first)
		n = 1
		if several {
			var err2 error
			n, err2 = strconv.Atoi(count)
			err = errors.Join(err, err2)
		}
		err = errors.Join(err, err1)
		if n > 0 {
			at--
		}
		return at, n
	}
	at, n = span(fields[1], "-")
	atNew, nNew = span(fields[2], "+")
	return at, n, atNew, nNew, err
}
