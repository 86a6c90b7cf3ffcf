package main

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// A whole run along small sizes: every curve of every contender has its points, all
// results are checked, and nothing is left behind.
func TestCurves(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	dir := t.TempDir()
	cache, file := filepath.Join(dir, "cache"), filepath.Join(dir, "curves.json")
	opt, err := parseOptions([]string{"-curves", "-files", "60", "-checkpoints", "4", "-n", "2", "-quiet", "-no-flush", "-cache", cache, "-json", file})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := bench(context.Background(), opt, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if left := readDir(t, cache); len(left) > 0 {
		t.Errorf("the run left %v behind", left)
	}
	c, err := readCurves(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range allCurves {
		k := &allCurves[i]
		if k.name == curvePeak && ownUsage().PeakBytes == 0 {
			continue // this system does not tell
		}
		for _, who := range curveLines {
			want := takesPart(k.name, who)
			l := c.line(k, 0, who)
			if got := len(l.points) > 0; got != want {
				t.Errorf("%s of %s was measured: %v, want %v", k.name, who, got, want)
			}
			for _, p := range l.points {
				if len(p.Values) == 0 || len(p.Values) > 2 {
					t.Errorf("%s of %s at %d was measured %d times", k.name, who, p.X, len(p.Values))
				}
			}
		}
	}
}

func takesPart(curve, who string) bool {
	without := map[string][]string{
		curveUnchanged:   {},
		curvePeak:        {nameLibrary, nameWatching},
		curveDiff:        {nameWatching},
		curveKeptLog:     {nameSpec, nameLibrary},
		curveKeptUndo:    {nameSpec, nameLibrary},
		curveKeptTrack:   {nameLibrary},
		curveKeptPatch:   {nameLibrary},
		curveKeptRestore: {nameLibrary},
		curveKeptClean:   {nameLibrary},
		curveKeptFiles:   {nameLibrary, nameWatching},
		curveKeptBytes:   {nameLibrary, nameWatching},
		curveCleanBytes:  {nameLibrary, nameWatching},
	}
	if strings.HasPrefix(curve, "back-") {
		return who == nameLibrary || who == nameHand
	}
	if who == nameHand || who == nameFloor && curve != curveUnchanged {
		return false
	}
	return !slices.Contains(without[curve], who)
}

// A wrong result ends a run along curves, too.
func TestWrongResultFailsCurves(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	program := filepath.Join(t.TempDir(), "cairn")
	gittest.Program(t, program, []byte("#!/bin/sh\nfor last; do :; done\n[ \"$last\" = track ] && echo 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nexit 0\n"))
	if err := exec.Command(program, "track").Run(); err != nil {
		t.Skipf("shell scripts do not run here: %v", err)
	}
	opt, err := parseOptions([]string{"-curves", "-files", "30", "-checkpoints", "1", "-n", "1", "-quiet", "-no-flush", "-cache", t.TempDir(), "-cairn", program, "-contenders", nameCLI})
	if err != nil {
		t.Fatal(err)
	}
	if err := bench(context.Background(), opt, io.Discard, io.Discard); err == nil {
		t.Error("a program that does nothing passes")
	}
}

// The text files of the small tree can be edited, and no rule ignores them.
func TestSmallTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := newSmallTree(2000)
	if err := tree.fill(dir); err != nil {
		t.Fatal(err)
	}
	size, err := sizeOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if size.Files != 2000 || size.Bytes > 2000*smallFile {
		t.Errorf("%d files of %d bytes", size.Files, size.Bytes)
	}
	e, err := chooseEdits(dir, tree.texts(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.paths) != 1000 {
		t.Errorf("%d files can be edited, want 1000", len(e.paths))
	}
	if err := e.apply(dir, 0, 1000, "test", 1); err != nil {
		t.Fatal(err)
	}
	if err := e.undone(dir); err == nil {
		t.Error("edits change nothing")
	}
}
