package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// originals takes all trees back to the original contents and returns the ids of those who take part
// in an operation.
func (d *driver) originals(op string) (map[*peers.Remote]string, error) {
	ids := make(map[*peers.Remote]string)
	for _, s := range d.subjects {
		err := errors.Join(d.edits.Undo(s.Root), d.more.Undo(s.Root))
		if err == nil && d.takesPart(s, op) {
			ids[s], err = s.Track()
		}
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// wayBack is a restore or revert of so many files.
type wayBack struct {
	op, undo string // undo is that of the restore, "" where it is timed elsewhere
	edits    *trees.Edits
}

func (d *driver) restoreOne() error {
	return d.restore(wayBack{names.OpRestoreOne, names.OpUndoOne, d.edits.First(1)})
}

func (d *driver) restoreLarge() error {
	return d.restore(wayBack{names.OpRestoreLarge, names.OpUndoLarge, d.more})
}

func (d *driver) restoreMany() error {
	return d.restore(wayBack{names.OpRestoreMany, names.OpUndoMany, d.edits})
}

// restore restores while the edits have not been tracked: cairn has to save them first. Of the
// restore of many the track that follows must give the tree restored, and the undo is carried out
// again.
func (d *driver) restore(w wayBack) error {
	before, err := d.originals(w.op)
	if err != nil {
		return err
	}
	return d.rounds(w.op, heavy, func(s *peers.Remote, round int) error {
		if err := w.edits.Apply(s.Root, 0, len(w.edits.Paths), w.op, round); err != nil {
			return err
		}
		if _, err := d.time(s, w.op, round, peers.Request{Op: peers.OpRestore, Tree: before[s]}); err != nil {
			return err
		}
		if err := w.edits.Undone(s.Root); err != nil {
			return fmt.Errorf("%s: %w", s.Kind, err)
		}
		if w.op == names.OpRestoreMany && s.Can(names.OpAfterRestore) && !d.opt.table {
			if err := d.afterRestore(s, round, before[s]); err != nil {
				return err
			}
		}
		if !s.Can(w.undo) {
			return nil
		}
		return errors.Join(d.undoAndRedo(s, w, round), w.edits.Undo(s.Root))
	}, d.writeFloor(w.op, w.edits))
}

func (d *driver) afterRestore(s *peers.Remote, round int, tree string) error {
	resp, err := d.time(s, names.OpAfterRestore, round, peers.Request{Op: peers.OpTrack})
	if err == nil && peers.KindOf(s.Kind).IDs && resp.Tree != tree {
		err = fmt.Errorf("%s: tree %s after the restore of %s", s.Kind, resp.Tree, tree)
	}
	return err
}

// undoAndRedo takes the restore back and carries it out again.
func (d *driver) undoAndRedo(s *peers.Remote, w wayBack, round int) error {
	if _, err := d.time(s, w.undo, round, peers.Request{Op: peers.OpUndo}); err != nil {
		return err
	}
	if err := w.edits.Undone(s.Root); err == nil {
		return fmt.Errorf("%s: the undo of a restore left the restored contents", s.Kind)
	}
	if w.op != names.OpRestoreMany {
		return nil
	}
	if _, err := d.time(s, names.OpRedoMany, round, peers.Request{Op: peers.OpRedo}); err != nil {
		return err
	}
	if err := w.edits.Undone(s.Root); err != nil {
		return fmt.Errorf("%s: redo: %w", s.Kind, err)
	}
	return nil
}

func (d *driver) revertOne() error {
	return d.revert(wayBack{op: names.OpRevertOne, edits: d.edits.First(1)})
}

func (d *driver) revertMany() error { return d.revert(wayBack{op: names.OpRevertMany, edits: d.edits}) }

func (d *driver) revertLarge() error {
	return d.revert(wayBack{op: names.OpRevertLarge, edits: d.more})
}

// revert reverts what a patch lists, as a session does: the edits have been staged by the patch.
func (d *driver) revert(w wayBack) error {
	before, err := d.originals(w.op)
	if err != nil {
		return err
	}
	return d.rounds(w.op, heavy, func(s *peers.Remote, round int) error {
		if err := w.edits.Apply(s.Root, 0, len(w.edits.Paths), w.op, round); err != nil {
			return err
		}
		if err := d.revertPatch(s, w.op, round, before[s], len(w.edits.Paths)); err != nil {
			return err
		}
		if err := w.edits.Undone(s.Root); err != nil {
			return fmt.Errorf("%s: %w", s.Kind, err)
		}
		return nil
	}, d.writeFloor(w.op, w.edits))
}

// revertPatch times the revert of a patch, which must list so many files.
func (d *driver) revertPatch(s *peers.Remote, op string, round int, tree string, files int) error {
	patch, err := s.Do(peers.Request{Op: peers.OpPatch, Tree: tree})
	if err != nil {
		return err
	}
	if len(patch.Files) != files {
		return fmt.Errorf("%s lists %d files, not %d", s.Kind, len(patch.Files), files)
	}
	_, err = d.time(s, op, round, peers.Request{Op: peers.OpRevert, Tree: tree, Files: patch.Files})
	return err
}

// takeBack reverts a turn that has made many files, and undoes that where it can be undone.
func (d *driver) takeBack() error {
	before, err := d.originals(names.OpTakeBack)
	if err != nil {
		return err
	}
	for _, root := range d.roots() {
		system.Spread(root)
	}
	files := d.opt.takenBack()
	return d.rounds(names.OpTakeBack, heavy, func(s *peers.Remote, round int) error {
		turn := newTurn{files, fmt.Sprintf("turn-%s-%d", s.Kind, round)}
		if err := turn.make(s.Root, round); err != nil {
			return err
		}
		err := d.revertPatch(s, names.OpTakeBack, round, before[s], turn.files)
		if err == nil {
			err = turn.there(s.Root, 0)
		}
		if err == nil && s.Can(names.OpBringBack) {
			if _, err = d.time(s, names.OpBringBack, round, peers.Request{Op: peers.OpUndo}); err == nil {
				err = turn.there(s.Root, turn.files)
			}
		}
		return errors.Join(err, os.RemoveAll(turn.dir(s.Root)))
	}, d.turnFloors(newTurn{files, "turn"}))
}

// newTurn is a turn that makes files in directories of a hundred. Each turn has a directory of its own name, which lies
// in a part of the disk of its own: see system.Spread.
type newTurn struct {
	files int
	name  string
}

const filesOfDir = 100

func (t newTurn) dir(root string) string { return filepath.Join(root, t.name) }

func (t newTurn) file(root string, i int) string {
	return filepath.Join(t.dir(root), fmt.Sprintf("dir%d", i/filesOfDir), fmt.Sprintf("file%d.txt", i))
}

func (t newTurn) make(root string, round int) error {
	for i := range t.files {
		file := t.file(root, i)
		if i%filesOfDir == 0 {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
		}
		text := fmt.Appendf(nil, "file %d of round %d, made by a turn of %d\n", i, round, t.files)
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// there fails unless so many files of the turn are there.
func (t newTurn) there(root string, want int) error {
	found := 0
	for i := range t.files {
		if _, err := os.Lstat(t.file(root, i)); err == nil {
			found++
		}
	}
	if found != want {
		return fmt.Errorf("%d of %d new files are there, not %d", found, t.files, want)
	}
	return nil
}

// turnFloors time the same by hand, durably: unlinking the files, and writing them again.
func (d *driver) turnFloors(t newTurn) func(round int) error {
	e := &trees.Edits{}
	for i := range t.files {
		e.Paths = append(e.Paths, filepath.ToSlash(t.file("", i)))
		e.Texts = append(e.Texts, fmt.Appendf(nil, "file %d\n", i))
	}
	unlink := d.floor(names.FloorUnlink, func() (float64, error) { return timeUnlink(d.scratch, t) })
	rewrite := d.floor(names.FloorsOfWriting[names.OpBringBack], func() (float64, error) { return timeRewrite(d.scratch, t, e) })
	return func(round int) error { return errors.Join(unlink(round), rewrite(round)) }
}
