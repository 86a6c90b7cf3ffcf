package review

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

const screenOn, screenOff = "\x1b[?1049h", "\x1b[?1049l"

// shownTerminal tells when a program has taken the screen.
type shownTerminal struct {
	mu    sync.Mutex
	out   bytes.Buffer
	taken chan struct{}
	once  sync.Once
}

func (s *shownTerminal) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.Write(p)
	if strings.Contains(s.out.String(), screenOn) {
		s.once.Do(func() { close(s.taken) })
	}
	return len(p), nil
}

// ending is a Source that ends the review once the screen is taken.
type ending struct {
	*fake
	taken chan struct{}
	end   func()
}

func (e *ending) Sessions(ctx context.Context) ([]*Session, error) {
	<-e.taken
	e.end()
	return e.fake.Sessions(ctx)
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
		term := &shownTerminal{taken: make(chan struct{})}
		err := Run(ctx, Options{Source: &ending{newFake(), term.taken, end}, Now: func() time.Time { return noon }}, Terminal{In: in, Out: term, Env: []string{"TERM=xterm-256color"}})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
		out := term.out.String()
		if on, off := strings.LastIndex(out, screenOn), strings.LastIndex(out, screenOff); on < 0 || off < on {
			t.Errorf("%s: the screen is not back: %q", what, out)
		}
	}
}
