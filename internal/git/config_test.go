package git

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// listing is what git config --list -z prints of the settings.
func listing(data string) (string, error) {
	var b strings.Builder
	err := parseConfig("c", []byte(data), func(s setting) {
		b.WriteString(s.name)
		if s.hasValue {
			b.WriteString("\n" + s.value)
		}
		b.WriteByte(0)
	})
	return b.String(), err
}

var configs = []string{
	"", "\n", "k = v\n", "[a]\nx", "[a]\nx\n", "[a]\nx=\n", "[a]\nx = 1\n", "[a] x = 1", "[a]x=1 [b] y=2\n", "[a][b]x=1",
	"[]\nx=1\n", "[ ]x=1", "[.]\nx=1", "[a ]\nx=1\n", "[ a]\nx=1", "[a.B.c]\nX\n", "[a-b]\nx=1", "[a_b]\nx=1", "[1]\nx=1",
	"[a \"b\"]\nx\n", "[a\t\"b\"]\nx\n", "[a\"b\"]\nx\n", "[a \"b\" ]\nx\n", "[A \"B\"]\nX=Y\n", "[a \"\"]\nx=1", "[a \"b.c\"]\nx=1",
	"[a \"b\\\\\\\"\\q\\t\"]\nx=1", "[a \"b]\nx=1", "[a \"b\nc\"]\nx=1", "[a \"b\\\nc\"]\nx=1", "[a\n\"b\"]\nx=1", "[a b]\nx=1", "[a", "[a \"", "[a \"b\"",
	"[a]\nx # c\n", "[a]\nx=1 # c\n", "[a]\nx=1;2\ny=\"1;2\"#a", "# c\n; d\n[a] # e\nx=1", "[a]\nx=1\n#", "[a]\nx=\"#\" ; \"\n",
	"[a]\nx = a \\\n  b\n", "[a]\nx=\\", "[a]\nx=\\\n", "[a]\nx=\"abc\\\n def\"\n", "[a]\nx = 1 \\\n", "[a]\nx = 1 \\", "[a]\nx=1\\\n#c\n", "[a]\nx=1 # c \\\ny=2\n",
	"[a]\nx=\"abc\n", "[a]\nx=\"abc", "[a]\nx=a\"b c\"d\n", "[a]\nx=\" a \"\n", "[a]\nx = a \"\" \n", "[a]\nx=\"\"\n", "[a]\nx=\\t\\n\\b\\\"\\\\\n", "[a]\nx=\\r\n", "[a]\nx=\\q", "[a]\nx=\"\\",
	"[a]\nx==\n", "[a]\nx = = b\n", "[a]\nx=a]b\n", "[a]\n  x  =  1  \n", "[a]\nx\t=\t1\t\n", "[a]\nx\x0b=1", "[a]\nx=\x0c1\x0b2\n",
	"[a]\n1x=1", "[a]\n-x=1", "[a]\nx1-y=1", "[a]\nx_y=1", "[a]\nx.y=1", "[a]\n=1", "[a]\n\"x\"=1", "[a]\nXy=1", "[a]\nx y=1",
	"[a]\r\nx = 1\r\ny\r\n", "[a]\nx\r", "[a]\nx = 1 \\\r\n 2\r\n", "[a]\nx=a\rb\n", "[a]\nx=a\r", "\r[a]\rx=1", "[a]\nx=\"a\r\nb\"",
	"\xef\xbb\xbf[a]\nx=1", "\xef\xbb[a]\nx=1", "\xef\xbb\xbf\xef\xbb\xbf[a]\nx=1", "[a]\n\xef\xbb\xbfx=1", "[a]\nx=\xff\xfe\xef\xbb\xbf",
	"[\xc3\xa9]\nx=1", "[a \"\xff\"]\nx=1", "[a]\n\xc3\xa9=1", "}", "[a]\nx=1\n}\ny=2\n", "x", "[a]\nx=1\n\n\n[b",
}

// parseConfig reads what git reads and stops where git stops.
func TestConfigAgainstGit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	for _, data := range configs {
		compareConfig(t, o, data)
	}
}

var configPieces = []string{
	"[", "]", "[a]", "[core]\n", "[a \"b\"]", "[a \"", "\"", "\\", "\n", "\n", "\n", " ", "\t", "=", "=", "x", "y = ", "key", "\nz=", "#", ";",
	"true", "\\\n", "\\n", "\\\"", "\r\n", "\r", "-", ".", "1", "\x0b", "\xff", "é", "\ufeff", "'", "value with blanks",
}

func randomConfig(rng *rand.Rand) string {
	var b strings.Builder
	for range 1 + rng.IntN(30) {
		if rng.IntN(3) == 0 {
			b.WriteString("\n[s]\nk=")
		}
		b.WriteString(configPieces[rng.IntN(len(configPieces))])
	}
	return b.String()
}

func TestRandomConfigsAgainstGit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	rng := rand.New(rand.NewPCG(7, 7))
	good := 0
	all := gittest.Rounds(600)
	for range all {
		if compareConfig(t, o, randomConfig(rng)) {
			good++
		}
	}
	if good < all/10 || good > all-all/10 {
		t.Errorf("%d of %d configurations are valid: the test does not tell much", good, all)
	}
}

// compareConfig reports whether data is valid.
func compareConfig(t *testing.T, o *gittest.Oracle, data string) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c")
	write(t, path, data)
	want, gitErr := o.Try(filepath.Dir(path), "config", "-f", "c", "--no-includes", "--list", "-z")
	got, err := listing(data)
	if !o.AtLeast(2, 46) { // which turned blanks inside of a value into spaces
		blanks := strings.NewReplacer("\t", " ", "\r", " ")
		want, got = blanks.Replace(want), blanks.Replace(got)
	}
	if got != want {
		t.Errorf("%q: read %q, git reads %q", data, got, want)
	}
	if (err != nil) != (gitErr != nil) {
		t.Errorf("%q: error %v, git says %v", data, err, gitErr)
		return false
	}
	if err != nil {
		compareLine(t, data, err, gitErr)
	}
	return err == nil
}

// compareLine compares where the mistake is. At the end of a file git counts a line
// more than there is, and a header that goes on in the next line it finds there.
func compareLine(t *testing.T, data string, err, gitErr error) {
	t.Helper()
	var syntax *SyntaxError
	var line int
	if !errors.As(err, &syntax) {
		t.Fatalf("%q: %v is no SyntaxError", data, err)
	}
	_, text, _ := strings.Cut(gitErr.Error(), "bad config line ")
	if _, err := fmt.Sscanf(text, "%d", &line); err != nil {
		t.Fatalf("%q: cannot read %v", data, gitErr)
	}
	if line > strings.Count(data, "\n")+1 || line > 1 && syntax.Problem == "section header does not end" && syntax.Line == line-1 {
		line--
	}
	if syntax.Line != line {
		t.Errorf("%q: %v, git says %v", data, err, gitErr)
	}
}

func TestConfigNUL(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"[a]\nx=1\x002\n", "[a \"b\x00\"]\nx=1", "[a\x00]\nx=1", "[a]\nx\x00=1", "\x00"} {
		if list, err := listing(data); err == nil {
			t.Errorf("%q is read as %q, want an error", data, list)
		}
	}
	if list, err := listing("# \x00\n[a]\nx=1 ; \x00\n"); err != nil || list != "a.x\n1\x00" {
		t.Errorf("NUL in comments: %q, %v", list, err)
	}
}

func TestSyntaxErrorText(t *testing.T) {
	t.Parallel()
	err := parseConfig("/home/u/.gitconfig", []byte("[a]\nx = \"open\n"), func(setting) {})
	if want := "/home/u/.gitconfig:2: quote does not end"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestBooleanAgainstGit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := t.TempDir()
	for _, value := range []string{ // git takes -2147483648 from 2.54 on
		"true", "TRUE", "yes", "Yes", "on", "false", "no", "off", "OFF", "t", "f", "y", "", "1", "0", "-1", "+1", "00", "-0", "+", "-", "+-1",
		"0x10", "0x", "0X1f", "010", "08", "0b1", "0o7", "1_0", "1k", "1K", "1m", "1g", "2g", "3g", "0k", "k", "1kk", "0x1k", "1.0", " 1", "1 ", "\v1", "\t\n1",
		"2147483647", "-2147483647", "2147483648", "99999999999999999999", "1e3", "nope",
	} {
		data := "[a]\nx = \"" + strings.NewReplacer("\t", `\t`, "\n", `\n`).Replace(value) + "\"\n"
		write(t, filepath.Join(dir, "c"), data)
		want, gitErr := o.Try(dir, "config", "-f", "c", "--type=bool", "a.x")
		var got bool
		var err error
		if parseErr := parseConfig("c", []byte(data), func(s setting) { got, err = s.boolean() }); parseErr != nil {
			t.Fatal(parseErr)
		}
		if (err != nil) != (gitErr != nil) || err == nil && strconv.FormatBool(got) != strings.TrimSpace(want) {
			t.Errorf("%q is %v (%v), git says %q (%v)", value, got, err, want, gitErr)
		}
	}
	if b, err := (setting{name: "a.x"}).boolean(); !b || err != nil {
		t.Errorf("no value is %v, %v, want true", b, err)
	}
}

// FuzzConfig: whatever the bytes, the parser ends, and says where it stopped.
func FuzzConfig(f *testing.F) {
	for _, data := range configs {
		f.Add([]byte(data))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		f.Add([]byte(randomConfig(rng)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		size, settings := 0, 0
		err := parseConfig("c", data, func(s setting) {
			size += len(s.value)
			settings++
			if s.name == "" || strings.IndexByte(s.name+s.value, 0) >= 0 || s.line < 1 {
				t.Errorf("bad setting %+v", s)
			}
			_, _ = s.boolean()
		})
		if size > len(data) || settings > len(data) {
			t.Errorf("%d settings with %d bytes out of %d", settings, size, len(data))
		}
		var syntax *SyntaxError
		if err != nil && (!errors.As(err, &syntax) || syntax.Line < 1 || syntax.Line > strings.Count(string(data), "\n")+1) {
			t.Errorf("error %v for %d lines", err, strings.Count(string(data), "\n")+1)
		}
		dir := t.TempDir() // and the whole reader, with includes of itself
		if err := os.WriteFile(filepath.Join(dir, ".gitconfig"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, _ = UserIgnoreSettings(UserConfig{Home: dir}, dir)
	})
}
