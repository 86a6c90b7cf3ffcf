package syntax

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// spell writes tokens as [kind text], so that a test reads like the line it is about.
func spell(line string, tokens []Token) string {
	letters := [...]string{Comment: "c", String: "s", Number: "n", Keyword: "k", Type: "t", Call: "f", Key: "p"}
	var b strings.Builder
	at := 0
	for _, t := range tokens {
		fmt.Fprintf(&b, "%s[%s %s]", line[at:t.Start], letters[t.Kind], line[t.Start:t.End])
		at = t.End
	}
	return b.String() + line[at:]
}

func TestScanner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, text, want string }{
		{"go", "a.go", "func F(a int) string { return \"a\\\"b\" } // x", `[k func] [f F](a [t int]) [t string] { [k return] [s "a\"b"] } [c // x]`},
		{"comment over lines", "a.c", "a /* b\nc */ d 1", "a [c /* b]\n[c c */] d [n 1]"},
		{"raw string over lines", "a.go", "x := `a\\\n// b`; y", "x := [s `a\\]\n[s // b`]; y"},
		{"quote ends with its line", "a.js", "'a\nlet b", "[s 'a]\n[k let] b"},
		{"lifetime is no character", "a.rs", "fn a<'b>(c: &'b str) { 'x' }", "[k fn] a<'b>(c: &'b [t str]) { [s 'x'] }"},
		{"regular expression", "a.ts", "a.replace(/\"[/]/g, b) / 2 / 3", "a.[f replace]([s /\"[/]]/g, b) / [n 2] / [n 3]"},
		{"three quotes", "a.py", "def f():\n  \"\"\"a\n  'b\"\"\"\n  return None # c", "[k def] [f f]():\n  [s \"\"\"a]\n[s   'b\"\"\"]\n  [k return] [k None] [c # c]"},
		{"hash inside a word", "a.sh", "echo a#b # c", "[k echo] a#b [c # c]"},
		{"json keys", "a.json", `{"a": "b", "c" : [true, 1.5e3]}`, `{[p "a"]: [s "b"], [p "c"] : [[k true], [n 1.5e3]]}`},
		{"yaml", "a.yml", "a-b: 'c' # d", "[p a-b]: [s 'c'] [c # d]"},
		{"toml", "Cargo.toml", "[a]\nb = 1", "[t [a]]\n[p b] = [n 1]"},
		{"html", "a.html", `<a href="x>y" b>c's<!-- d --></a>`, `<[k a] [p href]=[s "x>y"] [p b]>c's[c <!-- d -->]</[k a]>`},
		{"tag over lines", "a.svg", "<a\n b='c\nd'>e", "<[k a]\n [p b]=[s 'c]\n[s d']>e"},
		{"css", "a.css", "a-b { color: red } /* c */", "a-b { [p color]: red } [c /* c */]"},
		{"sql folds case", "a.sql", "SELECT Count(*) FROM a -- b", "[k SELECT] [f Count](*) [k FROM] a [c -- b]"},
		{"markdown", "a.md", "# a\n`b` c\n```\n# d\n```", "[k # a]\n[s `b`] c\n[s ```]\n[s # d]\n[s ```]"},
		{"directive", "a.c", "#include <a>\nint b = c;", "[k #include <a>]\n[t int] b = c;"},
		{"program of the first line", "tool", "#!/usr/bin/env python3\nif a: pass", "[c #!/usr/bin/env python3]\n[k if] a: [k pass]"},
		{"makefile by its name", "src/Makefile", "all: b # c", "[p all]: b [c # c]"},
		{"unknown", "a.xyz", `if "a"`, `if "a"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := NewScanner(For(c.file, []byte(c.text)))
			var got []string
			for line := range strings.SplitSeq(c.text, "\n") {
				got = append(got, spell(line, s.Line([]byte(line+"\n"))))
			}
			if out := strings.Join(got, "\n"); out != c.want {
				t.Errorf("got\n%s\nwant\n%s", out, c.want)
			}
		})
	}
}

// Whatever the text, tokens are in order, apart from each other and inside the line.
func TestTokensAreSound(t *testing.T) {
	t.Parallel()
	var languages []string
	for ext := range tables().byExtension {
		languages = append(languages, ext)
	}
	slices.Sort(languages)
	pieces := []string{"\"", "'", "`", "/*", "*/", "//", "#", "\\", "<", ">", "<!--", "-->", "'''", `"""`, "a", "9", " ", "\t", ":", "=", "/", "\xff", "é", "(", "{", "\r", "\x00", "--", "[[", "]]"}
	rapid.Check(t, func(t *rapid.T) {
		s := NewScanner(For("a."+rapid.SampledFrom(languages).Draw(t, "language"), nil))
		for range rapid.IntRange(1, 6).Draw(t, "lines") {
			line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "line"), "") + "\n"
			at := 0
			for _, token := range s.Line([]byte(line)) {
				if token.Start < at || token.End <= token.Start || token.End > len(line) || token.Kind == 0 || token.Kind > Key {
					t.Fatalf("token %v of %q after %d", token, line, at)
				}
				at = token.End
			}
		}
	})
}

func BenchmarkScanner(b *testing.B) {
	text := []byte(strings.Repeat("func F(a int) string { return \"a\" + f(a, 12) } // x\n", 1000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := NewScanner(For("a.go", nil))
		for line := range strings.Lines(string(text)) {
			s.Line([]byte(line))
		}
	}
}
