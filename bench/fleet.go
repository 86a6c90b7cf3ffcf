package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// perMachine is the number of lines of each machine of a fleet.
const perMachine = 100

// fleetForms are the ways in which a remote stores its refs.
var fleetForms = []string{"packed", "loose"}

// fleetBench measures one machine beside a fleet on the same remote.
type fleetBench struct {
	dir, program, git string
	opt               options
	progress          *system.Progress
	samples           []fleetSample
}

// fleetSample is one measurement. Times include those of git on both sides.
type fleetSample struct {
	Operation   string  `json:"operation"` // push-turn, fetch-session or list
	Form        string  `json:"form"`      // of the refs: packed or loose
	Refs        int     `json:"refs"`      // of other machines on the remote
	Checkpoints int     `json:"checkpoints"`
	Seconds     float64 `json:"seconds"`
	CPUSeconds  float64 `json:"cpuSeconds"`
}

// fleetLatency measures a push of one turn, a fetch of one session and a list beside more and more refs.
func fleetLatency(ctx context.Context, opt options, out, diagnostics io.Writer) (err error) {
	dir, err := os.MkdirTemp(opt.cache, "cairn-fleet")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &fleetBench{dir: dir, program: opt.cairn, opt: opt, progress: &system.Progress{W: diagnostics, Quiet: opt.quiet}}
	if b.git, err = exec.LookPath("git"); err != nil {
		return err
	}
	if b.program == "" {
		b.program = filepath.Join(dir, "cairn"+exeSuffix)
		if err := buildCairn(b.program); err != nil {
			return err
		}
	}
	for refs := 0; refs <= opt.fleet; refs = max(1000, 10*refs) {
		if err := b.beside(ctx, refs); err != nil {
			return err
		}
		if refs == opt.fleet {
			break
		}
	}
	b.print(out)
	return report.SaveTo(opt.json, b.write)
}

// beside measures beside a number of refs in each form.
func (b *fleetBench) beside(ctx context.Context, refs int) error {
	checkpoints := refs
	if b.opt.fleet > 0 {
		checkpoints = int(int64(b.opt.checkpoints) * int64(refs) / int64(b.opt.fleet))
	}
	b.progress.Say("%d refs, %d checkpoints of other machines", refs, checkpoints)
	remote := filepath.Join(b.dir, fmt.Sprint("fleet", refs, ".git"))
	tips, err := b.generate(remote, refs, max(checkpoints, refs))
	if err != nil {
		return err
	}
	for _, form := range fleetForms {
		if err := writeRefs(remote, form, tips); err != nil {
			return err
		}
		if err := b.rounds(ctx, remote, fleetSample{Form: form, Refs: refs, Checkpoints: checkpoints}); err != nil {
			return err
		}
		if err := os.RemoveAll(filepath.Join(remote, "refs", "cairn")); err != nil {
			return err
		}
	}
	return os.RemoveAll(remote)
}

// fleetRef is the name of a line of a fleet: every ten machines share a project.
func fleetRef(i int) string {
	machine := i / perMachine
	return fmt.Sprintf("refs/cairn/%016x/%016x/sessions/s%d", machine/10, machine, i)
}

// generate makes a bare repository with the lines of a fleet, and returns their tips.
func (b *fleetBench) generate(remote string, refs, checkpoints int) (tips []string, err error) {
	p := &system.Processes{Dir: b.dir, Env: system.CleanEnv(b.dir)}
	if _, err := p.Run("", b.git, "init", "--quiet", "--bare", "--template=", remote); err != nil || refs == 0 {
		return nil, err
	}
	stream, marks := filepath.Join(b.dir, "stream"), filepath.Join(b.dir, "marks")
	if err := writeStream(stream, refs, checkpoints/refs); err != nil {
		return nil, err
	}
	defer os.Remove(stream)
	in, err := os.Open(stream)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := exec.Command(b.git, "--git-dir="+remote, "fast-import", "--quiet", "--export-marks="+marks)
	cmd.Stdin, cmd.Env = in, p.Env
	if err := p.Finish(cmd); err != nil {
		return nil, err
	}
	if _, err := p.Run("", b.git, "--git-dir="+remote, "update-ref", "-d", fleetBranch); err != nil {
		return nil, err
	}
	return readMarks(marks, refs)
}

// fleetBranch is the branch that fast-import writes to, one line after the other.
const fleetBranch = "refs/heads/fleet"

// writeStream writes lines of commits for git fast-import. The tip of line i has the mark i+1.
func writeStream(file string, refs, length int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for i := range refs {
		fmt.Fprintf(w, "reset %s\n\n", fleetBranch)
		for n := range length {
			fmt.Fprintf(w, "commit %s\n", fleetBranch)
			if n == length-1 {
				fmt.Fprintf(w, "mark :%d\n", i+1)
			}
			text := fmt.Sprintf("line %d, checkpoint %d\n", i, n)
			fmt.Fprintf(w, "committer a <a@example.org> %d +0000\ndata 5\nstep\nM 644 inline file\ndata %d\n%s\n", 1_700_000_000+n, len(text), text)
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

func readMarks(file string, refs int) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	tips := make([]string, refs)
	for line := range strings.Lines(string(data)) {
		var mark int
		var id string
		if _, err := fmt.Sscanf(line, ":%d %s", &mark, &id); err != nil || mark < 1 || mark > refs {
			return nil, fmt.Errorf("%s: %q is no mark", file, line)
		}
		tips[mark-1] = id
	}
	return tips, nil
}

// writeRefs names the tips, in packed-refs or in a file each.
func writeRefs(remote, form string, tips []string) error {
	packed := filepath.Join(remote, "packed-refs")
	if form == "packed" {
		lines := make([]string, 0, len(tips))
		for i, id := range tips {
			lines = append(lines, id+" "+fleetRef(i)+"\n")
		}
		slices.SortFunc(lines, func(x, y string) int { return strings.Compare(x[41:], y[41:]) })
		return os.WriteFile(packed, []byte("# pack-refs with: peeled fully-peeled sorted \n"+strings.Join(lines, "")), 0o644)
	}
	if err := os.Remove(packed); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for i, id := range tips {
		file := filepath.Join(remote, filepath.FromSlash(fleetRef(i)))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(id+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// rounds lets one machine work a turn and push it, and another one list and fetch.
func (b *fleetBench) rounds(ctx context.Context, remote string, about fleetSample) error {
	work, err := os.MkdirTemp(b.dir, "work")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	tree := filepath.Join(work, "tree")
	if err := os.MkdirAll(tree, 0o755); err != nil {
		return err
	}
	first := fleetMachine{b.program, tree, filepath.Join(work, "first"), system.CleanEnv(work)}
	for round := range b.opt.rounds + 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		step := fmt.Sprint(round)
		if err := first.turn(step); err != nil {
			return err
		}
		second := fleetMachine{b.program, tree, filepath.Join(work, "second"+step), first.env}
		for _, call := range []struct {
			operation string
			of        fleetMachine
			args      []string
		}{
			{"push-turn", first, []string{"push", remote}},
			{"list", second, []string{"fetch", "--list", remote}},
			{"fetch-session", second, []string{"fetch", remote, "@"}},
		} {
			s := about
			s.Operation = call.operation
			if s.Seconds, s.CPUSeconds, err = call.of.timed(call.args...); err != nil {
				return err
			}
			if round > 0 { // the first push brings everything
				b.samples = append(b.samples, s)
			}
		}
	}
	return nil
}

// fleetMachine is a machine that runs cairn.
type fleetMachine struct {
	program, tree, data string
	env                 []string
}

// turn records a turn of one edited file.
func (m fleetMachine) turn(name string) error {
	step := []string{"session", "step", "begin", "s", "--message", name, "--step", name, "--role", "user"}
	if _, _, err := m.timed(step...); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(m.tree, "file"), []byte(strings.Repeat(name, 100)), 0o644); err != nil {
		return err
	}
	_, _, err := m.timed("session", "step", "end", "s", "--step", name)
	return err
}

func (m fleetMachine) timed(args ...string) (wall, processor float64, err error) {
	cmd := exec.Command(m.program, append([]string{"-C", m.tree, "--data-dir", m.data, "--no-server"}, args...)...)
	cmd.Env = append(slices.Clone(m.env), "CAIRN_NO_BACKGROUND=1")
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("cairn %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return time.Since(began).Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}

// fleetPoint is the median of the samples of one operation beside a fleet.
type fleetPoint struct {
	operation, form string
	refs            int
	seconds, cpu    float64
	alone           float64 // processor time beside no refs, in the same form
}

func (b *fleetBench) points() (list []fleetPoint) {
	seconds, cpu := make(map[fleetPoint][]float64), make(map[fleetPoint][]float64)
	for _, s := range b.samples {
		key := fleetPoint{operation: s.Operation, form: s.Form, refs: s.Refs}
		seconds[key], cpu[key] = append(seconds[key], s.Seconds), append(cpu[key], s.CPUSeconds)
	}
	for key := range cpu {
		p := key
		p.seconds, p.cpu = middle(seconds[key]), middle(cpu[key])
		p.alone = middle(cpu[fleetPoint{operation: key.operation, form: key.form}])
		list = append(list, p)
	}
	slices.SortFunc(list, func(x, y fleetPoint) int {
		return cmp.Or(strings.Compare(x.operation, y.operation), strings.Compare(x.form, y.form), cmp.Compare(x.refs, y.refs))
	})
	return list
}

func middle(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// Of a host on paper: checkpoints in all, and of a line.
const (
	hostCheckpoints = 100_000_000
	hostPerLine     = 100
)

// print prints the curve, and what it means for a host with hostCheckpoints.
func (b *fleetBench) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "operation\trefs are\trefs beside\tms\tCPU ms\tof none beside\t")
	points := b.points()
	for _, p := range points {
		fmt.Fprintf(w, "%s\t%s\t%d\t%.0f\t%.0f\t%.2f\t\n", p.operation, p.form, p.refs, 1e3*p.seconds, 1e3*p.cpu, p.cpu/p.alone)
	}
	w.Flush()
	for _, p := range points {
		if p.form != "packed" || p.refs == 0 || p.refs != b.opt.fleet {
			continue
		}
		perRef := max(0, p.cpu-p.alone) / float64(p.refs)
		refs := float64(hostCheckpoints / hostPerLine)
		fmt.Fprintf(out, "%s: %.2f µs of CPU for each packed ref beside; with all %d checkpoints of a host in one repository, lines of %d: %.1f s",
			p.operation, 1e6*perRef, hostCheckpoints, hostPerLine, p.alone+refs*perRef)
		if perRef > 0 {
			fmt.Fprintf(out, "; twice the cost of an empty one at %.0f refs", p.alone/perRef)
		}
		fmt.Fprintln(out)
	}
}

// write writes the samples as JSON.
func (b *fleetBench) write(out io.Writer) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", " ")
	return enc.Encode(struct {
		Version int            `json:"version"`
		Time    time.Time      `json:"time"`
		Machine system.Machine `json:"machine"`
		Samples []fleetSample  `json:"samples"`
	}{1, time.Now().UTC(), system.DescribeMachine(b.dir, b.git), b.samples})
}
