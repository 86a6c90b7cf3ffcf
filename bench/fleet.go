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
	Fleet       int     `json:"fleet"`     // refs of other machines on one of two remotes that took turns
	Refs        int     `json:"refs"`      // of other machines on this remote: as many, or none
	Checkpoints int     `json:"checkpoints"`
	Seconds     float64 `json:"seconds"`
	CPUSeconds  float64 `json:"cpuSeconds"`
}

// fleetLatency measures a push of one turn, a fetch of one session and a list beside more and more refs, each in turns
// with the same on an empty remote: a machine that other programs use changes its speed meanwhile.
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

// fleetSizes are the numbers of refs to measure beside.
func fleetSizes(most int) (sizes []int) {
	for refs := 1000; refs < most; refs *= 10 {
		sizes = append(sizes, refs)
	}
	return append(sizes, most)
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
		about := fleetSample{Form: form.name, Fleet: refs, Refs: refs, Checkpoints: checkpoints}
		if err := b.inForm(ctx, form, objects, about); err != nil {
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

// inForm measures beside a fleet on a remote of one form, and on an empty one of the same form.
func (b *fleetBench) inForm(ctx context.Context, form *fleetForm, o fleetObjects, about fleetSample) (err error) {
	none := about
	none.Refs, none.Checkpoints = 0, 0
	var sides []*fleetSide
	defer func() {
		for _, s := range sides {
			err = errors.Join(err, s.close())
		}
	}()
	for name, about := range map[string]fleetSample{"fleet.git": about, "empty.git": none} {
		s := &fleetSide{fleetBench: b, remote: filepath.Join(b.dir, name), about: about, server: &fleetServer{}}
		if about.Refs > 0 {
			s.objects = o
		}
		sides = append(sides, s)
		if err := s.open(form); err != nil {
			return err
		}
	}
	for round := range b.opt.rounds + 1 {
		for _, s := range sides {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.round(round); err != nil {
				return err
			}
		}
	}
	return nil
}

// fleetSide is one of two remotes that take turns, and the machines that use it.
type fleetSide struct {
	*fleetBench
	remote  string
	objects fleetObjects
	about   fleetSample
	server  *fleetServer
	where   string // the remote as machines call it
	work    string
	first   fleetMachine
}

// open makes the remote and the machine that pushes to it.
func (s *fleetSide) open(form *fleetForm) (err error) {
	if err := s.make(form, s.remote, s.objects); err != nil {
		return err
	}
	s.where = s.remote
	if form.served {
		if s.server, err = s.serve(s.remote, form.spaces); err != nil {
			return err
		}
		s.where = s.server.url
	}
	if s.work, err = os.MkdirTemp(s.dir, "work"); err != nil {
		return err
	}
	tree := filepath.Join(s.work, "tree")
	s.first = fleetMachine{s.program, tree, filepath.Join(s.work, "first"), system.CleanEnv(s.work)}
	return os.MkdirAll(tree, 0o755)
}

// close removes the remote, and gives the objects of the fleet back.
func (s *fleetSide) close() error {
	err := s.server.close()
	if s.objects.dir != "" {
		err = errors.Join(err, os.Rename(filepath.Join(s.remote, "objects"), s.objects.dir))
	}
	err = errors.Join(err, os.RemoveAll(s.remote))
	if s.work != "" {
		err = errors.Join(err, os.RemoveAll(s.work))
	}
	return err
}

// round lets one machine work a turn and push it, and another one list and fetch.
func (s *fleetSide) round(round int) (err error) {
	step := fmt.Sprint(round)
	if err := s.first.turn(step); err != nil {
		return err
	}
	second := fleetMachine{s.program, s.first.tree, filepath.Join(s.work, "second"+step), s.first.env}
	for _, call := range []struct {
		operation string
		of        fleetMachine
		args      []string
	}{
		{"push-turn", s.first, []string{"push", s.where}},
		{"list", second, []string{"fetch", "--list", s.where}},
		{"fetch-session", second, []string{"fetch", s.where, "@"}},
	} {
		sample := s.about
		sample.Operation = call.operation
		s.server.used() // what came before does not count
		if sample.Seconds, sample.CPUSeconds, err = call.of.timed(call.args...); err != nil {
			return err
		}
		sample.CPUSeconds += s.server.used()
		if round > 0 { // the first push brings everything
			s.samples = append(s.samples, sample)
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
