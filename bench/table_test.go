package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/benchtest"
	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
)

// The public table of a tiny tree: every contender that is installed has a time in every row that it
// takes part in, and the documents take the table over.
func TestPublicTable(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "table.json")
	opt := optionsOf(t,
		"-table", "-without", "small,linux", "-files", "30", "-n", "1", "-quiet", "-no-flush", "-cache", filepath.Join(dir, "cache"),
		"-contenders", strings.Join([]string{names.Newest, names.Jujutsu, names.Copy, names.CLI, names.Library, names.Served}, ","), "-json", file,
	)
	var out bytes.Buffer
	if err := benchAll(context.Background(), opt, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	s, err := readSuite(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Runs) != 2 || s.Runs[0].Plan != "100k" || s.Runs[1].Plan != "loose" {
		t.Fatalf("%d runs: %+v", len(s.Runs), s.Runs)
	}
	for _, who := range opt.contenders {
		timedInTable(t, s.Runs[0], who)
	}
	if _, ok := s.Runs[1].Seconds(names.OpFirstBorrowed, names.CLI); !ok {
		t.Error("loose objects were not measured")
	}
	for _, want := range []string{"## 100,000 files\n", "| take back 10,000 new files ", "| where cairn is not first", "**"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	quotedInto(t, s)
}

// One operation of the table: the library, which takes no part in it, has no store yet when the sizes are taken.
func TestOneOperationOfTheTable(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	dir := t.TempDir()
	opt := optionsOf(t,
		"-table", "-without", "small,linux,loose", "-files", "30", "-n", "1", "-quiet", "-no-flush", "-cache", filepath.Join(dir, "cache"),
		"-only", names.OpFirstBorrowed, "-contenders", names.CLI+","+names.Library, "-json", filepath.Join(dir, "table.json"),
	)
	var out bytes.Buffer
	if err := benchAll(context.Background(), opt, &out, io.Discard); err != nil || strings.Contains(out.String(), "not measured: ") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// timedInTable skips who is not installed.
func timedInTable(t *testing.T, r *run, who string) {
	t.Helper()
	if peers.Missing(who, "git") != "" {
		return
	}
	s := peers.Setting{Kind: who, Repository: true}
	for _, op := range tableOps {
		_, ok := r.Seconds(op, who)
		if want := s.Can(op) && (who != names.Library || op == names.OpFirst); ok != want {
			t.Errorf("%s of %s: timed %v, want %v", op, who, ok, want)
		}
	}
	for _, op := range []string{names.OpUndoOne, names.OpUndoMany, names.OpUndoLarge, names.OpBringBack} {
		if _, ok := r.Seconds(op, who); ok != (s.Can(op) && who != names.Library) {
			t.Errorf("%s of %s: timed %v", op, who, ok)
		}
	}
}

func quotedInto(t *testing.T, s *suite) {
	t.Helper()
	text, err := s.quoteInto("before\n<!-- table: 100k -->\nold\n<!-- end of table -->\nbetween\n<!-- table: 100k short -->\n<!-- end of table -->\nafter\n", "all.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text, "before\n<!-- table: 100k -->\n\n100,000 files, ") || strings.Contains(text, "old") || !strings.HasSuffix(text, "\n<!-- end of table -->\nafter\n") {
		t.Errorf("the document has\n%s", text)
	}
	if long, short, _ := strings.Cut(text, "between"); strings.Count(long, "\n| ") <= strings.Count(short, "\n| ") || !strings.Contains(short, "\n| revert of 100 files |") {
		t.Errorf("the short table has\n%s", short)
	}
	again, err := s.quoteInto(text, "all.md")
	if err != nil || again != text {
		t.Errorf("a second time it changes: %v", err)
	}
	for _, wrong := range []string{"no table", "<!-- table: 100k -->\nno end", "<!-- table: other -->\n<!-- end of table -->\n"} {
		if _, err := s.quoteInto(wrong, ""); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

func TestWrapped(t *testing.T) {
	t.Parallel()
	text := wrapped("- " + strings.Repeat("word ", 40))
	lines := strings.Split(text, "\n")
	if len(lines) != 2 || len(lines[0]) > 116 || !strings.HasPrefix(lines[1], "  word") || strings.Join(strings.Fields(text), " ") != "- "+strings.TrimSpace(strings.Repeat("word ", 40)) {
		t.Errorf("%q", lines)
	}
}

// The documents have what -quote replaces.
func TestQuoted(t *testing.T) {
	t.Parallel()
	s := &suite{}
	for _, p := range tablePlan {
		s.Runs = append(s.Runs, &run{Plan: p.name})
	}
	for file := range quoted {
		if _, err := s.quoteInto(string(benchtest.ReadFile(t, file)), ""); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// Every shape of -large, made tiny.
func TestLarge(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "large.json")
	opt := optionsOf(t, "-large", "-files", "20", "-quiet", "-cache", filepath.Join(dir, "cache"), "-json", file)
	var out bytes.Buffer
	if err := benchLarge(context.Background(), opt, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if left := benchtest.ReadDir(t, filepath.Join(dir, "cache")); len(left) > 0 {
		t.Errorf("the run left %v behind", left)
	}
	var r largeReport
	if err := json.Unmarshal(benchtest.ReadFile(t, file), &r); err != nil {
		t.Fatal(err)
	}
	const operations, sizes = 5, 2
	if want := len(opt.largeShapes()) * operations * sizes; len(r.Rows) != want {
		t.Errorf("%d rows, want %d", len(r.Rows), want)
	}
	for _, shape := range opt.largeShapes() {
		if !strings.Contains(out.String(), "| "+shape.Name+" ") {
			t.Errorf("no row for %s in\n%s", shape.Name, out.String())
		}
	}
}

func TestLargeMet(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"yes":                  largeMet(goalPeak-1, 1.15),
		"no: memory":           largeMet(goalPeak, 0.5),
		"no: more than linear": largeMet(1, 1.2),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A server that watches more projects than its sessions work in.
func TestServe(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	file := filepath.Join(t.TempDir(), "serve.json")
	opt := optionsOf(t,
		"-serve", "-files", "30", "-projects", "3", "-worked", "2", "-sessions", "3", "-rest", "60ms", "-lasts", "300ms", "-pace", "50ms", "-quiet", "-json", file,
	)
	var out bytes.Buffer
	if err := serveBench(context.Background(), opt, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var r loadReport
	if err := json.Unmarshal(benchtest.ReadFile(t, file), &r); err != nil {
		t.Fatal(err)
	}
	if r.Failed > 0 || r.End.Count == 0 || r.Load.Worked != 2 || r.Rest == nil || slices.Max(r.Rest.Memory) == 0 || r.Rest.Seconds < (60*time.Millisecond).Seconds() {
		t.Errorf("%+v", r)
	}
	text, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".md")
	if err != nil || string(text) != out.String() || !strings.Contains(out.String(), "memory at rest, 3 projects") {
		t.Errorf("%v, printed\n%s", err, out.String())
	}
}
