package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// fixture is a project with a store, and a place for copies.
type fixture struct {
	*testing.T
	root, scratch string
	repo          *cairn.Repo
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{T: t, root: filepath.Join(dir, "project"), scratch: filepath.Join(dir, "scratch")}
	if err := os.Mkdir(f.root, 0o755); err != nil {
		t.Fatal(err)
	}
	repo, err := cairn.Open(cairn.Options{Root: f.root, DataDir: filepath.Join(dir, "data"), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	f.repo = repo
	return f
}

// state puts a tree in the place of the project's files and takes a checkpoint.
func (f *fixture) state(tree gittest.Tree) (*cairn.Checkpoint, gittest.Listing) {
	f.Helper()
	entries, err := os.ReadDir(f.root)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(f.root, e.Name())); err != nil {
			f.Fatal(err)
		}
	}
	gittest.Create(f, f.root, tree)
	got, err := f.repo.Track(f.Context(), cairn.TrackOptions{Verify: true})
	if err != nil {
		f.Fatal(err)
	}
	c, err := f.repo.Lookup(f.Context(), got.Checkpoint)
	if err != nil {
		f.Fatal(err)
	}
	return c, gittest.Manifest(f, f.root)
}

func (f *fixture) lay(c *Copy, at *cairn.Checkpoint, what string, want gittest.Listing) {
	f.Helper()
	if err := c.To(f.Context(), at); err != nil {
		f.Fatalf("%s: %v", what, err)
	}
	gittest.AssertEqual(f, what, want, gittest.Manifest(f, c.Dir()))
}

// TestCopy: a copy has exactly the files of a checkpoint, whatever it held before and whatever a command
// has done to it.
func TestCopy(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes and symlinks are those of Unix")
	}
	f := newFixture(t)
	first, wantFirst := f.state(gittest.Tree{
		"a": gittest.File("1"), "same": gittest.File("same"), "d/b": gittest.Exec("#!/bin/sh\n"), "d/e/f": gittest.FileMode("private", 0o600),
		"empty": gittest.Dir(), "was-dir/x": gittest.File("x"), "was-file": gittest.File("file"), "link": gittest.Link("a"), "out": gittest.Link("/nowhere"),
	})
	second, wantSecond := f.state(gittest.Tree{
		"a": gittest.File("2"), "same": gittest.File("same"), "d/b": gittest.File("#!/bin/sh\n"), "was-dir": gittest.File("now a file"),
		"was-file/y": gittest.File("y"), "link": gittest.File("no link"), "new/empty": gittest.Dir(), "out": gittest.Link("a"),
	})
	c, err := NewCopy(f.repo, f.scratch)
	if err != nil {
		t.Fatal(err)
	}
	f.lay(c, first, "the first", wantFirst)
	same, err := os.Stat(filepath.Join(c.Dir(), "same"))
	if err != nil {
		t.Fatal(err)
	}
	f.lay(c, second, "the second", wantSecond)
	if now, err := os.Stat(filepath.Join(c.Dir(), "same")); err != nil || !os.SameFile(same, now) || !now.ModTime().Equal(same.ModTime()) {
		t.Errorf("a file that is the same was written: %v", err)
	}
	f.lay(c, first, "the first again", wantFirst)

	// A command that changes, removes and replaces what it finds.
	outside := t.TempDir()
	gittest.Create(t, outside, gittest.Tree{"f": gittest.File("outside"), "b": gittest.File("outside")})
	before := gittest.Manifest(t, outside)
	in := func(name string) string { return filepath.Join(c.Dir(), name) }
	for _, err := range []error{
		os.WriteFile(in("a"), []byte("9"), 0o644), os.Chtimes(in("a"), time.Unix(1, 0), time.Unix(1, 0)), os.Remove(in("same")),
		os.Chmod(in("d/b"), 0o600), os.RemoveAll(in("d/e")), os.Symlink(outside, in("d/e")), os.Remove(in("link")), os.Mkdir(in("link"), 0o755),
		os.WriteFile(in("link/made"), nil, 0o644), os.Remove(in("empty")), os.WriteFile(in("empty"), nil, 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	f.lay(c, first, "after a command", wantFirst)
	gittest.AssertEqual(t, "outside", before, gittest.Manifest(t, outside))

	// What it makes stays, and does not keep the rest from coming.
	if err := os.WriteFile(in("d/e/made"), []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.To(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(in("d/e/made")); err != nil || string(text) != "kept" {
		t.Errorf("%q, %v", text, err)
	}
	gittest.AssertEqual(t, "the project", wantSecond, gittest.Manifest(t, f.root))
	if err := os.Chmod(in("d"), 0o500); err != nil {
		t.Fatal(err)
	}
	if err := c.Remove(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(f.scratch); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestCopyAfterACommandThatPutsTimesBack: a file is laid out again although its size and its time are as before.
func TestCopyAfterACommandThatPutsTimesBack(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows tells no time of the change")
	}
	f := newFixture(t)
	state, want := f.state(gittest.Tree{"a": gittest.File("1")})
	c, err := NewCopy(f.repo, f.scratch)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Remove()
	f.lay(c, state, "at first", want)
	name := filepath.Join(c.Dir(), "a")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(name, []byte("2"), 0o644), os.Chtimes(name, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	f.lay(c, state, "after the command", want)
}

// TestDeadCopies: a copy of a dead process goes with the next one, that of a living one stays.
func TestDeadCopies(t *testing.T) {
	t.Parallel()
	self, ok := process.Self()
	if !ok {
		t.Skip("processes cannot be told apart here")
	}
	f := newFixture(t)
	alive, err := NewCopy(f.repo, f.scratch)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Remove()
	dead := self
	dead.Start += "0" // another process that had the number
	data, err := json.Marshal(dead)
	if err != nil {
		t.Fatal(err)
	}
	gittest.Create(t, f.scratch, gittest.Tree{
		"copy-dead.json": gittest.File(string(data)), "copy-dead/files/a": gittest.File("a"), "copy-never.json": gittest.File(string(data)),
		"copy-torn.json": gittest.File("{"), "copy-torn/files": gittest.Dir(), "other/x": gittest.File("x"),
	})
	if err := os.Chtimes(filepath.Join(f.scratch, "copy-torn"), time.Time{}, time.Now().Add(-2*unknownLife)); err != nil {
		t.Fatal(err)
	}
	gittest.Create(t, f.scratch, gittest.Tree{"copy-new/files": gittest.Dir()})
	next, err := NewCopy(f.repo, f.scratch)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Remove()
	entries, err := os.ReadDir(f.scratch)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for at, want := range map[string]bool{
		"copy-dead": false, "copy-dead.json": false, "copy-never.json": false, "copy-torn": false, "copy-torn.json": false, "copy-new": true, "other": true, filepath.Base(alive.home): true, filepath.Base(next.home): true,
	} {
		if slices.Contains(names, at) != want {
			t.Errorf("%s there: %v", at, !want)
		}
	}
}

// TestRunnerGoesOn: a search that was interrupted finds the results of its first part, one that is
// repeated runs nothing, and another command has results of its own.
func TestRunnerGoesOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var first *cairn.Checkpoint
	const count, broken = 12, 7
	for i := range count {
		c, _ := f.state(gittest.Tree{"n": gittest.File(fmt.Sprint(i))})
		if i == 0 {
			first = c
		}
	}
	last, err := f.repo.Lookup(t.Context(), "@")
	if err != nil {
		t.Fatal(err)
	}
	steps, err := Steps(t.Context(), f.repo, first, last)
	if err != nil || len(steps) != count {
		t.Fatalf("%d steps, %v", len(steps), err)
	}
	if all, err := Steps(t.Context(), f.repo, nil, last); err != nil || len(all) != count {
		t.Errorf("%d steps, %v", len(all), err)
	}
	if _, err := Steps(t.Context(), f.repo, last, first); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("backwards: %v", err)
	}
	search := func(stop int, command ...string) (*Runner, *Result, error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		runs := 0
		r := &Runner{Repo: f.repo, Command: command, Scratch: f.scratch}
		r.Run = func(_ context.Context, dir string, c *cairn.Checkpoint) (int, error) {
			if runs++; runs == stop {
				cancel()
			}
			text, err := os.ReadFile(filepath.Join(dir, "n"))
			var n int
			if _, scanErr := fmt.Sscan(string(text), &n); err != nil || scanErr != nil {
				return 0, errors.Join(err, scanErr)
			}
			return map[bool]int{true: 1}[n >= broken], nil
		}
		res, err := Bisect(ctx, steps, r.Test)
		return r, res, errors.Join(err, r.Close())
	}
	one, res, err := search(3, "check", "it\xff")
	if !errors.Is(err, context.Canceled) || res != nil || one.Tested != 2 {
		t.Fatalf("%v after %d runs", err, one.Tested)
	}
	two, res, err := search(0, "check", "it\xff")
	if err != nil || res.First == nil || res.First.ID != steps[broken].ID || res.Good.ID != steps[broken-1].ID || two.Reused != 2 || two.Tested == 0 {
		t.Fatalf("%+v, %v, %d reused", res, err, two.Reused)
	}
	three, res, err := search(0, "check", "it\xff")
	if err != nil || res.First == nil || three.Tested != 0 || three.Reused != two.Tested+two.Reused {
		t.Errorf("%+v, %v, %d tested", res, err, three.Tested)
	}
	if four, _, err := search(0, "check"); err != nil || four.Reused != 0 {
		t.Errorf("%v, %d reused", err, four.Reused)
	}
	green, err := f.repo.Lookup(t.Context(), "@green")
	if err != nil || green.ID != steps[broken-1].ID {
		t.Errorf("%v, %v", green, err)
	}
	if left, err := os.ReadDir(f.scratch); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
