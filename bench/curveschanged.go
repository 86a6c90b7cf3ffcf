package main

import "fmt"

// alongChanged measures what depends on the number of files that have changed.
func (f *site) alongChanged() error {
	for _, measure := range []func(changed int) error{f.trackChanged, f.restoreChanged, f.diffChanged} {
		for _, changed := range upTo(curveChanged, len(f.edits.paths)) {
			if err := measure(changed); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *site) trackChanged(changed int) error {
	at := where{curveTrack, f.files, changed}
	return f.measure(at, light, f.parties(func(s *remote, round int) (response, error) {
		return f.tracked(s, at, 0, changed, round)
	}))
}

// originals takes all trees back and returns the ids of their checkpoints.
func (f *site) originals() (map[*remote]string, error) {
	trees := make(map[*remote]string)
	for _, s := range f.subjects {
		err := f.edits.undo(s.Root)
		if err == nil {
			trees[s], err = s.track()
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
	if f.files > changedTrees[0] {
		return []string{nameSpec}
	}
	return nil
}

// restoreChanged restores while the edits have not been tracked.
func (f *site) restoreChanged(changed int) error {
	at := where{curveRestore, f.files, changed}
	trees, err := f.originals()
	if err != nil {
		return err
	}
	return f.measure(at, heavy, f.parties(func(s *remote, round int) (response, error) {
		return f.restored(s, trees[s], at, changed, round)
	}, f.resting()...))
}

func (f *site) restored(s *remote, tree string, at where, changed, round int) (response, error) {
	if err := f.edit(s, at, 0, changed, round); err != nil {
		return response{}, err
	}
	resp, err := f.timed(s, request{Op: opRestore, Tree: tree})
	if err != nil {
		return resp, err
	}
	if err := f.edits.undone(s.Root); err != nil {
		return resp, fmt.Errorf("%s: %w", s.Kind, err)
	}
	return resp, nil
}

// diffChanged compares two checkpoints, contents included.
func (f *site) diffChanged(changed int) error {
	at := where{curveDiff, f.files, changed}
	from, err := f.originals()
	if err != nil {
		return err
	}
	to := make(map[*remote]string)
	for _, s := range f.subjects {
		if err := f.edits.apply(s.Root, 0, changed, curveDiff, changed); err != nil {
			return err
		}
	}
	for _, s := range f.subjects {
		if to[s], err = s.track(); err != nil {
			return err
		}
	}
	return f.measure(at, light, f.parties(func(s *remote, round int) (response, error) {
		resp, err := f.timed(s, request{Op: opDiffFull, Tree: from[s], To: to[s]})
		if err == nil && resp.Count != changed {
			err = fmt.Errorf("%s finds %d files, not %d", s.Kind, resp.Count, changed)
		}
		return resp, err
	}, append(f.resting(), nameWatching)...))
}
