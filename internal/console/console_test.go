package console

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// TestProgress: nothing for half a second, then one line that is drawn over, and
// that is gone when anything else is said.
func TestProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := New(&out, true)
	move := fixedClock(c)
	draw := c.Progress(false)
	expect := func(want string) {
		t.Helper()
		if out.String() != want {
			t.Fatalf("printed %q, want %q", out.String(), want)
		}
		out.Reset()
	}
	move(499 * time.Millisecond)
	draw(cairn.Progress{Phase: "scan", Files: 10})
	expect("")
	move(time.Millisecond)
	draw(cairn.Progress{Phase: "scan", Files: 1200, Bytes: 3 << 20})
	expect("\rcairn: looking, 1200 files, 3.0 MiB read" + eraseLine)
	move(50 * time.Millisecond)
	draw(cairn.Progress{Phase: "scan", Files: 1300})
	expect("")
	move(50 * time.Millisecond)
	draw(cairn.Progress{Phase: "apply", Files: 3, Total: 10})
	expect("\rcairn: writing, 3 of 10 paths (30 %)" + eraseLine)
	c.Remark("done")
	expect("\r" + eraseLine + "\rcairn: done\n")
	c.Clear()
	expect("")
}

// TestQuestionReplacesProgress: a question takes the place of the progress line, as all that is said does.
func TestQuestionReplacesProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := New(&out, true)
	move := fixedClock(c)
	move(time.Second)
	c.Progress(false)(cairn.Progress{Phase: "scan", Files: 10})
	out.Reset()
	if n, err := io.WriteString(c.Questions(), "sure? "); n != 6 || err != nil || out.String() != "\r"+eraseLine+"\rsure? " {
		t.Errorf("%q, %d, %v", out.String(), n, err)
	}
}

// TestProgressText: totals where they are known, and after a second the rate since the phase began.
func TestProgressText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    cairn.Progress
		took time.Duration
		want string
	}{
		{cairn.Progress{Phase: "scan", Files: 10}, 0, "looking, 10 files"},
		{cairn.Progress{Phase: "scan", Files: 10, Total: 40}, 2 * time.Second, "looking, 10 of 40 files (25 %), 5/s"},
		{cairn.Progress{Phase: "scan", Files: 41, Total: 40, Bytes: 4 << 20}, 2 * time.Second, "looking, 41 files, 4.0 MiB read, 2.0 MiB/s"},
		{cairn.Progress{Phase: "check", Files: 999, Total: 1000}, time.Second, "reading, 999 of 1000 objects (99 %), 999/s"},
		{cairn.Progress{Phase: "receive", Files: 1, Total: 3, Bytes: 1 << 10}, time.Millisecond, "receiving, 1 of 3 objects (33 %), 1.0 KiB"},
		{cairn.Progress{Phase: "count", Files: 7}, 0, "counting, 7 objects"},
	} {
		if got := progressText(c.p, c.took); got != c.want {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
	widest := cairn.Progress{Phase: "scan", Files: 999_999, Total: 999_999, Bytes: 999 << 20}
	if got := progressText(widest, time.Second); len("cairn: "+got) >= 80 {
		t.Errorf("%q does not fit on a line", got)
	}
}

func TestNoProgress(t *testing.T) {
	t.Parallel()
	c := New(new(bytes.Buffer), false)
	if c.Progress(false) != nil {
		t.Error("progress without a terminal")
	}
	c.terminal = true
	if c.Progress(true) != nil {
		t.Error("progress on a dumb terminal")
	}
	if c.Quiet = true; c.Progress(false) != nil {
		t.Error("progress with --quiet")
	}
}

// TestHold: while another program has the terminal, everything waits, and progress is dropped.
func TestHold(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := New(&out, true)
	move := fixedClock(c)
	move(time.Second)
	c.Progress(false)(cairn.Progress{Phase: "scan", Files: 10})
	out.Reset()
	c.Hold()
	move(time.Second)
	c.Progress(false)(cairn.Progress{Phase: "scan", Files: 20})
	c.Remark("one")
	c.Repeat("two\n")
	if out.String() != "\r"+eraseLine+"\r" {
		t.Errorf("%q before the release", out.String())
	}
	out.Reset()
	c.Release()
	if out.String() != "cairn: one\ntwo\n" {
		t.Errorf("%q after it", out.String())
	}
}

func TestNotices(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := New(&out, false)
	log := c.Logger()
	log.Debug("never")
	log.Info("finished an interrupted operation", "kind", "restore", "restored", 3)
	log.With("a", 1).WithGroup("g").Warn("line left out", "ref", "refs/x\x1b", slog.Any("error", errors.New("torn")))
	c.Quiet = true
	log.Info("not when quiet")
	log.Warn("always")
	want := "cairn: finished an interrupted operation (kind restore, restored 3)\n" +
		"cairn: warning: line left out (a 1, g.ref refs/x\\033, g.error torn)\n" +
		"cairn: warning: always\n"
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

// fixedClock makes a console's time stand still until it is moved.
func fixedClock(c *Console) (move func(time.Duration)) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c.Now = func() time.Time { return now }
	c.begun = now
	return func(d time.Duration) { now = now.Add(d) }
}
