//go:build linux

package e2e

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// requests are those that the model got: how many of them passed a command of cairn on, and the texts
// of the newest.
type requests struct {
	atomic.Int64
	mu     sync.Mutex
	newest string
}

func (r *requests) note(messages []message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest = ""
	for _, m := range messages {
		r.newest += m.text + "\n"
	}
}

func (r *requests) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.newest
}

const reportHead = "Report of cairn"

// reports: after an undo in a shell the model hears of it with the next prompt, and not a second time.
// A shell is a process of its own, and so is each call of a headless agent.
func (s *sandbox) reports(play func(script)) {
	s.t.Helper()
	play(script{write(s.at(true)("agent.txt"), "agent\n"), shell("rm gone.txt"), "the agent has written"})
	s.cairn("session", "undo", "@")
	if strings.Contains(s.asks.text(), reportHead) {
		s.t.Errorf("a report before the undo:\n%s", last([]byte(s.asks.text()), 2000))
	}
	for _, end := range []string{"it goes on", "it goes on again"} {
		play(script{end})
		heard := s.asks.text()
		if n := strings.Count(heard, reportHead); n != 1 {
			s.t.Fatalf("%s: %d reports in the conversation:\n%s\nhooks: %s", end, n, last([]byte(heard), 3000), s.hooksLog())
		}
		for _, want := range []string{"It is no request.", "taken back: the turn \"please play", "\ndeleted agent.txt\nrestored gone.txt\n"} {
			if !strings.Contains(heard, want) {
				s.t.Errorf("%s: no %q in\n%s", end, want, last([]byte(heard), 3000))
			}
		}
	}
}

func TestClaudeReport(t *testing.T) {
	needTier(t, 1)
	a, _ := claude(t)
	a.reports(func(s script) { a.play(s) })
}

func TestCodexReport(t *testing.T) {
	needTier(t, 1)
	a := codex(t)
	a.reports(func(s script) { a.play(s) })
}

func TestGeminiReport(t *testing.T) {
	needTier(t, 3)
	a := geminiTalker(t)
	a.reports(func(s script) { a.play(s) })
}

func TestQwenReport(t *testing.T) {
	needTier(t, 3)
	a := qwenTalker(t)
	a.reports(func(s script) { a.play(s) })
}

func TestPiReport(t *testing.T) {
	withPi(t, func(t *testing.T, v piVersion) {
		p := startPi(t, v)
		p.reports(func(s script) { p.play(s) })
	})
}

func TestOpenCodeReport(t *testing.T) {
	needTier(t, 2)
	s := startOpenCode(t, true).begin()
	s.reports(func(turns script) { s.play(turns) })
}

// TestCopilotReport: Copilot CLI looks for the report in a place of its own.
func TestCopilotReport(t *testing.T) {
	needTier(t, 2)
	a := copilot(t)
	a.reports(func(s script) { a.play(s) })
}
