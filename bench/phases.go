package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// The operations, by their names in files.
const (
	opFirst        = "first-track"
	opUnchanged    = "unchanged-track"
	opOne          = "track-1-changed"
	opMany         = "track-100-changed"
	opPatchNew     = "patch-10-new"
	opDiffMany     = "diff-full-100"
	opRestoreMany  = "restore-100"
	opAfterRestore = "track-after-restore"
	opUndoMany     = "undo-100"
	opRedoMany     = "redo-100"
	opRevertMany   = "revert-100"

	floorWalk  = "walk-lstat"
	floorRead  = "read-all"
	floorSpawn = "spawn"
	nameFloor  = "floor"
)

const (
	manyFiles = 100
	newFiles  = 10
)

// operation is what one row of the table is about.
type operation struct{ op, title string }

var operations = []operation{
	{opFirst, "first track"},
	{opUnchanged, "track, unchanged"},
	{opOne, "track, 1 file changed"},
	{opMany, "track, 100 files changed"},
	{opPatchNew, "patch, 10 new files"},
	{opDiffMany, "diff full, 100 files"},
	{opRestoreMany, "restore, 100 files"},
	{opAfterRestore, "track after the restore"},
	{opUndoMany, "undo of the restore"},
	{opRedoMany, "redo of the restore"},
	{opRevertMany, "revert, 100 files"},
}

func operationTitle(op string) string {
	if i := slices.IndexFunc(operations, func(o operation) bool { return o.op == op }); i >= 0 {
		return operations[i].title
	}
	return op
}

// phase returns what measures an operation, nil where another phase does. Each
// leaves the trees with the original contents or with edits that all trees share.
func (d *driver) phase(op string) func() error {
	switch op {
	case opFirst:
		return d.first
	case opUnchanged:
		return d.unchanged
	case opOne:
		return d.one
	case opMany:
		return d.many
	case opPatchNew:
		return d.patchNew
	case opDiffMany:
		return d.diffMany
	case opRestoreMany:
		return d.restoreMany // opAfterRestore, opUndoMany and opRedoMany, too
	case opRevertMany:
		return d.revertMany
	}
	return nil
}

// run goes through the phases asked for.
func (d *driver) run() error {
	for _, s := range d.subjects {
		if _, err := readAll(s.Root); err != nil {
			return err
		}
	}
	for _, o := range operations {
		run := d.phase(o.op)
		if len(d.opt.only) > 0 && !slices.Contains(d.opt.only, o.op) {
			run = nil
			if o.op == opFirst {
				run = func() error { return d.untimed(request{Op: opTrack}) }
			}
		}
		if run == nil {
			continue
		}
		if err := run(); err != nil {
			return err
		}
	}
	return d.recordStores("end")
}

// untimed has every contender do something that is not measured.
func (d *driver) untimed(req request) error {
	for _, s := range d.subjects {
		if _, err := s.do(req); err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) first() error {
	err := d.rounds(opFirst, heavy, func(s *remote, round int) error {
		if _, err := s.do(request{Op: opReset}); err != nil {
			return err
		}
		resp, err := d.time(s, opFirst, round, request{Op: opTrack})
		d.sameTree(opFirst, round, s, resp.Tree)
		return err
	}, d.floor(floorRead, func() (float64, error) { return timeRead(d.tree()) }))
	return errors.Join(err, d.recordStores("first track"))
}

func (d *driver) recordStores(when string) error {
	for _, s := range d.subjects {
		size, err := sizeOf(s.Store)
		if err != nil {
			return err
		}
		d.report.Stores = append(d.report.Stores, storeInfo{Who: s.Kind, When: when, treeSize: size})
	}
	return nil
}

func (d *driver) unchanged() error {
	return d.rounds(opUnchanged, light, func(s *remote, round int) error {
		resp, err := d.time(s, opUnchanged, round, request{Op: opTrack})
		d.sameTree(opUnchanged, round, s, resp.Tree)
		return err
	},
		d.floor(floorWalk, func() (float64, error) { return timeWalk(d.tree()) }),
		d.floor(floorSpawn, func() (float64, error) { return timeSpawn(d.empty) }))
}

func (d *driver) one() error {
	return d.rounds(opOne, light, func(s *remote, round int) error {
		i := (round + 1) % len(d.edits.paths)
		return d.editAndTrack(s, opOne, i, i+1, round)
	})
}

func (d *driver) many() error {
	return d.rounds(opMany, light, func(s *remote, round int) error {
		return d.editAndTrack(s, opMany, 0, len(d.edits.paths), round)
	})
}

// editAndTrack edits the files [from, to) and times the track that follows.
func (d *driver) editAndTrack(s *remote, op string, from, to, round int) error {
	if err := d.edits.apply(s.Root, from, to, op, round); err != nil {
		return err
	}
	resp, err := d.time(s, op, round, request{Op: opTrack})
	d.sameTree(op, round, s, resp.Tree)
	return err
}

func (d *driver) patchNew() error {
	made := make(map[*remote][]string)
	removeMade := func(s *remote) error {
		var errs []error
		for _, file := range made[s] {
			errs = append(errs, os.Remove(file))
		}
		delete(made, s)
		return errors.Join(errs...)
	}
	err := d.rounds(opPatchNew, light, func(s *remote, round int) error {
		if err := removeMade(s); err != nil {
			return err
		}
		before, err := s.track()
		if err != nil {
			return err
		}
		if made[s], err = d.edits.create(s.Root, newFiles, round); err != nil {
			return err
		}
		resp, err := d.time(s, opPatchNew, round, request{Op: opPatch, Tree: before})
		if err == nil && !samePaths(resp.Files, made[s]) {
			err = fmt.Errorf("%s lists %d files, not the %d new ones", s.Kind, len(resp.Files), newFiles)
		}
		return err
	})
	for _, s := range d.subjects {
		err = errors.Join(err, removeMade(s))
	}
	return err
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

func (d *driver) diffMany() error {
	from, to := make(map[*remote]string), make(map[*remote]string)
	for _, s := range d.subjects {
		var err error
		if err = d.edits.undo(s.Root); err != nil {
			return err
		}
		if from[s], err = s.track(); err != nil {
			return err
		}
		if err = d.edits.apply(s.Root, 0, len(d.edits.paths), opDiffMany, 0); err != nil {
			return err
		}
		if to[s], err = s.track(); err != nil {
			return err
		}
	}
	return d.rounds(opDiffMany, light, func(s *remote, round int) error {
		resp, err := d.time(s, opDiffMany, round, request{Op: opDiffFull, Tree: from[s], To: to[s]})
		if err == nil && resp.Count != len(d.edits.paths) {
			err = fmt.Errorf("%s finds %d files, not %d", s.Kind, resp.Count, len(d.edits.paths))
		}
		return err
	})
}

// originals takes all trees back to the original contents and returns their ids.
func (d *driver) originals() (map[*remote]string, error) {
	trees := make(map[*remote]string)
	for _, s := range d.subjects {
		err := d.edits.undo(s.Root)
		if err == nil {
			trees[s], err = s.track()
		}
		if err != nil {
			return nil, err
		}
	}
	return trees, nil
}

// restoreMany restores while the edits have not been tracked: cairn has to save them
// first. The track that follows must give the tree restored.
func (d *driver) restoreMany() error {
	trees, err := d.originals()
	if err != nil {
		return err
	}
	return d.rounds(opRestoreMany, heavy, func(s *remote, round int) error {
		if err := d.edits.apply(s.Root, 0, len(d.edits.paths), opRestoreMany, round); err != nil {
			return err
		}
		if _, err := d.time(s, opRestoreMany, round, request{Op: opRestore, Tree: trees[s]}); err != nil {
			return err
		}
		if err := d.edits.undone(s.Root); err != nil {
			return fmt.Errorf("%s: %w", s.Kind, err)
		}
		resp, err := d.time(s, opAfterRestore, round, request{Op: opTrack})
		if err == nil && resp.Tree != trees[s] {
			err = fmt.Errorf("%s: tree %s after the restore of %s", s.Kind, resp.Tree, trees[s])
		}
		if err != nil || !s.undoes() {
			return err
		}
		return d.undoAndRedo(s, round)
	})
}

// undoAndRedo takes the restore back and carries it out again.
func (d *driver) undoAndRedo(s *remote, round int) error {
	if _, err := d.time(s, opUndoMany, round, request{Op: opUndo}); err != nil {
		return err
	}
	if err := d.edits.undone(s.Root); err == nil {
		return fmt.Errorf("%s: the undo of a restore left the restored contents", s.Kind)
	}
	if _, err := d.time(s, opRedoMany, round, request{Op: opRedo}); err != nil {
		return err
	}
	if err := d.edits.undone(s.Root); err != nil {
		return fmt.Errorf("%s: redo: %w", s.Kind, err)
	}
	return nil
}

// revertMany reverts what a patch lists, as a session does: the edits have been
// staged by the patch.
func (d *driver) revertMany() error {
	trees, err := d.originals()
	if err != nil {
		return err
	}
	return d.rounds(opRevertMany, heavy, func(s *remote, round int) error {
		if err := d.edits.apply(s.Root, 0, len(d.edits.paths), opRevertMany, round); err != nil {
			return err
		}
		patch, err := s.do(request{Op: opPatch, Tree: trees[s]})
		if err != nil {
			return err
		}
		if len(patch.Files) != len(d.edits.paths) {
			return fmt.Errorf("%s lists %d files, not %d", s.Kind, len(patch.Files), len(d.edits.paths))
		}
		if _, err := d.time(s, opRevertMany, round, request{Op: opRevert, Tree: trees[s], Files: patch.Files}); err != nil {
			return err
		}
		if err := d.edits.undone(s.Root); err != nil {
			return fmt.Errorf("%s: %w", s.Kind, err)
		}
		return nil
	})
}
