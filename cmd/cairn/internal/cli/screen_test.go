package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

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
				s := &screen{out: &out}
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
	s := &screen{out: failing{}}
	if _, err := s.Write([]byte("a")); err == nil {
		t.Error("an error is lost")
	}
	s = &screen{out: failing{}, rest: []byte("\xc2")}
	if err := s.end(); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }
