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
	opFirst         = "first-track"
	opFirstBorrowed = "first-track-borrowed"
	opOpen          = "open-and-track"
	opUnchanged     = "unchanged-track"
	opOneProcessor  = "unchanged-1-processor"
	opTwoProcessors = "unchanged-2-processors"
	opOne           = "track-1-changed"
	opOnlyPath      = "track-1-only-path"
	opMany          = "track-100-changed"
	opAboveOne      = "above-1-changed"
	opAboveMany     = "above-100-changed"
	opPatchNew      = "patch-10-new"
	opDiffMany      = "diff-full-100"
	opDiffLarge     = "diff-full-1000"
	opRestoreMany   = "restore-100"
	opAfterRestore  = "track-after-restore"
	opUndoMany      = "undo-100"
	opRedoMany      = "redo-100"
	opRevertMany    = "revert-100"

	floorWalk      = "walk-lstat"
	floorWalkAlone = "walk-lstat-1-processor"
	floorRead      = "read-all"
	floorSpawn     = "spawn"
	floorKeepOne   = "keep-1"
	floorKeepMany  = "keep-100"
	floorWriteMany = "write-100"
	nameFloor      = "floor"
	nameHand       = "by-hand" // the files of a turn, written or unlinked without any checkpoint
)

const (
	manyFiles  = 100
	largeFiles = 1000
	newFiles   = 10
)

// operation is what one row of the table is about.
type operation struct{ op, title string }

// operations are in the order of the table.
var operations = []operation{
	{opFirst, "first track"},
	{opFirstBorrowed, "first track, borrowed"},
	{opOpen, "open, then track, unchanged"},
	{opUnchanged, "track, unchanged"},
	{opOneProcessor, "track, unchanged, 1 processor"},
	{opTwoProcessors, "track, unchanged, 2 processors"},
	{opOne, "track, 1 file changed"},
	{opOnlyPath, "track of 1 file only"},
	{opMany, "track, 100 files changed"},
	{opAboveOne, "1 file changed, above unchanged"},
	{opAboveMany, "100 files changed, above unchanged"},
	{opPatchNew, "patch, 10 new files"},
	{opDiffMany, "diff full, 100 files"},
	{opDiffLarge, "diff full, 1,000 files"},
	{opRevertMany, "revert, 100 files"},
	{opRestoreMany, "restore, 100 files"},
	{opAfterRestore, "track after the restore"},
	{opUndoMany, "undo of the restore"},
	{opRedoMany, "redo of the restore"},
}

// phases measure the operations, in this order. Each leaves the trees with the original
// contents or with edits that all contenders know. Some measure the next operations, too.
var phases = []struct {
	op  string
	run func(*driver) error
}{
	{opFirst, (*driver).first},
	{opFirstBorrowed, (*driver).firstBorrowed},
	{opOpen, (*driver).open},
	{opUnchanged, (*driver).unchanged},
	{opOneProcessor, (*driver).scaling},
	{opOne, (*driver).one},
	{opOnlyPath, (*driver).onlyPath},
	{opMany, (*driver).hundred},
	{opAboveOne, (*driver).aboveOne},
	{opAboveMany, (*driver).aboveMany},
	{opPatchNew, (*driver).patchNew},
	{opDiffMany, (*driver).diffMany},
	{opDiffLarge, (*driver).diffLarge},
	{opRevertMany, (*driver).revertMany},
	// Last: who rewrites all files in a restore makes all look changed to the others.
	{opRestoreMany, (*driver).restoreMany},
}

func operationTitle(op string) string {
	if i := slices.IndexFunc(operations, func(o operation) bool { return o.op == op }); i >= 0 {
		return operations[i].title
	}
	return op
}

// run goes through the phases asked for.
func (d *driver) run() error {
	for _, root := range d.roots() {
		if _, err := readAll(root, d.captured); err != nil {
			return err
		}
	}
	if err := d.recordMemory(memoryStarted); err != nil {
		return err
	}
	ready := false
	for _, p := range phases {
		if !ready && p.op != opFirst && p.op != opFirstBorrowed {
			ready = true
			if err := d.makeReady(); err != nil {
				return err
			}
		}
		if !d.asked(p.op) {
			continue
		}
		if err := p.run(d); err != nil {
			return err
		}
	}
	return d.recordStores("end")
}

func (d *driver) asked(op string) bool {
	return len(d.opt.only) == 0 || slices.Contains(d.opt.only, op)
}

func (d *driver) unchanged() error {
	err := d.rounds(opUnchanged, light, func(s *remote, round int) error {
		resp, err := d.time(s, opUnchanged, round, request{Op: opTrack})
		d.sameTree(opUnchanged, round, s, resp.Tree)
		return err
	}, d.walkFloor(), d.floor(floorSpawn, func() (float64, error) { return timeSpawn(d.empty) }))
	return errors.Join(err, d.inRow(opUnchanged, d.unchangedInRow))
}

func (d *driver) walkFloor() func(round int) error {
	return d.floor(floorWalk, func() (float64, error) { return timeWalk(d.tree(), d.ignored) })
}

func (d *driver) one() error {
	err := d.rounds(opOne, light, func(s *remote, round int) error {
		i := (round + 1) % len(d.edits.paths)
		return d.editAndTrack(s, opOne, i, i+1, round)
	})
	return errors.Join(err, d.inRow(opOne, func(s *remote) (string, error) {
		return d.editedInRow(s, opOne, d.opt.inRow, func(n int) (from, to int) {
			i := n % len(d.edits.paths)
			return i, i + 1
		})
	}))
}

func (d *driver) hundred() error {
	err := d.rounds(opMany, light, func(s *remote, round int) error {
		return d.editAndTrack(s, opMany, 0, len(d.edits.paths), round)
	})
	return errors.Join(err, d.inRow(opMany, func(s *remote) (string, error) {
		return d.editedInRow(s, opMany, max(1, d.opt.inRow/10), func(int) (from, to int) { return 0, len(d.edits.paths) })
	}))
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

// onlyPath edits a file and has nothing else looked at.
func (d *driver) onlyPath() error {
	return d.rounds(opOnlyPath, light, func(s *remote, round int) error {
		i := (round + 1) % len(d.edits.paths)
		if err := d.edits.apply(s.Root, i, i+1, opOnlyPath, round); err != nil {
			return err
		}
		_, err := d.time(s, opOnlyPath, round, request{Op: opTrackOnly, Files: []string{d.edits.file(s.Root, i)}})
		return err
	})
}

// patchNew makes the new files again for every contender.
func (d *driver) patchNew() error {
	return d.rounds(opPatchNew, light, func(s *remote, round int) (err error) {
		before, err := s.track()
		if err != nil {
			return err
		}
		made, err := d.edits.create(s.Root, newFiles, round)
		defer func() {
			for _, file := range made {
				err = errors.Join(err, os.Remove(file))
			}
		}()
		if err != nil {
			return err
		}
		resp, err := d.time(s, opPatchNew, round, request{Op: opPatch, Tree: before})
		if err == nil && !samePaths(resp.Files, made) {
			err = fmt.Errorf("%s lists %d files, not the %d new ones", s.Kind, len(resp.Files), newFiles)
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

func (d *driver) diffMany() error { return d.diff(opDiffMany, light, d.edits) }

func (d *driver) diffLarge() error { return d.diff(opDiffLarge, heavy, d.more) }

// diff compares two trees between which files were edited.
func (d *driver) diff(op string, first int, e *edits) error {
	from, to := make(map[*remote]string), make(map[*remote]string)
	for _, s := range d.subjects {
		if !s.can(op) {
			continue
		}
		var err error
		if err = errors.Join(d.edits.undo(s.Root), e.undo(s.Root)); err != nil {
			return err
		}
		if from[s], err = s.track(); err != nil {
			return err
		}
		if err = e.apply(s.Root, 0, len(e.paths), op, 0); err != nil {
			return err
		}
		if to[s], err = s.track(); err != nil {
			return err
		}
		if err = e.undo(s.Root); err != nil {
			return err
		}
	}
	return d.rounds(op, first, func(s *remote, round int) error {
		resp, err := d.time(s, op, round, request{Op: opDiffFull, Tree: from[s], To: to[s]})
		if err == nil && resp.Count != len(e.paths) {
			err = fmt.Errorf("%s finds %d files, not %d", s.Kind, resp.Count, len(e.paths))
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
		if err == nil && kindOf(s.Kind).ids && resp.Tree != trees[s] {
			err = fmt.Errorf("%s: tree %s after the restore of %s", s.Kind, resp.Tree, trees[s])
		}
		if err != nil || !s.can(opUndoMany) {
			return err
		}
		return d.undoAndRedo(s, round)
	}, d.writeFloor())
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
	}, d.writeFloor())
}
