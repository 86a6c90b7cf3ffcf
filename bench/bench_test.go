package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn/bench/internal/benchtest"
	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestMain lets the test program be a worker, as the real one is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == peers.WorkerWord {
		exit(peers.Work(os.Stdin, os.Stdout))
	}
	code := m.Run()
	if err := os.RemoveAll(built.dir); err != nil {
		exit(err)
	}
	os.Exit(code)
}

// built is the program that most tests measure. It is built once: that takes longer than a small run.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// optionsOf are the options of a run that measures the program that is built once.
func optionsOf(t *testing.T, args ...string) options {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "cairn-built"); built.err == nil {
			built.err = buildCairn(filepath.Join(built.dir, "cairn"+exeSuffix))
		}
	})
	opt, err := parseOptions(args)
	if err := errors.Join(built.err, err); err != nil {
		t.Fatal(err)
	}
	opt.cairn = filepath.Join(built.dir, "cairn"+exeSuffix)
	return opt
}

// A whole run on a small tree: every contender, every operation, every result
// checked, the same tree ids from all, and nothing left behind.
func TestRun(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	for name, more := range map[string][]string{
		"trees of their own": nil,
		"repository":         {"-repository", "-contenders", strings.Join([]string{names.Newest, names.Restic, names.CLI, names.Library, names.Watching}, ",")},
		"one tree":           {"-one-tree", "-contenders", strings.Join([]string{names.Spec, names.Untracked, names.Monitor, names.CLI, names.Library, names.Watching}, ",")},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && more != nil {
				t.Skip("in short mode one run is enough")
			}
			t.Parallel()
			runAndCheck(t, more)
		})
	}
}

func runAndCheck(t *testing.T, more []string) {
	t.Helper()
	dir := t.TempDir()
	cache, files := filepath.Join(dir, "cache"), filepath.Join(dir, "results")
	opt := optionsOf(t, append([]string{
		"-files", "200", "-n", "1", "-in-row", "10", "-quiet", "-no-flush", "-cache", cache,
		"-json", filepath.Join(files, "run.json"), "-benchstat", filepath.Join(files, "run.txt"),
	}, more...)...)
	if more == nil {
		opt.cairn = "" // this run builds its own
	}
	var out bytes.Buffer
	if err := bench(context.Background(), opt, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if left := benchtest.ReadDir(t, cache); len(left) > 0 {
		t.Errorf("the run left %v behind", left)
	}
	for _, o := range names.Operations {
		absent := o.Op == names.OpFirstBorrowed && !opt.repository || tableAlone(o.Op)
		if !strings.Contains(out.String(), "| "+o.Title+" ") != absent {
			t.Errorf("no row for %q, or one too many, in\n%s", o.Title, out.String())
		}
	}
	var r report.Report
	if err := json.Unmarshal(benchtest.ReadFile(t, filepath.Join(files, "run.json")), &r); err != nil {
		t.Fatal(err)
	}
	checkRun(t, &opt, &r)
	lines := strings.Count(string(benchtest.ReadFile(t, filepath.Join(files, "run.txt"))), "\nBenchmark")
	if lines != len(r.Samples) {
		t.Errorf("%d benchstat lines for %d samples", lines, len(r.Samples))
	}
}

// tableAlone tells whether only -table measures an operation.
func tableAlone(op string) bool {
	return slices.Contains(onlyInTable, op) || slices.Contains([]string{names.OpUndoOne, names.OpUndoLarge, names.OpBringBack}, op)
}

func checkRun(t *testing.T, opt *options, r *report.Report) {
	t.Helper()
	for _, note := range r.Notes {
		if strings.Contains(note, "tree ids") {
			t.Error(note)
		}
	}
	if c := r.Corpus; c.Files != 200 || c.Captured < 150 || c.Captured > 200 {
		t.Errorf("%d files, %d of them captured, instead of 200 with perhaps a few ignored", c.Files, c.Captured)
	}
	for _, floor := range []string{names.FloorWalk, names.FloorRead, names.FloorSpawn, names.FloorKeepOne, names.FloorKeepMany, names.FloorWriteMany} {
		if s, ok := r.Seconds(floor, names.Floor); !ok || s <= 0 {
			t.Errorf("floor %s: %v", floor, s)
		}
	}
	for _, who := range opt.contenders {
		t.Run(who, func(t *testing.T) { checkContender(t, opt, r, who) })
	}
}

// checkContender skips who is not installed.
func checkContender(t *testing.T, opt *options, r *report.Report, who string) {
	if why := peers.Missing(who, "git"); why != "" {
		if !slices.Contains(r.Notes, why) {
			t.Errorf("the report does not say: %s", why)
		}
		t.Skip(why)
	}
	for _, o := range names.Operations {
		s := peers.Setting{Kind: who, Repository: opt.repository, OneTree: opt.oneTree}
		want := 0
		if s.Can(o.Op) && !tableAlone(o.Op) {
			want = 1
		}
		if processors := o.Op == names.OpOneProcessor || o.Op == names.OpTwoProcessors; processors && runtime.NumCPU() < 2 {
			want = 0
		}
		if want > 0 && names.FloorsOfChange[o.Op] != "" {
			want = pairs
		}
		if s.InRow(o.Op) {
			if want = 10; o.Op == names.OpMany {
				want = 1
			}
		}
		if n := len(r.Times(o.Op, who)); n != want {
			t.Errorf("%s was timed %d times, want %d", o.Op, n, want)
		}
	}
	if s := r.Store("end", who); s == nil || s.Files == 0 {
		t.Errorf("store at the end: %v", s)
	}
	if _, resident, ok := r.PerFile(); who == names.Watching && (!ok || resident == 0) {
		t.Errorf("memory: %+v", r.Memory)
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
	for _, op := range []string{names.OpPatchNew, names.OpDiffMany, names.OpRestoreMany, names.OpRevertMany} {
		opt, err := parseOptions([]string{
			"-files", "30", "-n", "1", "-quiet", "-no-flush", "-cache", t.TempDir(), "-cairn", program, "-contenders", names.CLI, "-only", op,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := bench(context.Background(), opt, io.Discard, io.Discard); err == nil {
			t.Errorf("%s: a program that does nothing passes", op)
		}
	}
}

// TestOnAnImage: trees and stores lie on a file system of their own, and nothing of it is left.
func TestOnAnImage(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	kind := imageKindOf("ext4")
	if why := kind.missing(nil); why != "" {
		t.Skip(why)
	}
	_, unmount, err := kind.mount(t.TempDir(), 16<<20)
	if err != nil {
		t.Skip(err) // root may lack the right in a container
	}
	if err := unmount(); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	opt := optionsOf(t,
		"-files", "30", "-n", "1", "-quiet", "-no-flush", "-cache", cache, "-contenders", names.CLI, "-only", names.OpUnchanged, "-on", "ext4",
	)
	if err := bench(context.Background(), opt, io.Discard, io.Discard); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// Ids that differ from git's must end the run with an error, and the earlier measurements must
// still be there.
func TestWrongIDFails(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	program := filepath.Join(t.TempDir(), "cairn")
	gittest.Program(t, program, []byte("#!/bin/sh\nmkdir -p \"$4\"\necho 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"))
	if err := exec.Command(program, "track").Run(); err != nil {
		t.Skipf("shell scripts do not run here: %v", err)
	}
	opt, err := parseOptions([]string{
		"-files", "30", "-n", "1", "-quiet", "-no-flush", "-cache", t.TempDir(), "-cairn", program,
		"-contenders", names.CLI + "," + names.Spec, "-only", names.OpUnchanged,
	})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = bench(context.Background(), opt, &out, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "tree ids") {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(out.String(), "| track, unchanged ") {
		t.Errorf("nothing is printed: %q", out.String())
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-n", "0"}, {"-files", "0"}, {"extra"}, {"-only", "help"}, {"-contenders", "git"}, {"-unknown"},
		{"-contenders", names.Newest}, {"-contenders", names.OpenCode, "-repository"}, {"-shrink", "0"}, {"-in-row", "0"}, {"-one-tree", "-contenders", names.OpenCode}, {"-copies", "-on", "ext5"},
	} {
		if _, err := parseOptions(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
	opt, err := parseOptions([]string{"-contenders", "cairn,spec", "-only", names.OpUnchanged + "," + names.OpOne})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(opt.contenders, []string{names.Spec, names.CLI}) || !slices.Equal(opt.only, []string{names.OpUnchanged, names.OpOne}) {
		t.Errorf("contenders %q, operations %q", opt.contenders, opt.only)
	}
}

// What takes minutes is left out with a note, unless it is asked for.
func TestBearable(t *testing.T) {
	t.Parallel()
	d := &driver{report: &report.Report{}, captured: make([]string, bearableFiles+1)}
	newest, spec := &peers.Remote{Setting: peers.Setting{Kind: names.Newest}}, &peers.Remote{Setting: peers.Setting{Kind: names.Spec}}
	if !d.bearable(spec, names.OpRestoreMany) || !d.bearable(newest, names.OpUnchanged) || len(d.report.Notes) > 0 {
		t.Errorf("others are left out: %q", d.report.Notes)
	}
	if d.bearable(newest, names.OpRestoreMany) || len(d.report.Notes) != 1 {
		t.Errorf("OpenCode restores a large tree, notes %q", d.report.Notes)
	}
	d.opt.only = []string{names.OpRestoreMany}
	if !d.bearable(newest, names.OpRestoreMany) {
		t.Error("what was asked for is left out")
	}
}

// Over the rounds each contender has every place, and more than one predecessor.
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
	if err := trees.NewSynthetic(700, 60).Fill(dir); err != nil {
		t.Fatal(err)
	}
	// A directory larger than one listing of the system.
	for i := range 3000 {
		benchtest.WriteFile(t, filepath.Join(dir, "large", fmt.Sprintf("%0100d", i)), "")
	}
	want, err := trees.SizeOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := system.WalkTree(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Files != int64(want.Files) || got.Dirs != int64(want.Dirs) {
		t.Errorf("walked %+v, there are %d files and %d directories", got, want.Files, want.Dirs)
	}
	if got, err := system.WalkTree(dir, map[string]bool{"large": true}); err != nil || got.Files != int64(want.Files)-3000 {
		t.Errorf("without a directory: %+v, %v", got, err)
	}
	if _, err := system.WalkTree(filepath.Join(dir, "missing"), nil); err == nil {
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
