//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// BenchmarkCall takes the fixed cost of calls of the program in a tree of ten files,
// beside that of a Go program that does nothing, in turns. The program is that of a release, the
// lean one; calls with "full" are those of the whole. Of each it reports the median time in ms, as a
// multiple of the empty program's, the time until the first byte of its answer or, of the empty program, the end of
// its output, and the page faults.
func BenchmarkCall(b *testing.B) {
	bin, dir, home := b.TempDir(), filepath.Join(b.TempDir(), "project"), b.TempDir()
	program, full, empty := filepath.Join(bin, "cairn"), filepath.Join(bin, "cairn-full"), filepath.Join(bin, "empty")
	gittest.Create(b, bin, gittest.Tree{"empty.go": gittest.File("package main\n\nfunc main() {}\n")})
	for path, args := range map[string][]string{program: {"-tags", "lean", "."}, full: {"."}, empty: {filepath.Join(bin, "empty.go")}} {
		build := exec.Command("go", append([]string{"build", "-o", path}, args...)...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are built
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	tree := gittest.Tree{}
	for i := range 10 {
		tree[fmt.Sprint("f", i)] = gittest.File(fmt.Sprint(i))
	}
	gittest.Create(b, dir, tree)
	payload, err := json.Marshal(map[string]any{
		"hook_event_name": "PreToolUse", "session_id": "s", "cwd": dir, "tool_name": "Bash", "tool_input": map[string]string{"command": "ls"},
	})
	if err != nil {
		b.Fatal(err)
	}
	calls := []*costs{
		{name: "empty", args: []string{empty}},
		{name: "version", args: []string{program, "version"}}, {name: "full-version", args: []string{full, "version"}},
		{name: "track", args: []string{program, "track"}}, {name: "full-track", args: []string{full, "track"}},
		{name: "status", args: []string{program, "status"}},
		{name: "hook", args: []string{program, "hook", "claude-code"}, stdin: string(payload)},
	}
	round := func() {
		for _, c := range calls {
			c.call(b, dir, "HOME="+home, "CAIRN_NO_BACKGROUND=1")
		}
	}
	round() // the first track makes the store
	for _, c := range calls {
		c.times, c.answers, c.faults = nil, nil, nil
	}
	for b.Loop() {
		round()
	}
	for _, c := range calls {
		b.ReportMetric(median(c.times), c.name+"-ms")
		b.ReportMetric(median(c.answers), c.name+"-answer-ms")
		b.ReportMetric(median(c.times)/median(calls[0].times), c.name+"/empty")
		b.ReportMetric(median(c.faults), c.name+"-faults")
	}
}

// costs is one command line, and what it took so far.
type costs struct {
	name  string
	args  []string
	stdin string

	times, answers, faults []float64
}

func (c *costs) call(b *testing.B, dir string, env ...string) {
	answer, out, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Close()
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = dir, env, strings.NewReader(c.stdin), out
	begin := time.Now()
	err = errors.Join(cmd.Start(), out.Close())
	if err == nil {
		_, _ = answer.Read(make([]byte, 1)) // or its end
		c.answers = append(c.answers, time.Since(begin).Seconds()*1e3)
		_, err = io.Copy(io.Discard, answer)
	}
	if err = errors.Join(err, cmd.Wait()); err != nil {
		b.Fatalf("%s: %v", c.name, err)
	}
	c.times = append(c.times, time.Since(begin).Seconds()*1e3)
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.faults = append(c.faults, float64(usage.Minflt))
	}
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
