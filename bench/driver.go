package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// driver has every operation carried out by every contender in turn.
type driver struct {
	ctx      context.Context
	opt      options
	scratch  string
	corpus   corpus
	git      string
	cairn    string // program
	empty    string // a program that does nothing
	progress *progress

	subjects []*remote
	edits    *edits
	trees    map[string]string // operation and round -> id that the first contender gave
	report   *report
}

// prepare makes the programs, a tree for every contender and the workers.
func (d *driver) prepare() (err error) {
	if err := d.build(); err != nil {
		return err
	}
	for _, kind := range d.opt.contenders {
		dir := filepath.Join(d.scratch, "contenders", kind)
		s := setting{
			Kind: kind, Root: filepath.Join(dir, "tree"), Store: filepath.Join(dir, "data"),
			Home: filepath.Join(d.scratch, "home"), Git: d.git, Cairn: d.cairn,
		}
		d.progress.say("tree of %s", kind)
		if err := os.MkdirAll(s.Root, 0o755); err != nil {
			return err
		}
		if err := d.corpus.fill(s.Root); err != nil {
			return err
		}
		r, err := startWorker(s)
		if err != nil {
			return err
		}
		d.subjects = append(d.subjects, r)
		if err := d.ctx.Err(); err != nil {
			return err
		}
	}
	return d.chooseEdits()
}

func (d *driver) build() (err error) {
	switch {
	case d.opt.cairn != "":
		d.cairn, err = filepath.Abs(d.opt.cairn)
	case slices.Contains(d.opt.contenders, nameCLI):
		d.progress.say("building cairn")
		d.cairn = filepath.Join(d.scratch, "cairn"+exeSuffix)
		err = goBuild("", d.cairn, modulePath+"/cmd/cairn")
	}
	if err == nil && d.opt.profile != "" {
		err = os.MkdirAll(d.opt.profile, 0o755)
	}
	if err != nil {
		return err
	}
	d.empty, err = buildEmpty(d.scratch)
	return err
}

// chooseEdits asks git which files are not ignored.
func (d *driver) chooseEdits() error {
	root := d.subjects[0].Root
	p := processes{dir: root, env: cleanEnv(d.subjects[0].Home)}
	list := filepath.Join(d.scratch, "list.git")
	if _, err := p.run("", d.git, "init", "--quiet", "--bare", list); err != nil {
		return err
	}
	out, err := p.run("", d.git, "--git-dir", list, "--work-tree", root, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	captured := nulSeparated(out)
	d.report.Corpus.Captured = len(captured)
	d.edits, err = chooseEdits(root, captured, manyFiles)
	return err
}

// close ends the workers.
func (d *driver) close() error {
	var errs []error
	for _, s := range d.subjects {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// tree is where floors are measured: where cairn works.
func (d *driver) tree() string {
	for _, s := range d.subjects {
		if s.Kind == nameCLI {
			return s.Root
		}
	}
	return d.subjects[len(d.subjects)-1].Root
}

// Light operations get a first round that is not counted; of heavy ones every round
// counts, the trees and stores being in the page cache already.
const (
	light = -1
	heavy = 0
)

// rounds calls every contender, and whatever else takes part, once a round. The
// order turns and is reversed every other round, so that nobody always comes after
// the same one.
func (d *driver) rounds(op string, first int, each func(s *remote, round int) error, others ...func(round int) error) error {
	var parts []func(round int) error
	for _, s := range d.subjects {
		parts = append(parts, func(round int) error { return each(s, round) })
	}
	parts = append(parts, others...)
	for round := first; round < d.opt.rounds; round++ {
		d.progress.say("%s: %s", operationTitle(op), roundText(round, d.opt.rounds))
		if round == 0 {
			if err := d.profile(op); err != nil {
				return err
			}
		}
		for _, i := range turn(len(parts), round) {
			if err := d.ctx.Err(); err != nil {
				return err
			}
			if err := parts[i](round); err != nil {
				return fmt.Errorf("%s: %w", operationTitle(op), err)
			}
		}
	}
	return d.profileEnded()
}

// turn is the order of n in a round.
func turn(n, round int) []int {
	order := make([]int, n)
	round = max(round, 0)
	for i := range order {
		order[i] = (i + round/2) % n
	}
	if round%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

func roundText(round, of int) string {
	if round < 0 {
		return "warming up"
	}
	return fmt.Sprintf("round %d of %d", round+1, of)
}

// time has one operation carried out on quiet disks and records what it took.
func (d *driver) time(s *remote, op string, round int, req request) (response, error) {
	d.flush()
	resp, err := s.do(req)
	if err != nil || round < 0 {
		return resp, err
	}
	d.report.Samples = append(d.report.Samples, sample{
		Operation: op, Who: s.Kind, Round: round,
		Seconds: resp.Seconds, CPUSeconds: resp.Used.CPUSeconds, PeakBytes: resp.Used.PeakBytes,
	})
	return resp, nil
}

func (d *driver) flush() {
	if !d.opt.noFlush {
		flushDisks()
	}
}

// floor records one measurement of the machine itself.
func (d *driver) floor(name string, measure func() (float64, error)) func(round int) error {
	return func(round int) error {
		d.flush()
		before := ownUsage()
		seconds, err := measure()
		if err == nil && round >= 0 {
			d.report.Samples = append(d.report.Samples, sample{
				Operation: name, Who: nameFloor, Round: round, Seconds: seconds,
				CPUSeconds: ownUsage().CPUSeconds - before.CPUSeconds,
			})
		}
		return err
	}
}

// sameTree notes when contenders give different ids to what should be the same tree.
func (d *driver) sameTree(op string, round int, s *remote, tree string) {
	key := fmt.Sprint(op, round)
	if other, ok := d.trees[key]; !ok {
		d.trees[key] = tree
	} else if other != tree {
		d.report.note("the contenders do not agree on the tree ids (%s, %s: %s instead of %s)", operationTitle(op), s.Kind, tree, other)
	}
}

// profile begins a processor profile of the library where one is asked for.
func (d *driver) profile(op string) error {
	for _, s := range d.subjects {
		if d.opt.profile != "" && s.Kind == nameLibrary {
			_, err := s.do(request{Op: opProfile, Profile: filepath.Join(d.opt.profile, op+".pprof")})
			return err
		}
	}
	return nil
}

func (d *driver) profileEnded() error {
	for _, s := range d.subjects {
		if d.opt.profile != "" && s.Kind == nameLibrary {
			_, err := s.do(request{Op: opProfileEnded})
			return err
		}
	}
	return nil
}

// describe fills in what is known of the corpus.
func (d *driver) describe() error {
	size, err := sizeOf(d.tree())
	if err != nil {
		return err
	}
	d.report.Corpus.Name, d.report.Corpus.treeSize = d.corpus.name(), size
	d.report.Rounds = d.opt.rounds
	d.report.Edited = len(d.edits.paths)
	if need := size.Allocated * int64(len(d.subjects)+1); d.report.Machine.MemoryBytes > 0 && need > d.report.Machine.MemoryBytes*2/3 {
		d.report.note("memory is too small to keep all trees in the page cache: the times hold reads from the disk")
	}
	d.report.Throughput, err = measureThroughput(d.tree())
	return err
}

const modulePath = "github.com/seed-fb9cbc17/cairn"

var exeSuffix = map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]

// kinds is the list of contenders in the order of the table.
var kinds = []string{nameSpec, nameOpenCode, nameCLI, nameLibrary}

func parseContenders(list string) ([]string, error) {
	asked := strings.Split(list, ",")
	for _, kind := range asked {
		if !slices.Contains(kinds, kind) {
			return nil, fmt.Errorf("no contender is called %q; there are %s", kind, strings.Join(kinds, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return !slices.Contains(asked, kind) }), nil
}
