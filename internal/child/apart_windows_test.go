package child

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestApartLine: cmd.exe gets a line as a person has typed it.
func TestApartLine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`plain`, `"a b"`, `"a" "b c"`, `a\\ "b\\"`, `"&" x`} {
		path := filepath.Join(t.TempDir(), "out")
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := StartApart(t.Context(), []string{"cmd", "/c", "echo " + text}, t.TempDir(), os.Environ(), out)
		if err != nil {
			t.Fatal(err)
		}
		status := a.Wait()
		out.Close()
		got, err := os.ReadFile(path)
		if err != nil || status != 0 || strings.TrimRight(string(got), "\r\n") != text {
			t.Errorf("%s: status %d, output %q, %v", text, status, got, err)
		}
	}
}
