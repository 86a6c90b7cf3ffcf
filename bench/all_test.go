package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/bench/internal/benchtest"
	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// All corpora that need nothing from elsewhere, made tiny, end up in one JSON file and
// one with tables.
func TestAll(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "results", "some.json")
	opt := optionsOf(t,
		"-all", "-without", "small,linux,ignored,100k", "-files", "40", "-n", "1", "-in-row", "2", "-quiet", "-no-flush",
		"-only", names.OpUnchanged, "-contenders", strings.Join([]string{names.Spec, names.Monitor, names.CLI}, ","), "-cache", filepath.Join(dir, "cache"), "-json", file,
	)
	var out bytes.Buffer
	if err := benchAll(context.Background(), opt, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var s suite
	if err := json.Unmarshal(benchtest.ReadFile(t, file), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Runs) != 2 || s.Runs[0].Plan != "10k" || s.Runs[1].Plan != "500k" {
		t.Fatalf("%d runs: %+v", len(s.Runs), s.Runs)
	}
	for _, r := range s.Runs {
		if _, ok := r.Seconds(names.OpUnchanged, names.CLI); !ok || r.Report.Corpus.Files != 40 {
			t.Errorf("%s: %+v", r.Plan, r.Report.Corpus)
		}
	}
	text := string(benchtest.ReadFile(t, strings.TrimSuffix(file, ".json")+".md"))
	for _, want := range []string{"## Goals", "| track, unchanged, cairn / walk ", "## synthetic, 40 files of 1/4 of the size"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if out.String() != text {
		t.Error("what is printed is not what the file holds")
	}
	updated(t, opt, &s)
}

// updated measures one of two corpora again.
func updated(t *testing.T, opt options, before *suite) {
	t.Helper()
	opt.update, opt.without = true, append(slices.Clone(opt.without), "10k")
	if err := benchAll(context.Background(), opt, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	var s suite
	if err := json.Unmarshal(benchtest.ReadFile(t, opt.json), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Runs) != 2 || s.Runs[0].Plan != "10k" || s.Runs[1].Plan != "500k" {
		t.Fatalf("%d runs: %+v", len(s.Runs), s.Runs)
	}
	if !slices.EqualFunc(s.Runs[0].Samples, before.Runs[0].Samples, func(a, b report.Sample) bool { return a.Seconds == b.Seconds }) {
		t.Error("the corpus that was left out has other samples now")
	}
	if !slices.ContainsFunc(s.Runs[0].Notes, func(note string) bool { return strings.HasPrefix(note, "measured ") }) {
		t.Errorf("its notes are %q", s.Runs[0].Notes)
	}
	if slices.EqualFunc(s.Runs[1].Samples, before.Runs[1].Samples, func(a, b report.Sample) bool { return a.Seconds == b.Seconds }) {
		t.Error("the other one was not measured again")
	}
}

// A corpus that fails is named, and the next one is still measured.
func TestAllGoesOn(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	program := filepath.Join(t.TempDir(), "cairn")
	gittest.Program(t, program, []byte("#!/bin/sh\nexit 1\n"))
	if exec.Command(program).Run() == nil {
		t.Skip("shell scripts do not run here")
	}
	file := filepath.Join(t.TempDir(), "some.json")
	opt, err := parseOptions([]string{
		"-all", "-without", "small,linux,ignored,500k", "-files", "30", "-n", "1", "-quiet", "-no-flush", "-only", names.OpUnchanged,
		"-contenders", names.CLI, "-cairn", program, "-cache", t.TempDir(), "-json", file,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := benchAll(context.Background(), opt, io.Discard, io.Discard); err == nil {
		t.Error("no error")
	}
	var s suite
	if err := json.Unmarshal(benchtest.ReadFile(t, file), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Failed) != 2 || !strings.HasPrefix(s.Failed[1], "100k: ") {
		t.Errorf("failed: %q", s.Failed)
	}
}

// What the user sets is an upper limit, and each corpus takes the contenders that fit.
func TestPlan(t *testing.T) {
	t.Parallel()
	opt, err := parseOptions([]string{"-all", "-n", "4", "-files", "50000"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range plan {
		p := &plan[i]
		o := p.options(opt)
		if o.rounds > 4 || o.heavy > 4 || o.files > 50_000 {
			t.Errorf("%s: %d rounds, %d heavy ones, %d files", p.name, o.rounds, o.heavy, o.files)
		}
		if o.repository != slices.Contains(o.contenders, names.Newest) || slices.Contains(o.contenders, names.OpenCode) == (o.repository || o.oneTree) {
			t.Errorf("%s: %q", p.name, o.contenders)
		}
	}
	for _, args := range [][]string{{"-without", "100"}, {"-all", "-without", "linux,"}, {"-all", "-profile", "x"}, {"-on", "ext4,xfs"}, {"-table", "-on", "ext4"}} {
		if _, err := parseOptions(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

// fat is a corpus that no disk has room for.
type fat struct{ trees.Corpus }

// Name is a name for tests.
func (fat) Name() string { return "fat" }

// Size is more than any disk has.
func (fat) Size() (trees.TreeSize, error) {
	return trees.TreeSize{Files: 1, Bytes: 1 << 60, Allocated: 1 << 60}, nil
}

func TestNoRoom(t *testing.T) {
	t.Parallel()
	opt, err := parseOptions([]string{"-contenders", names.Spec})
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{opt: opt, corpus: fat{}, scratch: t.TempDir(), report: &report.Report{}, git: "git"}
	d.leaveOut()
	if err := d.checkRoom(); err == nil || !strings.Contains(err.Error(), "GB are free") {
		t.Errorf("error %v", err)
	}
}

// None of the corpora needs more than what the usage text says.
func TestNeed(t *testing.T) {
	t.Parallel()
	opt, err := parseOptions([]string{"-all"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range plan {
		p := &plan[i]
		d := &driver{opt: p.options(opt), report: &report.Report{}, present: p.options(opt).contenders}
		size, ok := fetched[p.corpus]
		if !ok {
			c, err := openCorpus(d.opt, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			if size, err = c.Size(); err != nil {
				t.Fatal(err)
			}
		}
		if need := d.need(size); need > 15e9 || need < size.Allocated {
			t.Errorf("%s needs %.1f GB", p.name, float64(need)/1e9)
		}
	}
}
