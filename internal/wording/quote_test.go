package wording

import (
	"os/exec"
	"strings"
	"testing"
)

// TestShellWord asks a shell whether it reads the word that was meant.
func TestShellWord(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	for _, word := range []string{
		"", "@", "@~1", "@~2..@~1", "a b", "it's", `"`, `\`, "$HOME", "`x`", "a;b", "*", "~", "~x", "#", "!x", "{a,b}", "-x",
		"new\nline", "tab\there's \\ \x7f\x01", "\x1b[31m", "été", "lat\xefn\n1", "--patches=a b", "c1\u009b31m", "rtl \u202e\u2069",
	} {
		quoted := ShellWord(word)
		if strings.ContainsFunc(quoted, IsControl) || strings.ContainsFunc(quoted, isHigh) {
			t.Errorf("%q: control characters in %q", word, quoted)
		}
		out, err := exec.Command(shell, "-c", "printf -- %s "+quoted).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q: the shell reads %q from %s (%v)", word, out, quoted, err)
		}
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a ü 漢\u00a0":  "a ü 漢\u00a0",
		"\a\n\x1b[m":   `\a\n\033[m`,
		"é\u009b31m":   `é\302\23331m`,
		"\u0080\u009f": `\302\200\302\237`,
		"a\u202eb\xff": "a\\342\\200\\256b\xff",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
