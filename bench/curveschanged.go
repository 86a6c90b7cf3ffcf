package main

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn/bench/internal/figures"
	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
)

// alongChanged measures what depends on the number of files that have changed.
func (f *site) alongChanged() error {
	for _, measure := range []func(changed int) error{f.trackChanged, f.restoreChanged, f.diffChanged} {
		for _, changed := range upTo(figures.CurveChanged, len(f.edits.Paths)) {
			if err := measure(changed); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *site) trackChanged(changed int) error {
	at := figures.Where{Curve: figures.CurveTrack, Files: f.files, X: changed}
	return f.measure(at, light, f.parties(func(s *peers.Remote, round int) (peers.Response, error) {
		return f.tracked(s, at, 0, changed, round)
	}))
}

// originals takes all trees back and returns the ids of their checkpoints.
func (f *site) originals() (map[*peers.Remote]string, error) {
	trees := make(map[*peers.Remote]string)
	for _, s := range f.subjects {
		err := f.edits.Undo(s.Root)
		if err == nil {
			trees[s], err = s.Track()
		}
		if err != nil {
			return nil, err
		}
	}
	return trees, nil
}

// resting is who does not take part in what is slow, in large trees: the
// specification restores by writing all files, and compares with two processes a file.
func (f *site) resting() []string {
	if f.files > figures.ChangedTrees[0] {
		return []string{names.Spec}
	}
	return nil
}

// restoreChanged restores while the edits have not been tracked.
func (f *site) restoreChanged(changed int) error {
	at := figures.Where{Curve: figures.CurveRestore, Files: f.files, X: changed}
	trees, err := f.originals()
	if err != nil {
		return err
	}
	return f.measure(at, heavy, f.parties(func(s *peers.Remote, round int) (peers.Response, error) {
		return f.restored(s, trees[s], at, changed, round)
	}, f.resting()...))
}

func (f *site) restored(s *peers.Remote, tree string, at figures.Where, changed, round int) (peers.Response, error) {
	if err := f.edit(s, at, 0, changed, round); err != nil {
		return peers.Response{}, err
	}
	resp, err := f.timed(s, peers.Request{Op: peers.OpRestore, Tree: tree})
	if err != nil {
		return resp, err
	}
	if err := f.edits.Undone(s.Root); err != nil {
		return resp, fmt.Errorf("%s: %w", s.Kind, err)
	}
	return resp, nil
}

// diffChanged compares two checkpoints, contents included.
func (f *site) diffChanged(changed int) error {
	at := figures.Where{Curve: figures.CurveDiff, Files: f.files, X: changed}
	from, err := f.originals()
	if err != nil {
		return err
	}
	to := make(map[*peers.Remote]string)
	for _, s := range f.subjects {
		if err := f.edits.Apply(s.Root, 0, changed, figures.CurveDiff, changed); err != nil {
			return err
		}
	}
	for _, s := range f.subjects {
		if to[s], err = s.Track(); err != nil {
			return err
		}
	}
	return f.measure(at, light, f.parties(func(s *peers.Remote, round int) (peers.Response, error) {
		resp, err := f.timed(s, peers.Request{Op: peers.OpDiffFull, Tree: from[s], To: to[s]})
		if err == nil && resp.Count != changed {
			err = fmt.Errorf("%s finds %d files, not %d", s.Kind, resp.Count, changed)
		}
		return resp, err
	}, append(f.resting(), names.Watching)...))
}
