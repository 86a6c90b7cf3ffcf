package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/seed-fb9cbc17/cairn/bench/internal/figures"
	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// alongKept measures what may depend on the number of checkpoints in a store. They
// are tracks of one edited file each. Between two numbers the stores are cleaned.
//
// The store of cairn is grown by one that watches, which is fastest; the program
// works on a copy of it.
func (c *curver) alongKept() (err error) {
	f, err := c.openSite(min(figures.KeptTree, c.opt.files), true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	f.subjects, err = closeKinds(f.subjects, names.Library)
	if err != nil {
		return err
	}
	oldest, err := f.oldest()
	if err != nil {
		return err
	}
	trees, err := f.originals()
	if err != nil {
		return err
	}
	kept := 2
	for _, n := range upTo(figures.CurveKept, c.opt.checkpoints) {
		if kept, err = f.grow(kept, n); err != nil {
			return err
		}
		if err := f.copyStore(); err != nil {
			return err
		}
		if err := f.measureKept(n, oldest, trees); err != nil {
			return err
		}
	}
	return nil
}

// oldest takes a checkpoint that no later one equals: who looks for its tree has to
// get past all others, or to know better.
func (f *site) oldest() (map[*peers.Remote]string, error) {
	trees := make(map[*peers.Remote]string)
	for _, s := range f.subjects {
		err := f.edits.Apply(s.Root, 0, 1, "oldest", 0)
		if err == nil {
			trees[s], err = s.Track()
		}
		if err != nil {
			return nil, err
		}
	}
	return trees, nil
}

// closeKinds ends the workers of a kind.
func closeKinds(subjects []*peers.Remote, kind string) (left []*peers.Remote, err error) {
	for _, s := range subjects {
		if s.Kind == kind {
			err = errors.Join(err, s.Close())
		} else {
			left = append(left, s)
		}
	}
	return left, err
}

// grow tracks until there are n checkpoints.
func (f *site) grow(kept, n int) (int, error) {
	f.progress.Say("%d checkpoints", n)
	for ; kept < n; kept++ {
		i := kept % len(f.edits.Paths)
		for _, s := range f.subjects {
			if s.Kind == names.CLI {
				continue
			}
			if err := errors.Join(f.ctx.Err(), f.edits.Apply(s.Root, i, i+1, "kept by "+s.Kind, kept)); err != nil {
				return kept, err
			}
			if _, err := s.Track(); err != nil {
				return kept, err
			}
		}
	}
	return kept, nil
}

// copyStore gives the program what the one that watches has grown.
func (f *site) copyStore() error {
	var from, to string
	for _, s := range f.subjects {
		switch s.Kind {
		case names.Watching:
			from = s.Store
		case names.CLI:
			to = s.Store
		}
	}
	if from == "" || to == "" {
		return nil
	}
	return errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from)))
}

func (f *site) measureKept(n int, oldest, trees map[*peers.Remote]string) error {
	at := func(curve string) figures.Where { return figures.Where{Curve: curve, Files: f.files, X: n} }
	err := f.measure(at(figures.CurveKeptTrack), light, f.parties(func(s *peers.Remote, round int) (peers.Response, error) {
		i := (round + 1) % len(f.edits.Paths)
		return f.tracked(s, at(figures.CurveKeptTrack), i, i+1, round)
	}))
	if err != nil {
		return err
	}
	err = f.measure(at(figures.CurveKeptLog), light, f.parties(func(s *peers.Remote, _ int) (peers.Response, error) {
		return f.timed(s, peers.Request{Op: peers.OpLog})
	}, names.Spec))
	if err != nil {
		return err
	}
	for _, s := range f.subjects { // restores of all rounds restore as much
		if err := f.edits.Undo(s.Root); err != nil {
			return err
		}
		if _, err := s.Track(); err != nil {
			return err
		}
	}
	err = f.measure(at(figures.CurveKeptPatch), light, f.parties(func(s *peers.Remote, _ int) (peers.Response, error) {
		resp, err := f.timed(s, peers.Request{Op: peers.OpPatch, Tree: oldest[s]})
		if err == nil && len(resp.Files) != 1 {
			err = fmt.Errorf("%s lists %d files, not 1", s.Kind, len(resp.Files))
		}
		return resp, err
	}))
	if err != nil {
		return err
	}
	undo := at(figures.CurveKeptUndo)
	err = f.measure(at(figures.CurveKeptRestore), heavy, f.parties(func(s *peers.Remote, round int) (peers.Response, error) {
		resp, err := f.restored(s, trees[s], at(figures.CurveKeptRestore), min(figures.RestoredFiles, len(f.edits.Paths)), round)
		if err != nil || !s.Can(names.OpUndoMany) {
			return resp, err
		}
		undone, err := f.timed(s, peers.Request{Op: peers.OpUndo})
		if err == nil {
			f.record(undo, s.Kind, undone)
		}
		return resp, err
	}))
	if err != nil {
		return err
	}
	return f.cleanKept(n)
}

// cleanKept cleans every store once and weighs it before and after.
func (f *site) cleanKept(n int) error {
	at := func(curve string) figures.Where { return figures.Where{Curve: curve, Files: f.files, X: n} }
	return f.once(at(figures.CurveKeptClean), f.parties(func(s *peers.Remote, _ int) (peers.Response, error) {
		before, err := trees.SizeOf(s.Store)
		if err != nil {
			return peers.Response{}, err
		}
		resp, err := f.timed(s, peers.Request{Op: peers.OpClean})
		if err != nil {
			return resp, err
		}
		after, err := trees.SizeOf(s.Store)
		if s.Kind == names.Watching {
			return resp, err // its store is like the program's
		}
		f.found.Add(at(figures.CurveKeptFiles), s.Kind, float64(before.Files))
		f.found.Add(at(figures.CurveKeptBytes), s.Kind, float64(before.Allocated))
		f.found.Add(at(figures.CurveCleanBytes), s.Kind, float64(after.Allocated))
		return resp, err
	}))
}
