package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// The sizes that curves are measured at, as far as the options allow.
var (
	curveFiles   = []int{1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 500_000}
	curveChanged = []int{1, 3, 10, 30, 100, 300, 1_000, 3_000}
	curveKept    = []int{100, 1_000, 3_000, 10_000}

	// changedTrees are the trees whose changed files are varied.
	changedTrees = []int{10_000, 100_000}
)

// patience is how many seconds an operation may take to be carried out again in the
// other rounds: the noise that these are against is small then.
func patience(first int) float64 {
	if first == light {
		return 3
	}
	return 1
}

// curver measures how costs grow.
type curver struct {
	*driver
	found *curves
}

// measureCurves is a run with -curves.
func (d *driver) measureCurves(out io.Writer) error {
	if err := d.build(); err != nil {
		return err
	}
	c := &curver{driver: d, found: &curves{Version: reportVersion, Time: d.report.Time, Machine: d.report.Machine, Rounds: d.opt.rounds, Notes: d.report.Notes}}
	for _, files := range upTo(curveFiles, d.opt.files) {
		if err := c.onTree(files); err != nil {
			return fmt.Errorf("%d files: %w", files, err)
		}
	}
	if c.wanted(partKept) {
		if err := c.alongKept(); err != nil {
			return fmt.Errorf("checkpoints kept: %w", err)
		}
	}
	if c.wanted(partBack) {
		if err := c.alongBack(); err != nil {
			return fmt.Errorf("ways back: %w", err)
		}
	}
	return errors.Join(saveTo(d.opt.json, c.found.writeJSON), c.found.print(out))
}

// upTo are the sizes that are at most n; n itself where there is none.
func upTo(sizes []int, n int) []int {
	sizes = slices.DeleteFunc(slices.Clone(sizes), func(size int) bool { return size > n })
	if len(sizes) == 0 {
		return []int{n}
	}
	return sizes
}

// The parts of a run, as -only has them.
const (
	partFiles   = "files"
	partChanged = "changed"
	partKept    = "kept"
	partBack    = "back"
)

var curveParts = []string{partFiles, partChanged, partKept, partBack}

func (c *curver) wanted(part string) bool {
	return len(c.opt.only) == 0 || slices.Contains(c.opt.only, part)
}

// onTree measures everything that one tree is good for.
func (c *curver) onTree(files int) (err error) {
	varied := c.wanted(partChanged) && (slices.Contains(changedTrees, files) || files == c.opt.files && files < changedTrees[0])
	if !varied && !c.wanted(partFiles) {
		return nil
	}
	f, err := c.openSite(files, varied)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	if c.wanted(partFiles) {
		err = f.alongFiles()
	} else {
		_, err = f.originals() // the first track is not to be counted
	}
	if err != nil || !varied {
		return err
	}
	return f.alongChanged()
}

// site is a tree with contenders at work. They share it, but for the specification's
// where something is restored: that rewrites every file.
type site struct {
	*curver
	files    int
	dir      string
	subjects []*remote
	edits    *edits
}

// The contenders of curves, in the order of the legend.
var curveKinds = []string{nameSpec, nameCLI, nameLibrary, nameWatching}

// curveLines are the lines of a curve, in the order of the legend: contenders, and what
// the machine takes for the least of it.
var curveLines = append(slices.Clone(curveKinds), nameFloor, nameHand)

// openSite makes a tree, and workers for the contenders asked for. The library comes with and
// without watching.
func (c *curver) openSite(files int, apart bool) (f *site, err error) {
	f = &site{curver: c, files: files, dir: filepath.Join(c.scratch, fmt.Sprintf("curves-%d", files))}
	tree := newSmallTree(files)
	c.progress.say("tree of %d files", files)
	roots := make(map[string]bool)
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	for _, kind := range curveKinds {
		if asked := map[string]string{nameWatching: nameLibrary}[kind]; !slices.Contains(c.opt.contenders, kind) && !slices.Contains(c.opt.contenders, asked) {
			continue
		}
		s := setting{Kind: kind, Root: filepath.Join(f.dir, "tree"), Store: filepath.Join(f.dir, "data-"+kind), Home: filepath.Join(c.scratch, "home"), Git: c.git, Cairn: c.cairn, Alone: true}
		if apart && kind == nameSpec {
			s.Root = filepath.Join(f.dir, "tree-"+kind)
		}
		if !roots[s.Root] {
			roots[s.Root] = true
			if err := errors.Join(os.MkdirAll(s.Root, 0o755), tree.fill(s.Root)); err != nil {
				return f, err
			}
		}
		worker, err := startWorker(s)
		if err != nil {
			return f, err
		}
		f.subjects = append(f.subjects, worker)
	}
	if len(f.subjects) == 0 {
		return f, errors.New("none of the contenders takes part in curves")
	}
	f.edits, err = chooseEdits(f.subjects[0].Root, tree.texts(), min(slices.Max(curveChanged), files/3))
	return f, err
}

func (f *site) close() error {
	var errs []error
	for _, s := range f.subjects {
		errs = append(errs, s.close())
	}
	if !f.opt.keep {
		errs = append(errs, os.RemoveAll(f.dir))
	}
	return errors.Join(errs...)
}

// party takes part in a measurement: a contender, or the floor.
type party struct {
	who string
	do  func(round int) (response, error)
}

// parties are all contenders but those left out.
func (f *site) parties(do func(s *remote, round int) (response, error), without ...string) (list []party) {
	for _, s := range f.subjects {
		if !slices.Contains(without, s.Kind) {
			list = append(list, party{s.Kind, func(round int) (response, error) { return do(s, round) }})
		}
	}
	return list
}

// measure lets the parties take turns, once a round, the first of which is not
// counted where it is light.
func (f *site) measure(at where, first int, parties []party) error {
	f.progress.say("%s, %d files: %d", at.curve, at.files, at.x)
	slow := make([]bool, len(parties))
	for round := first; round < f.opt.rounds; round++ {
		for _, i := range turn(len(parties), round) {
			if slow[i] {
				continue
			}
			if err := f.ctx.Err(); err != nil {
				return err
			}
			resp, err := parties[i].do(round)
			if err != nil {
				return fmt.Errorf("%s at %d: %w", at.curve, at.x, err)
			}
			slow[i] = resp.Seconds > patience(first)
			if round >= 0 || slow[i] {
				f.record(at, parties[i].who, resp)
			}
		}
	}
	return nil
}

// once lets every party have one turn, which counts.
func (f *site) once(at where, parties []party) error {
	f.progress.say("%s, %d files: %d", at.curve, at.files, at.x)
	for _, p := range parties {
		resp, err := p.do(0)
		if err != nil {
			return fmt.Errorf("%s at %d: %w", at.curve, at.x, err)
		}
		f.record(at, p.who, resp)
	}
	return nil
}

func (f *site) record(at where, who string, resp response) {
	p := f.found.add(at, who, resp.Seconds)
	p.CPUSeconds = append(p.CPUSeconds, resp.Used.CPUSeconds)
	if at.curve == curveUnchanged && (who == nameSpec || who == nameCLI) { // processes of their own
		f.found.add(where{curvePeak, at.files, at.x}, who, float64(resp.Used.PeakBytes))
	}
}

// timed has an operation carried out on quiet disks.
func (f *site) timed(s *remote, req request) (response, error) {
	f.flush()
	return s.do(req)
}

// edit changes the first n files of a contender's tree. What others did there before
// is not what a watching one is to pay for.
func (f *site) edit(s *remote, at where, from, to, round int) error {
	if s.Kind == nameWatching {
		if _, err := s.track(); err != nil {
			return err
		}
	}
	return f.edits.apply(s.Root, from, to, fmt.Sprintf("%s %d of %s", at.curve, at.x, s.Kind), round)
}

// tracked edits files and times the track that follows.
func (f *site) tracked(s *remote, at where, from, to, round int) (response, error) {
	if err := f.edit(s, at, from, to, round); err != nil {
		return response{}, err
	}
	return f.timed(s, request{Op: opTrack})
}

// alongFiles measures what depends on the number of files.
func (f *site) alongFiles() error {
	at := func(curve string) where { return where{curve, f.files, f.files} }
	once := func(s *remote, round int) (response, error) {
		if round > 0 {
			if _, err := s.do(request{Op: opReset}); err != nil {
				return response{}, err
			}
		}
		return f.timed(s, request{Op: opTrack})
	}
	if err := f.measure(at(curveFirst), heavy, f.parties(once)); err != nil {
		return err
	}
	walk := party{nameFloor, func(int) (response, error) {
		f.flush()
		before := ownUsage()
		seconds, err := timeWalk(f.tree(), nil)
		return response{Seconds: seconds, Used: usage{CPUSeconds: ownUsage().CPUSeconds - before.CPUSeconds}}, err
	}}
	unchanged := func(s *remote, _ int) (response, error) { return f.timed(s, request{Op: opTrack}) }
	if err := f.measure(at(curveUnchanged), light, append(f.parties(unchanged), walk)); err != nil {
		return err
	}
	return f.measure(at(curveOne), light, f.parties(func(s *remote, round int) (response, error) {
		i := (round + 1) % len(f.edits.paths)
		return f.tracked(s, at(curveOne), i, i+1, round)
	}))
}

// tree is where the floor is measured.
func (f *site) tree() string { return f.subjects[len(f.subjects)-1].Root }
