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

	"github.com/seed-fb9cbc17/cairn/bench/internal/benchtest"
	"github.com/seed-fb9cbc17/cairn/bench/internal/figures"
	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// A whole run along small sizes: every curve of every contender has its points, all
// results are checked, and nothing is left behind.
func TestCurves(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	dir := t.TempDir()
	cache, file := filepath.Join(dir, "cache"), filepath.Join(dir, "curves.json")
	opt := optionsOf(t, "-curves", "-files", "60", "-checkpoints", "4", "-n", "2", "-quiet", "-no-flush", "-cache", cache, "-json", file)
	var out bytes.Buffer
	if err := bench(context.Background(), opt, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if left := benchtest.ReadDir(t, cache); len(left) > 0 {
		t.Errorf("the run left %v behind", left)
	}
	c, err := figures.ReadCurves(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range figures.AllCurves {
		k := &figures.AllCurves[i]
		if k.Name == figures.CurvePeak && system.OwnUsage().PeakBytes == 0 {
			continue // this system does not tell
		}
		for _, who := range figures.CurveLines {
			want := takesPart(k.Name, who)
			l := c.Line(k, 0, who)
			if got := len(l.Points) > 0; got != want {
				t.Errorf("%s of %s was measured: %v, want %v", k.Name, who, got, want)
			}
			for _, p := range l.Points {
				if len(p.Values) == 0 || len(p.Values) > 2 {
					t.Errorf("%s of %s at %d was measured %d times", k.Name, who, p.X, len(p.Values))
				}
			}
		}
	}
}

func takesPart(curve, who string) bool {
	without := map[string][]string{
		figures.CurveUnchanged:   {},
		figures.CurvePeak:        {names.Library, names.Watching},
		figures.CurveDiff:        {names.Watching},
		figures.CurveKeptLog:     {names.Spec, names.Library},
		figures.CurveKeptUndo:    {names.Spec, names.Library},
		figures.CurveKeptTrack:   {names.Library},
		figures.CurveKeptPatch:   {names.Library},
		figures.CurveKeptRestore: {names.Library},
		figures.CurveKeptClean:   {names.Library},
		figures.CurveKeptFiles:   {names.Library, names.Watching},
		figures.CurveKeptBytes:   {names.Library, names.Watching},
		figures.CurveCleanBytes:  {names.Library, names.Watching},
	}
	if strings.HasPrefix(curve, "back-") {
		return who == names.Library || who == names.Hand
	}
	if who == names.Hand || who == names.Floor && curve != figures.CurveUnchanged {
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
	opt, err := parseOptions([]string{"-curves", "-files", "30", "-checkpoints", "1", "-n", "1", "-quiet", "-no-flush", "-cache", t.TempDir(), "-cairn", program, "-contenders", names.CLI})
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
	tree := trees.NewSmallTree(2000)
	if err := tree.Fill(dir); err != nil {
		t.Fatal(err)
	}
	size, err := trees.SizeOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if size.Files != 2000 || size.Bytes > 2000*trees.SmallFile {
		t.Errorf("%d files of %d bytes", size.Files, size.Bytes)
	}
	e, err := trees.ChooseEdits(dir, tree.Texts(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Paths) != 1000 {
		t.Errorf("%d files can be edited, want 1000", len(e.Paths))
	}
	if err := e.Apply(dir, 0, 1000, "test", 1); err != nil {
		t.Fatal(err)
	}
	if err := e.Undone(dir); err == nil {
		t.Error("edits change nothing")
	}
}
