package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn/bench/internal/figures"
	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
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
	found *figures.Curves
}

// measureCurves is a run with -curves.
func (d *driver) measureCurves(out io.Writer) error {
	if err := d.build(); err != nil {
		return err
	}
	c := &curver{driver: d, found: &figures.Curves{Version: report.Version, Time: d.report.Time, Machine: d.report.Machine, Rounds: d.opt.rounds, Notes: d.report.Notes}}
	for _, files := range upTo(figures.CurveFiles, d.opt.files) {
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
	return errors.Join(report.SaveTo(d.opt.json, c.found.WriteJSON), c.found.Print(out))
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
	varied := c.wanted(partChanged) && (slices.Contains(figures.ChangedTrees, files) || files == c.opt.files && files < figures.ChangedTrees[0])
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
	subjects []*peers.Remote
	edits    *trees.Edits
}

// openSite makes a tree, and workers for the contenders asked for. The library comes with and
// without watching.
func (c *curver) openSite(files int, apart bool) (f *site, err error) {
	f = &site{curver: c, files: files, dir: filepath.Join(c.scratch, fmt.Sprintf("curves-%d", files))}
	tree := trees.NewSmallTree(files)
	c.progress.Say("tree of %d files", files)
	roots := make(map[string]bool)
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	for _, kind := range figures.CurveKinds {
		if asked := map[string]string{names.Watching: names.Library}[kind]; !slices.Contains(c.opt.contenders, kind) && !slices.Contains(c.opt.contenders, asked) {
			continue
		}
		s := peers.Setting{Kind: kind, Root: filepath.Join(f.dir, "tree"), Store: filepath.Join(f.dir, "data-"+kind), Home: filepath.Join(c.scratch, "home"), Git: c.git, Cairn: c.cairn, Alone: true}
		if apart && kind == names.Spec {
			s.Root = filepath.Join(f.dir, "tree-"+kind)
		}
		if !roots[s.Root] {
			roots[s.Root] = true
			if err := errors.Join(os.MkdirAll(s.Root, 0o755), tree.Fill(s.Root)); err != nil {
				return f, err
			}
		}
		worker, err := peers.StartWorker(s)
		if err != nil {
			return f, err
		}
		f.subjects = append(f.subjects, worker)
	}
	if len(f.subjects) == 0 {
		return f, errors.New("none of the contenders takes part in curves")
	}
	f.edits, err = trees.ChooseEdits(f.subjects[0].Root, tree.Texts(), min(slices.Max(figures.CurveChanged), files/3))
	return f, err
}

func (f *site) close() error {
	var errs []error
	for _, s := range f.subjects {
		errs = append(errs, s.Close())
	}
	if !f.opt.keep {
		errs = append(errs, os.RemoveAll(f.dir))
	}
	return errors.Join(errs...)
}

// party takes part in a measurement: a contender, or the floor.
type party struct {
	who string
	do  func(round int) (peers.Response, error)
}

// parties are all contenders but those left out.
func (f *site) parties(do func(s *peers.Remote, round int) (peers.Response, error), without ...string) (list []party) {
	for _, s := range f.subjects {
		if !slices.Contains(without, s.Kind) {
			list = append(list, party{s.Kind, func(round int) (peers.Response, error) { return do(s, round) }})
		}
	}
	return list
}

// measure lets the parties take turns, once a round, the first of which is not
// counted where it is light.
func (f *site) measure(at figures.Where, first int, parties []party) error {
	f.progress.Say("%s, %d files: %d", at.Curve, at.Files, at.X)
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
				return fmt.Errorf("%s at %d: %w", at.Curve, at.X, err)
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
func (f *site) once(at figures.Where, parties []party) error {
	f.progress.Say("%s, %d files: %d", at.Curve, at.Files, at.X)
	for _, p := range parties {
		resp, err := p.do(0)
		if err != nil {
			return fmt.Errorf("%s at %d: %w", at.Curve, at.X, err)
		}
		f.record(at, p.who, resp)
	}
	return nil
}

func (f *site) record(at figures.Where, who string, resp peers.Response) {
	p := f.found.Add(at, who, resp.Seconds)
	p.CPUSeconds = append(p.CPUSeconds, resp.Used.CPUSeconds)
	if at.Curve == figures.CurveUnchanged && (who == names.Spec || who == names.CLI) { // processes of their own
		f.found.Add(figures.Where{Curve: figures.CurvePeak, Files: at.Files, X: at.X}, who, float64(resp.Used.PeakBytes))
	}
}

// timed has an operation carried out on quiet disks.
func (f *site) timed(s *peers.Remote, req peers.Request) (peers.Response, error) {
	f.flush()
	return s.Do(req)
}

// edit changes the first n files of a contender's tree. What others did there before
// is not what a watching one is to pay for.
func (f *site) edit(s *peers.Remote, at figures.Where, from, to, round int) error {
	if s.Kind == names.Watching {
		if _, err := s.Track(); err != nil {
			return err
		}
	}
	return f.edits.Apply(s.Root, from, to, fmt.Sprintf("%s %d of %s", at.Curve, at.X, s.Kind), round)
}

// tracked edits files and times the track that follows.
func (f *site) tracked(s *peers.Remote, at figures.Where, from, to, round int) (peers.Response, error) {
	if err := f.edit(s, at, from, to, round); err != nil {
		return peers.Response{}, err
	}
	return f.timed(s, peers.Request{Op: peers.OpTrack})
}

// alongFiles measures what depends on the number of files.
func (f *site) alongFiles() error {
	at := func(curve string) figures.Where { return figures.Where{Curve: curve, Files: f.files, X: f.files} }
	once := func(s *peers.Remote, round int) (peers.Response, error) {
		if round > 0 {
			if _, err := s.Do(peers.Request{Op: peers.OpReset}); err != nil {
				return peers.Response{}, err
			}
		}
		return f.timed(s, peers.Request{Op: peers.OpTrack})
	}
	if err := f.measure(at(figures.CurveFirst), heavy, f.parties(once)); err != nil {
		return err
	}
	walk := party{names.Floor, func(int) (peers.Response, error) {
		f.flush()
		before := system.OwnUsage()
		seconds, err := timeWalk(f.tree(), nil)
		return peers.Response{Seconds: seconds, Used: system.Usage{CPUSeconds: system.OwnUsage().CPUSeconds - before.CPUSeconds}}, err
	}}
	unchanged := func(s *peers.Remote, _ int) (peers.Response, error) {
		return f.timed(s, peers.Request{Op: peers.OpTrack})
	}
	if err := f.measure(at(figures.CurveUnchanged), light, append(f.parties(unchanged), walk)); err != nil {
		return err
	}
	return f.measure(at(figures.CurveOne), light, f.parties(func(s *peers.Remote, round int) (peers.Response, error) {
		i := (round + 1) % len(f.edits.Paths)
		return f.tracked(s, at(figures.CurveOne), i, i+1, round)
	}))
}

// tree is where the floor is measured.
func (f *site) tree() string { return f.subjects[len(f.subjects)-1].Root }
