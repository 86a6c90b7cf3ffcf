package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// fleetBench measures one machine beside a fleet on the same remote.
type fleetBench struct {
	dir, program, git string
	opt               options
	progress          *system.Progress
	processes         *system.Processes
	samples           []fleetSample
	notes             []string
}

// fleetSample is one measurement. Processor times include those of git on both sides.
type fleetSample struct {
	Operation   string  `json:"operation"` // push-turn, fetch-session or list
	Form        string  `json:"form"`      // how the remote stores its refs and is reached
	Refs        int     `json:"refs"`      // of other machines on the remote
	Checkpoints int     `json:"checkpoints"`
	Seconds     float64 `json:"seconds"`
	CPUSeconds  float64 `json:"cpuSeconds"`
}

// fleetLatency measures a push of one turn, a fetch of one session and a list beside more and more refs.
func fleetLatency(ctx context.Context, opt options, out, diagnostics io.Writer) (err error) {
	cache, err := cacheDir(opt.cache)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(cache, "cairn-fleet")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &fleetBench{dir: dir, program: opt.cairn, opt: opt, progress: &system.Progress{W: diagnostics, Quiet: opt.quiet}}
	b.processes = newProcesses(dir)
	if b.git, err = exec.LookPath("git"); err != nil {
		return err
	}
	if b.program == "" {
		b.program = filepath.Join(dir, "cairn"+exeSuffix)
		if err := buildCairn(b.program); err != nil {
			return err
		}
	}
	for _, refs := range fleetSizes(opt.fleet) {
		if err := b.beside(ctx, refs); err != nil {
			return err
		}
	}
	b.print(out)
	return report.SaveTo(opt.json, b.write)
}

// fleetSizes are the numbers of refs to measure beside. None is measured first and last: a machine that other programs
// use changes its speed meanwhile.
func fleetSizes(most int) []int {
	sizes := []int{0}
	for refs := 1000; refs < most; refs *= 10 {
		sizes = append(sizes, refs)
	}
	return append(sizes, most, 0)
}

// beside measures beside a number of refs in each form.
func (b *fleetBench) beside(ctx context.Context, refs int) error {
	checkpoints := int(int64(b.opt.checkpoints) * int64(refs) / int64(max(1, b.opt.fleet)))
	checkpoints = max(checkpoints, refs)
	b.progress.Say("%d refs, %d checkpoints of other machines", refs, checkpoints)
	objects, err := b.generate(refs, checkpoints)
	if err != nil {
		return err
	}
	for i := range fleetForms {
		form := &fleetForms[i]
		if form.name == reftable && !b.hasReftable() {
			b.note("reftable: left out, this git cannot store refs so (2.45 and later can)")
			continue
		}
		if err := b.inForm(ctx, form, objects, fleetSample{Form: form.name, Refs: refs, Checkpoints: checkpoints}); err != nil {
			return fmt.Errorf("%s: %w", form.name, err)
		}
	}
	return os.RemoveAll(objects.dir)
}

// note keeps what a reader of the figures has to know, once.
func (b *fleetBench) note(text string) {
	if !slices.Contains(b.notes, text) {
		b.notes = append(b.notes, text)
	}
}

// inForm measures beside a fleet on a remote of one form.
func (b *fleetBench) inForm(ctx context.Context, form *fleetForm, o fleetObjects, about fleetSample) error {
	remote := filepath.Join(b.dir, "fleet.git")
	if err := b.make(form, remote, o); err != nil {
		return err
	}
	where, server := remote, &fleetServer{}
	if form.served {
		var err error
		if server, err = b.serve(remote, form.spaces); err != nil {
			return err
		}
		where = server.url
	}
	err := b.rounds(ctx, where, server, about)
	return errors.Join(err, server.close(), os.Rename(filepath.Join(remote, "objects"), o.dir), os.RemoveAll(remote))
}

// rounds lets one machine work a turn and push it, and another one list and fetch.
func (b *fleetBench) rounds(ctx context.Context, remote string, server *fleetServer, about fleetSample) error {
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
			server.used() // what came before does not count
			if s.Seconds, s.CPUSeconds, err = call.of.timed(call.args...); err != nil {
				return err
			}
			s.CPUSeconds += server.used()
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
