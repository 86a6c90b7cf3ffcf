package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestMain lets the test program be a worker, as the real one is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerWord {
		exit(work(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// A whole run on a small tree: every contender, every operation, every result
// checked, the same tree ids from all, and nothing left behind.
func TestRun(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	dir := t.TempDir()
	cache, files := filepath.Join(dir, "cache"), filepath.Join(dir, "results")
	opt, err := parseOptions([]string{
		"-files", "200", "-n", "1", "-quiet", "-no-flush", "-cache", cache, "-contenders", strings.Join(kinds, ","),
		"-json", filepath.Join(files, "run.json"), "-benchstat", filepath.Join(files, "run.txt"),
	})
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
	for _, o := range operations {
		if !strings.Contains(out.String(), "| "+o.title+" ") {
			t.Errorf("no row for %q in\n%s", o.title, out.String())
		}
	}
	var r report
	if err := json.Unmarshal(readFile(t, filepath.Join(files, "run.json")), &r); err != nil {
		t.Fatal(err)
	}
	checkRun(t, &r)
	lines := strings.Count(string(readFile(t, filepath.Join(files, "run.txt"))), "\nBenchmark")
	if lines != len(r.Samples) {
		t.Errorf("%d benchstat lines for %d samples", lines, len(r.Samples))
	}
}

func checkRun(t *testing.T, r *report) {
	t.Helper()
	for _, note := range r.Notes {
		if strings.Contains(note, "tree ids") {
			t.Error(note)
		}
	}
	if c := r.Corpus; c.Files != 200 || c.Captured < 150 || c.Captured > 200 {
		t.Errorf("%d files, %d of them captured, instead of 200 with perhaps a few ignored", c.Files, c.Captured)
	}
	for _, o := range operations {
		for _, who := range kinds {
			want := 1
			if undo := o.op == opUndoMany || o.op == opRedoMany; undo && !(&setting{Kind: who}).undoes() {
				want = 0
			}
			if n := len(r.values(o.op, who, func(s *sample) float64 { return s.Seconds })); n != want {
				t.Errorf("%s of %s was timed %d times, want %d", o.op, who, n, want)
			}
		}
	}
	for _, floor := range []string{floorWalk, floorRead, floorSpawn} {
		if s, ok := r.seconds(floor, nameFloor); !ok || s <= 0 {
			t.Errorf("floor %s: %v", floor, s)
		}
	}
	for _, who := range kinds {
		for _, when := range []string{"first track", "end"} {
			if s := r.store(when, who); s == nil || s.Files == 0 {
				t.Errorf("store of %s at %q: %v", who, when, s)
			}
		}
	}
}

// A result that is wrong must end the run, whatever the time was.
func TestWrongResultFails(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	program := filepath.Join(t.TempDir(), "cairn")
	script := "#!/bin/sh\nfor last; do :; done\n[ \"$last\" = track ] && echo 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nexit 0\n"
	gittest.Program(t, program, []byte(script))
	if err := exec.Command(program, "track").Run(); err != nil {
		t.Skipf("shell scripts do not run here: %v", err)
	}
	for _, op := range []string{opPatchNew, opDiffMany, opRestoreMany, opRevertMany} {
		opt, err := parseOptions([]string{
			"-files", "30", "-n", "1", "-quiet", "-no-flush", "-cache", t.TempDir(), "-cairn", program, "-contenders", nameCLI, "-only", op,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := bench(context.Background(), opt, io.Discard, io.Discard); err == nil {
			t.Errorf("%s: a program that does nothing passes", op)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-n", "0"}, {"-files", "0"}, {"extra"}, {"-only", "help"}, {"-contenders", "git"}, {"-unknown"},
	} {
		if _, err := parseOptions(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
	opt, err := parseOptions([]string{"-contenders", "cairn,spec", "-only", opUnchanged + "," + opOne})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(opt.contenders, []string{nameSpec, nameCLI}) || !slices.Equal(opt.only, []string{opUnchanged, opOne}) {
		t.Errorf("contenders %q, operations %q", opt.contenders, opt.only)
	}
}

// Over the rounds everybody has every place, and more than one predecessor.
func TestTurn(t *testing.T) {
	t.Parallel()
	const n = 4
	before := make(map[int]map[int]bool)
	for i := range n {
		before[i] = make(map[int]bool)
	}
	places := make(map[[2]int]bool)
	for round := -1; round < 2*n; round++ {
		order := turn(n, round)
		if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, []int{0, 1, 2, 3}) {
			t.Fatalf("round %d: %v", round, order)
		}
		for place, who := range order {
			places[[2]int{who, place}] = true
			if place > 0 {
				before[who][order[place-1]] = true
			}
		}
	}
	if len(places) != n*n {
		t.Errorf("%d of %d places were taken", len(places), n*n)
	}
	for who, others := range before {
		if len(others) < 2 {
			t.Errorf("%d always comes after the same one: %v", who, others)
		}
	}
}

func TestWalkCountsEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := newSynthetic(700, 60).fill(dir); err != nil {
		t.Fatal(err)
	}
	// A directory larger than one listing of the system.
	for i := range 3000 {
		writeFile(t, filepath.Join(dir, "large", fmt.Sprintf("%0100d", i)), "")
	}
	want, err := sizeOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := walkTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got.files != int64(want.Files) || got.dirs != int64(want.Dirs) {
		t.Errorf("walked %+v, there are %d files and %d directories", got, want.Files, want.Dirs)
	}
	if _, err := walkTree(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing directory can be walked")
	}
}

func needPrograms(t *testing.T) {
	t.Helper()
	for _, program := range []string{"git", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: a run needs it", program)
		}
	}
}

func readDir(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
