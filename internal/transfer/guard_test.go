package transfer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// endlessly lets a transport see time pass as fast as it looks.
func (m *machine) endlessly() {
	ticks := make(chan time.Time)
	done := make(chan struct{})
	m.Cleanup(func() { close(done) })
	go func() {
		for {
			select {
			case ticks <- time.Time{}:
			case <-done:
				return
			}
		}
	}()
	m.ticks = ticks
}

// watched runs a guard over looks, before each of which step may make progress, and returns the number
// of looks after which it ended the command, and why. It is at most 100.
func watched(t *testing.T, g *guard, step func(look int)) (looks int, cause error) {
	t.Helper()
	ticks := make(chan time.Time, 100)
	for range cap(ticks) {
		ticks <- time.Time{}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	room := g.room
	g.ticks, g.room = ticks, func() error {
		step(looks)
		if looks++; looks == cap(ticks) {
			cancel(nil)
		}
		if room != nil {
			return room()
		}
		return nil
	}
	g.watch(ctx, cancel)
	if cause = context.Cause(ctx); errors.Is(cause, context.Canceled) {
		cause = nil
	}
	return looks, cause
}

// A command ends after its patience without progress, and with every progress it begins again.
func TestGuardEndsTheIdle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	grows := func(name string, n int) {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	looks, cause := watched(t, &guard{patience: 5, dir: dir}, func(int) {})
	if looks != 6 || !errors.Is(cause, ErrStalled) { // the first look sees where it stands
		t.Errorf("ended after %d looks: %v", looks, cause)
	}
	g := &guard{patience: 5, dir: dir}
	tell := g.progress(nil)
	looks, cause = watched(t, g, func(look int) {
		switch {
		case look == 4:
			grows("pack", 10)
		case look == 8:
			grows("pack", 20)
		case look == 12:
			tell("write", 1, 10, 0)
		case look > 12:
			tell("write", 1, 10, 0) // the same again is none
		}
	})
	if looks != 18 || !errors.Is(cause, ErrStalled) {
		t.Errorf("ended after %d looks: %v", looks, cause)
	}
	g = &guard{patience: 5, dir: dir}
	talk := g.listens(nil)
	looks, cause = watched(t, g, func(look int) {
		if look < 20 {
			fmt.Fprintf(&talk, "Receiving objects:  10%% (%d/100)\r", look)
		}
		fmt.Fprintf(&talk, "remote: Counting objects: %d\rremote: Resolving deltas:  10%% (%d/100)\r", look, look)
	})
	if looks != 25 || !errors.Is(cause, ErrStalled) {
		t.Errorf("beside a remote that talks: ended after %d looks: %v", looks, cause)
	}
	if looks, cause := watched(t, &guard{dir: dir}, func(int) {}); looks != 100 || cause != nil {
		t.Errorf("without a limit: ended after %d looks: %v", looks, cause)
	}
	n := 0
	looks, cause = watched(t, &guard{patience: 5, dir: dir, room: func() error { return state.ErrNoSpace }}, func(int) { n++; grows("pack", n) })
	if looks != 1 || !errors.Is(cause, state.ErrNoSpace) {
		t.Errorf("on a full disk: ended after %d looks: %v", looks, cause)
	}
}

// A remote that takes the connection and never answers ends push, fetch and list. Nothing is left.
func TestSilentRemote(t *testing.T) {
	t.Parallel()
	gittest.NewOracle(t)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	url, _ := silent(t)
	if _, err := f.Push(t.Context(), filepath.Join(t.TempDir(), "absent")); err == nil { // draws the store's id
		t.Fatal("pushed to an absent repository")
	}
	f.endlessly()
	f.Opt.RemoteTimeout = 3 * time.Second
	before := f.listing()
	for why, call := range map[string]func() error{
		"push":  func() error { _, err := f.Push(t.Context(), url); return err },
		"fetch": func() error { _, err := f.Fetch(t.Context(), url); return err },
		"list":  func() error { _, err := f.ListRemote(t.Context(), url, true); return err },
		"one":   func() error { _, _, err := f.FetchSession(t.Context(), url, "@"); return err },
		"newer": func() error { return f.FetchNewer(t.Context(), url, "s-1") },
	} {
		err := call()
		wantError(t, err, ErrStalled)
		if err != nil && (!strings.Contains(err.Error(), url) || !strings.Contains(err.Error(), "3s (the setting remote_timeout)")) {
			t.Errorf("%s: %v", why, err)
		}
	}
	f.Opt.RemoteTimeout = 0
	err := f.FetchNewer(t.Context(), url, "s-1")
	wantError(t, err, ErrStalled)
	if err != nil && !strings.Contains(err.Error(), "for 5s (with --from it has longer)") {
		t.Errorf("newer: %v", err)
	}
	f.same(before, "after a silent remote")
}

// A remote that goes on talking, or goes on naming refs, is left, too.
func TestEndlessRemote(t *testing.T) {
	t.Parallel()
	gittest.NewOracle(t)
	good := fakeLine()
	for why, answer := range map[string]*fakeRemote{
		"talk": {refs: good.refs, objects: good.objects, talks: true},
		"refs": {refs: good.refs, endless: true},
	} {
		f := newMachine(t)
		f.track(map[string]string{"a": "1\n"})
		f.endlessly()
		f.Opt.RemoteTimeout = 50 * time.Second
		before := f.listing()
		_, err := f.Fetch(t.Context(), answer.listen(t, f))
		if !errors.Is(err, ErrStalled) {
			t.Errorf("%s: %v", why, err)
		}
		f.same(before, why)
	}
}

// What a remote sends does not fill the disk.
func TestFetchLeavesRoom(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	g := f.other()
	g.endlessly()
	g.Opt.Retention = &settings.Retention{MinFree: 1 << 62}
	before := g.listing()
	_, err := g.Fetch(t.Context(), dir)
	wantError(t, err, state.ErrNoSpace)
	g.same(before, "on a full disk")
	g.Opt.Retention.MinFree, g.Opt.RemoteTimeout = settings.NoLimit, settings.NoLimit
	g.fetch(dir)
}

// An error says what git said of the fault, and of nothing else.
func TestFaultText(t *testing.T) {
	t.Parallel()
	text := "From /x\n * [new ref] a -> b\nremote: no\nfatal: attempting to allocate 9 over limit 1\n"
	if got := explain(onOneLine(text)); got != "what the remote sends needs more memory than 256 MiB for one object: remote: no; fatal: attempting to allocate 9 over limit 1" {
		t.Errorf("%q", got)
	}
	if got := fmt.Sprint(explain("fatal: x")); got != "fatal: x" {
		t.Errorf("%q", got)
	}
}
