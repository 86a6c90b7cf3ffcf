package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// phases measure the operations, in this order. Each leaves the trees with the original
// contents or with edits that all contenders know. Some measure the next operations, too.
var phases = []struct {
	op  string
	run func(*driver) error
}{
	{names.OpFirst, (*driver).first},
	{names.OpFirstBorrowed, (*driver).firstBorrowed},
	{names.OpOpen, (*driver).open},
	{names.OpUnchanged, (*driver).unchanged},
	{names.OpOneProcessor, (*driver).scaling},
	{names.OpOne, (*driver).one},
	{names.OpOnlyPath, (*driver).onlyPath},
	{names.OpMany, (*driver).hundred},
	{names.OpAboveOne, (*driver).aboveOne},
	{names.OpAboveMany, (*driver).aboveMany},
	{names.OpPatchNew, (*driver).patchNew},
	{names.OpDiffMany, (*driver).diffMany},
	{names.OpDiffLarge, (*driver).diffLarge},
	{names.OpRevertMany, (*driver).revertMany},
	{names.OpRevertOne, (*driver).revertOne},
	{names.OpRevertLarge, (*driver).revertLarge},
	{names.OpTakeBack, (*driver).takeBack},
	// Last: who rewrites all files in a restore makes all look changed to the others.
	{names.OpRestoreOne, (*driver).restoreOne},
	{names.OpRestoreLarge, (*driver).restoreLarge},
	{names.OpRestoreMany, (*driver).restoreMany},
}

// onlyInTable are phases that are carried out where they are asked for by name.
var onlyInTable = []string{names.OpRevertOne, names.OpRevertLarge, names.OpTakeBack, names.OpRestoreOne, names.OpRestoreLarge}

// run goes through the phases asked for.
func (d *driver) run() error {
	for _, root := range d.roots() {
		if _, err := trees.ReadAll(root, d.captured); err != nil {
			return err
		}
	}
	if err := d.recordMemory(names.MemoryStarted); err != nil {
		return err
	}
	ready := false
	for _, p := range phases {
		if !ready && p.op != names.OpFirst && p.op != names.OpFirstBorrowed {
			ready = true
			if err := d.makeReady(); err != nil {
				return err
			}
		}
		if !d.asked(p.op) {
			continue
		}
		if err := d.calm(p.op); err != nil {
			return err
		}
		if err := p.run(d); err != nil {
			return err
		}
	}
	return d.recordStores("end", "")
}

// calm ends git's file-system monitor before all files are rewritten: it would take note of each
// while others are timed.
func (d *driver) calm(op string) error {
	s := d.subject(names.Monitor)
	if s == nil || op != names.OpRestoreMany {
		return nil
	}
	_, err := s.Do(peers.Request{Op: peers.OpClose})
	return err
}

func (d *driver) asked(op string) bool {
	if len(d.opt.only) == 0 {
		return !slices.Contains(onlyInTable, op)
	}
	return slices.Contains(d.opt.only, op)
}

func (d *driver) unchanged() error {
	err := d.rounds(names.OpUnchanged, light, func(s *peers.Remote, round int) error {
		resp, err := d.time(s, names.OpUnchanged, round, peers.Request{Op: peers.OpTrack})
		d.sameTree(names.OpUnchanged, round, s, resp.Tree)
		return err
	}, d.walkFloor(), d.floor(names.FloorSpawn, func() (float64, error) { return timeSpawn(d.empty) }))
	return errors.Join(err, d.inRow(names.OpUnchanged, d.unchangedInRow))
}

func (d *driver) walkFloor() func(round int) error {
	return d.floor(names.FloorWalk, func() (float64, error) { return timeWalk(d.tree(), d.ignored) })
}

func (d *driver) one() error {
	err := d.rounds(names.OpOne, light, func(s *peers.Remote, round int) error {
		i := (round + 1) % len(d.edits.Paths)
		return d.editAndTrack(s, names.OpOne, i, i+1, round)
	})
	return errors.Join(err, d.inRow(names.OpOne, func(s *peers.Remote) (string, error) {
		return d.editedInRow(s, names.OpOne, d.opt.inRow, func(n int) (from, to int) {
			i := n % len(d.edits.Paths)
			return i, i + 1
		})
	}))
}

func (d *driver) hundred() error {
	err := d.rounds(names.OpMany, light, func(s *peers.Remote, round int) error {
		return d.editAndTrack(s, names.OpMany, 0, len(d.edits.Paths), round)
	})
	return errors.Join(err, d.inRow(names.OpMany, func(s *peers.Remote) (string, error) {
		return d.editedInRow(s, names.OpMany, max(1, d.opt.inRow/10), func(int) (from, to int) { return 0, len(d.edits.Paths) })
	}))
}

// editAndTrack edits the files [from, to) and times the track that follows.
func (d *driver) editAndTrack(s *peers.Remote, op string, from, to, round int) error {
	if err := d.edits.Apply(s.Root, from, to, op, round); err != nil {
		return err
	}
	resp, err := d.time(s, op, round, peers.Request{Op: peers.OpTrack})
	d.sameTree(op, round, s, resp.Tree)
	return err
}

// onlyPath edits a file and has nothing else looked at.
func (d *driver) onlyPath() error {
	return d.rounds(names.OpOnlyPath, light, func(s *peers.Remote, round int) error {
		i := (round + 1) % len(d.edits.Paths)
		if err := d.edits.Apply(s.Root, i, i+1, names.OpOnlyPath, round); err != nil {
			return err
		}
		_, err := d.time(s, names.OpOnlyPath, round, peers.Request{Op: peers.OpTrackOnly, Files: []string{d.edits.File(s.Root, i)}})
		return err
	})
}

// patchNew makes the new files again for every contender.
func (d *driver) patchNew() error {
	return d.rounds(names.OpPatchNew, light, func(s *peers.Remote, round int) (err error) {
		before, err := s.Track()
		if err != nil {
			return err
		}
		made, err := d.edits.Create(s.Root, names.NewFiles, round)
		defer func() {
			for _, file := range made {
				err = errors.Join(err, os.Remove(file))
			}
		}()
		if err != nil {
			return err
		}
		resp, err := d.time(s, names.OpPatchNew, round, peers.Request{Op: peers.OpPatch, Tree: before})
		if err == nil && !samePaths(resp.Files, made) {
			err = fmt.Errorf("%s lists %d files, not the %d new ones", s.Kind, len(resp.Files), names.NewFiles)
		}
		return err
	})
}

// samePaths compares two sets of paths; cairn and git separate with '/' everywhere.
func samePaths(a, b []string) bool {
	sorted := func(paths []string) []string {
		var list []string
		for _, p := range paths {
			list = append(list, filepath.ToSlash(p))
		}
		slices.Sort(list)
		return list
	}
	return slices.Equal(sorted(a), sorted(b))
}

func (d *driver) diffMany() error { return d.diff(names.OpDiffMany, light, d.edits) }

func (d *driver) diffLarge() error { return d.diff(names.OpDiffLarge, heavy, d.more) }

// diff compares two trees between which files were edited.
func (d *driver) diff(op string, first int, e *trees.Edits) error {
	from, to := make(map[*peers.Remote]string), make(map[*peers.Remote]string)
	for _, s := range d.subjects {
		if !d.takesPart(s, op) {
			continue
		}
		var err error
		if err = errors.Join(d.edits.Undo(s.Root), e.Undo(s.Root)); err != nil {
			return err
		}
		if from[s], err = s.Track(); err != nil {
			return err
		}
		if err = e.Apply(s.Root, 0, len(e.Paths), op, 0); err != nil {
			return err
		}
		if to[s], err = s.Track(); err != nil {
			return err
		}
		if err = e.Undo(s.Root); err != nil {
			return err
		}
	}
	return d.rounds(op, first, func(s *peers.Remote, round int) error {
		resp, err := d.time(s, op, round, peers.Request{Op: peers.OpDiffFull, Tree: from[s], To: to[s]})
		if err == nil && resp.Count != len(e.Paths) {
			err = fmt.Errorf("%s finds %d files, not %d", s.Kind, resp.Count, len(e.Paths))
		}
		return err
	})
}
