package main

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

func noEnv(string) string { return "" }

// TestProgress: nothing for half a second, then one line that is drawn over, and
// that is gone when anything else is said.
func TestProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := newConsole(&out)
	c.terminal = true
	move := fixedClock(c)
	draw := c.progressFunc(noEnv)
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
	expect("\rcairn: looking at the files, 1200, 3.0 MiB read" + eraseLine)
	move(50 * time.Millisecond)
	draw(cairn.Progress{Phase: "scan", Files: 1300})
	expect("")
	move(50 * time.Millisecond)
	draw(cairn.Progress{Phase: "apply", Files: 3, Total: 10})
	expect("\rcairn: writing, 3 of 10 paths" + eraseLine)
	c.remark("done")
	expect("\r" + eraseLine + "\rcairn: done\n")
	c.clear()
	expect("")
}

func TestNoProgress(t *testing.T) {
	t.Parallel()
	c := newConsole(new(bytes.Buffer))
	if c.progressFunc(noEnv) != nil {
		t.Error("progress without a terminal")
	}
	c.terminal = true
	if c.progressFunc(func(string) string { return "dumb" }) != nil {
		t.Error("progress on a dumb terminal")
	}
	if c.quiet = true; c.progressFunc(noEnv) != nil {
		t.Error("progress with --quiet")
	}
}

func TestNotices(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := newConsole(&out)
	log := c.logger()
	log.Debug("never")
	log.Info("finished an interrupted operation", "kind", "restore", "restored", 3)
	log.With("a", 1).WithGroup("g").Warn("line left out", "ref", "refs/x\x1b", slog.Any("error", errors.New("torn")))
	c.quiet = true
	log.Info("not when quiet")
	log.Warn("always")
	want := "cairn: finished an interrupted operation (kind restore, restored 3)\n" +
		"cairn: warning: line left out (a 1, g.ref refs/x\\033, g.error torn)\n" +
		"cairn: warning: always\n"
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

// TestMessages: joined errors get a line each, wrapped ones stay together.
func TestMessages(t *testing.T) {
	t.Parallel()
	a, b := errors.New("a"), errors.New("b\nb")
	for _, test := range []struct {
		err  error
		want int
	}{{a, 1}, {errors.Join(a, b), 2}, {errors.Join(errors.Join(a), errors.Join(b, a)), 3}, {b, 1}} {
		if got := messages(test.err); len(got) != test.want {
			t.Errorf("%q: %d messages, want %d", test.err, len(got), test.want)
		}
	}
	if !onlyIs(errors.Join(errPartly, nil), errPartly) || onlyIs(errors.Join(errPartly, a), errPartly) {
		t.Error("a failure beside errPartly must not be lost")
	}
}
