//go:build unix

package pager

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// run pages a text and returns what the pager printed.
func run(t *testing.T, command, text string) (printed string, early bool) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	ended := make(chan struct{})
	p, err := Start(command, os.Environ(), out, out, func() { close(ended) })
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := p.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if early, err = p.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), early
}

func TestPager(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("x", 64<<10) + "\n"
	all, early := run(t, "cat", page)
	if all != strings.Repeat(page, 100) || early {
		t.Errorf("%d bytes, early: %v", len(all), early)
	}
	if first, early := run(t, "head -n 1", page); first != page || !early {
		t.Errorf("%d bytes, early: %v", len(first), early)
	}
	if said, _ := run(t, "cat >/dev/null; echo end", "x"); said != "end\n" {
		t.Errorf("a shell runs the command: %q", said)
	}
}

// TestPagerMissing: a program that is not there is an error at once, in a shell it is the shell's.
func TestPagerMissing(t *testing.T) {
	t.Parallel()
	if _, err := Start("no-such-pager", nil, os.Stdout, os.Stderr, func() {}); !IsMissing(err) {
		t.Error(err)
	}
	if said, early := run(t, "no-such-pager -R", strings.Repeat("x", 64<<10)); !strings.Contains(said, "not found") || !early {
		t.Errorf("%q, early: %v", said, early)
	}
}
