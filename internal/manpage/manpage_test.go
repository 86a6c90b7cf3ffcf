package manpage

import (
	"os/exec"
	"strings"
	"testing"
)

// rendered is what a page looks like, by groff, with warnings as errors.
func rendered(t testing.TB, page *Page) string {
	t.Helper()
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed: no program judges the pages")
	}
	cmd := exec.Command(groff, "-man", "-Tascii", "-P-cbou", "-ww", "-rLL=300n")
	cmd.Stdin = strings.NewReader(string(Roff(page)))
	var out, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil || complaint.Len() > 0 {
		t.Errorf("%s: %v: %s", page.Name, err, complaint.String())
	}
	return out.String()
}

const sample = `cairn x does
something. A word 'quoted' and "quoted", C:\dir, ~/x, a^b, and back ` + "`ticks`" + `.

Usage:
    cairn x [-n N]
            [--long]

.dots and 'quotes begin this line
'quotes begin this one

Things:
    one A      the first
    two        the second,
               in two lines

After the list.

Options:
    -n, --number N
              how many\n
    --fine    \fBno font\fR %d .\" no comment

Lines of text, ending here:
    $ .run
     'it  is
    \& kept

The status is 1 - or 2.

Exit status:
    0  done

Examples:
    cairn x -n 5     # nothing
`

// TestRoff: sections have their order, lists their terms, and lines that are kept stay as they are.
func TestRoff(t *testing.T) {
	t.Parallel()
	got := rendered(t, &Page{Name: "cairn-x", Short: "do it", Text: sample, Date: "2026-01-02", Source: "cairn 1", SeeAlso: []string{"cairn", "cairn-y"}})
	got, _ = strings.CutSuffix(strings.TrimSpace(got), "CAIRN-X(1)")
	want := []string{
		"CAIRN-X(1)", "NAME\n       cairn-x - do it\n", "SYNOPSIS\n       cairn x [-n N]\n               [--long]\n", "DESCRIPTION\n       cairn x does something. A word 'quoted' and \"quoted\", C:\\dir, ~/x, a^b, and back `ticks`.\n",
		"\n       .dots and 'quotes begin this line 'quotes begin this one\n", "COMMANDS\n   Things\n       one A  the first\n", "       two    the second, in two lines\n",
		"OPTIONS\n       -n, --number N\n              how many\\n\n", "       --fine \\fBno font\\fR %d .\\\" no comment\n", "NOTES\n       After the list.\n",
		"       Lines of text, ending here:\n\n           $ .run\n            'it  is\n           \\& kept\n", "\n       The status is 1 - or 2.\n",
		"EXIT STATUS\n       0      done\n", "EXAMPLES\n           cairn x -n 5     # nothing\n", "SEE ALSO\n       cairn(1), cairn-y(1)\n", "cairn 1", "2026-01-02",
	}
	rest := got
	for _, part := range want {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("not there, or not in this place: %q\n%s", part, got)
		}
		rest = after
	}
}

// FuzzEscaped: groff prints a line of printable characters as it is.
func FuzzEscaped(f *testing.F) {
	for _, line := range []string{`\`, `.TH`, `'br`, "a-b --c", "`'\"^~", `\(aq \fB \*x \n`, "%s {} [x]", ". .", "...", "x.\\\"y"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line = strings.Map(func(r rune) rune {
			if r <= ' ' || r > '~' {
				return -1
			}
			return r
		}, line)
		if line == "" || len(line) > 200 {
			return
		}
		got := rendered(t, &Page{Name: "x", Short: "x", Text: "Examples:\n    " + line, Date: "2026-01-02"})
		if !strings.Contains(got, "\n           "+line+"\n") {
			t.Errorf("%q is printed as\n%s", line, got)
		}
	})
}
