package cli

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// TestScreen: an answer is shown alike wherever it is cut into writes.
func TestScreen(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a\u009bb\n", "\u202e", "\x1b[m\u2066\u6f22\U0001f600\n", "\xe2\x80\x9b \xe2\x80", "\x9b\x80\x80\x80\xc2", ""} {
		want := wording.VisibleHigh(text)
		for first := range len(text) + 1 {
			for second := first; second <= len(text); second++ {
				var out bytes.Buffer
				s := &screen{out: &out, clear: func() {}}
				for _, piece := range []string{text[:first], text[first:second], text[second:]} {
					if n, err := s.Write([]byte(piece)); n != len(piece) || err != nil {
						t.Fatalf("%d bytes of %q, %v", n, piece, err)
					}
				}
				if err := s.end(); err != nil || out.String() != want {
					t.Errorf("%q at %d and %d: %q, want %q, %v", text, first, second, out.String(), want, err)
				}
			}
		}
	}
	if err := (*screen)(nil).end(); err != nil {
		t.Error(err)
	}
	s := &screen{out: failing{}, clear: func() {}}
	if _, err := s.Write([]byte("a")); err == nil {
		t.Error("an error is lost")
	}
	s = &screen{out: failing{}, rest: []byte("\xc2")}
	if err := s.end(); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
}

// TestAnswerReplacesProgress: the first line of an answer does not stand behind the progress line.
func TestAnswerReplacesProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := New(strings.NewReader(""), io.Discard, io.Discard, func(string) string { return "" }, t.TempDir())
	c.OutTerminal, c.Console = true, console.New(&out, true)
	now := time.Now().Add(time.Minute)
	c.Console.Now = func() time.Time { return now }
	c.showOn(&out, &cobra.Command{Use: "restore"})
	c.Console.Progress(false)(cairn.Progress{Phase: "scan", Files: 10})
	c.AnswerLine("restored a")
	if err := c.Out.Flush(); err != nil || !strings.HasSuffix(out.String(), "10 files\x1b[K\r\x1b[K\rrestored a\n") {
		t.Errorf("%q, %v", out.String(), err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }
