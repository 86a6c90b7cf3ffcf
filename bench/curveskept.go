package main

import (
	"errors"
	"fmt"
	"os"
)

// keptTree is the tree whose checkpoints pile up, and restoredFiles how many of its
// files are edited before each restore.
const (
	keptTree      = 1000
	restoredFiles = 100
)

// alongKept measures what may depend on the number of checkpoints in a store. They
// are tracks of one edited file each. Between two numbers the stores are cleaned.
//
// The store of cairn is grown by one that watches, which is fastest; the program
// works on a copy of it.
func (c *curver) alongKept() (err error) {
	f, err := c.openSite(min(keptTree, c.opt.files), true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	f.subjects, err = closeKinds(f.subjects, nameLibrary)
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
	for _, n := range upTo(curveKept, c.opt.checkpoints) {
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
func (f *site) oldest() (map[*remote]string, error) {
	trees := make(map[*remote]string)
	for _, s := range f.subjects {
		err := f.edits.apply(s.Root, 0, 1, "oldest", 0)
		if err == nil {
			trees[s], err = s.track()
		}
		if err != nil {
			return nil, err
		}
	}
	return trees, nil
}

// closeKinds ends the workers of a kind.
func closeKinds(subjects []*remote, kind string) (left []*remote, err error) {
	for _, s := range subjects {
		if s.Kind == kind {
			err = errors.Join(err, s.close())
		} else {
			left = append(left, s)
		}
	}
	return left, err
}

// grow tracks until there are n checkpoints.
func (f *site) grow(kept, n int) (int, error) {
	f.progress.say("%d checkpoints", n)
	for ; kept < n; kept++ {
		i := kept % len(f.edits.paths)
		for _, s := range f.subjects {
			if s.Kind == nameCLI {
				continue
			}
			if err := errors.Join(f.ctx.Err(), f.edits.apply(s.Root, i, i+1, "kept by "+s.Kind, kept)); err != nil {
				return kept, err
			}
			if _, err := s.track(); err != nil {
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
		case nameWatching:
			from = s.Store
		case nameCLI:
			to = s.Store
		}
	}
	if from == "" || to == "" {
		return nil
	}
	return errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from)))
}

func (f *site) measureKept(n int, oldest, trees map[*remote]string) error {
	at := func(curve string) where { return where{curve, f.files, n} }
	err := f.measure(at(curveKeptTrack), light, f.parties(func(s *remote, round int) (response, error) {
		i := (round + 1) % len(f.edits.paths)
		return f.tracked(s, at(curveKeptTrack), i, i+1, round)
	}))
	if err != nil {
		return err
	}
	err = f.measure(at(curveKeptLog), light, f.parties(func(s *remote, _ int) (response, error) {
		return f.timed(s, request{Op: opLog})
	}, nameSpec))
	if err != nil {
		return err
	}
	for _, s := range f.subjects { // restores of all rounds restore as much
		if err := f.edits.undo(s.Root); err != nil {
			return err
		}
		if _, err := s.track(); err != nil {
			return err
		}
	}
	err = f.measure(at(curveKeptPatch), light, f.parties(func(s *remote, _ int) (response, error) {
		resp, err := f.timed(s, request{Op: opPatch, Tree: oldest[s]})
		if err == nil && len(resp.Files) != 1 {
			err = fmt.Errorf("%s lists %d files, not 1", s.Kind, len(resp.Files))
		}
		return resp, err
	}))
	if err != nil {
		return err
	}
	undo := at(curveKeptUndo)
	err = f.measure(at(curveKeptRestore), heavy, f.parties(func(s *remote, round int) (response, error) {
		resp, err := f.restored(s, trees[s], at(curveKeptRestore), min(restoredFiles, len(f.edits.paths)), round)
		if err != nil || !s.can(opUndoMany) {
			return resp, err
		}
		undone, err := f.timed(s, request{Op: opUndo})
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
	at := func(curve string) where { return where{curve, f.files, n} }
	return f.once(at(curveKeptClean), f.parties(func(s *remote, _ int) (response, error) {
		before, err := sizeOf(s.Store)
		if err != nil {
			return response{}, err
		}
		resp, err := f.timed(s, request{Op: opClean})
		if err != nil {
			return resp, err
		}
		after, err := sizeOf(s.Store)
		if s.Kind == nameWatching {
			return resp, err // its store is like the program's
		}
		f.found.add(at(curveKeptFiles), s.Kind, float64(before.Files))
		f.found.add(at(curveKeptBytes), s.Kind, float64(before.Allocated))
		f.found.add(at(curveCleanBytes), s.Kind, float64(after.Allocated))
		return resp, err
	}))
}
