package review

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

const screenOn, screenOff = "\x1b[?1049h", "\x1b[?1049l"

// shownTerminal is a terminal that others can wait for.
type shownTerminal struct {
	mu   sync.Mutex
	out  bytes.Buffer
	more *sync.Cond
}

func newShownTerminal() *shownTerminal {
	s := new(shownTerminal)
	s.more = sync.NewCond(&s.mu)
	return s
}

func (s *shownTerminal) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.Write(p)
	s.more.Broadcast()
	return len(p), nil
}

// wait waits until the terminal was sent a text.
func (s *shownTerminal) wait(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !strings.Contains(s.out.String(), text) {
		s.more.Wait()
	}
}

// ending is a Source that ends the review once the screen is taken.
type ending struct {
	*fake
	term *shownTerminal
	end  func()
}

func (e *ending) Sessions(ctx context.Context) ([]*Session, error) {
	e.term.wait(screenOn)
	e.end()
	return e.fake.Sessions(ctx)
}

// TestInputEnds: a terminal that is gone without a signal has no key for the end. The review ends as with q.
func TestInputEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	in, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	term := newShownTerminal()
	src := &ending{newFake(), term, func() { keys.Close() }}
	if err := Run(ctx, Options{Source: src, Now: func() time.Time { return noon }}, Terminal{In: in, Out: term, Env: []string{"TERM=xterm-256color"}}); err != nil {
		t.Errorf("the review has not ended with its input: %v", err)
	}
}

// TestScreenIsBack: after a panic and after the end of the context the terminal has its own screen
// again.
func TestScreenIsBack(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]error{"panic": tea.ErrProgramPanic, "end": context.Canceled} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		end := cancel
		if what == "panic" {
			end = func() { panic(what) }
		}
		in, keep := io.Pipe()
		defer keep.Close()
		term := newShownTerminal()
		err := Run(ctx, Options{Source: &ending{newFake(), term, end}, Now: func() time.Time { return noon }}, Terminal{In: in, Out: term, Env: []string{"TERM=xterm-256color"}})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
		out := term.out.String()
		if on, off := strings.LastIndex(out, screenOn), strings.LastIndex(out, screenOff); on < 0 || off < on {
			t.Errorf("%s: the screen is not back: %q", what, out)
		}
	}
}
