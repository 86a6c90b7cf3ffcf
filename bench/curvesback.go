package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// backTree is the tree beside a turn, and curveBack the numbers of files that the turn
// makes and that are taken back.
const backTree = 80_000

var curveBack = []int{10, 1_000, 10_000, 50_000}

// backShape says where the files of a turn lie.
type backShape struct {
	name, title string
	path        func(i int) string // '/'-separated, below the turn's directory
}

var backShapes = []backShape{
	{"one", "one directory", func(i int) string { return fmt.Sprintf("%06d.txt", i) }},
	{"many", "directories of 20", func(i int) string { return fmt.Sprintf("%05d/%02d.txt", i/20, i%20) }},
}

// backWay takes a turn back, or brings it back.
type backWay struct {
	name, title string
	op          string
	brings      bool // the turn's files are there afterwards
	untimed     bool // it only makes way for the next one
}

// The ways follow one another: each begins with what the one before it left.
var backWays = []backWay{
	{"session-revert", "session revert", opRevertTurn, false, false},
	{"unrevert", "unrevert", opUnrevert, true, false},
	{"restore", "restore", opRestore, false, false},
	{"undo", "undo", opUndo, true, false},
	{"redo", "redo", opRedo, false, false},
	{"", "", opUndo, true, true},
	{"revert", "revert of a patch", opRevert, false, false},
	{"", "", opUndo, true, true},
	{"revert-range", "revert of a range", opRevertRange, false, false},
}

// backCurve names the curve of a way and a shape.
func backCurve(w *backWay, shape *backShape) string {
	return "back-" + w.name + "-" + shape.name + "/paths"
}

// backCurves lists the curves of every way back.
func backCurves() (list []curve) {
	for i := range backShapes {
		for j := range backWays {
			if w := &backWays[j]; !w.untimed {
				list = append(list, curve{backCurve(w, &backShapes[i]), w.title + ", new files in " + backShapes[i].title, axisBack, seconds, linear})
			}
		}
	}
	return list
}

// alongBack measures every way back by the number of files that one turn has made.
func (c *curver) alongBack() (err error) {
	f, err := c.openSite(min(backTree, c.opt.files), true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	for _, kind := range curveKinds {
		if kind == nameLibrary {
			continue
		}
		if f.subjects, err = closeKinds(f.subjects, kind); err != nil {
			return err
		}
	}
	if len(f.subjects) == 0 {
		return nil
	}
	if _, err := f.subjects[0].track(); err != nil {
		return err
	}
	for i := range backShapes {
		for _, n := range upTo(curveBack, c.opt.files) {
			f.progress.say("ways back, %s: %d files", backShapes[i].title, n)
			for round := range f.opt.rounds {
				t := &turnBack{site: f, s: f.subjects[0], shape: &backShapes[i], n: n, round: round}
				if err := errors.Join(f.ctx.Err(), t.measure()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// turnBack is one turn that is taken back in every way.
type turnBack struct {
	*site
	s             *remote
	shape         *backShape
	n, round      int
	before, after string
}

func (t *turnBack) dir() string { return filepath.Join(t.s.Root, "turn") }

func (t *turnBack) measure() error {
	if err := t.make(); err != nil {
		return err
	}
	var files []string
	for i := range t.n {
		files = append(files, filepath.Join(t.dir(), filepath.FromSlash(t.shape.path(i))))
	}
	for i := range backWays {
		w := &backWays[i]
		resp, err := t.timed(t.s, request{Op: w.op, Tree: t.before, To: t.after, Files: filesFor(w, files)})
		if err == nil {
			err = t.check(w)
		}
		if err != nil {
			return fmt.Errorf("%s, %d files: %w", w.op, t.n, err)
		}
		if !w.untimed {
			t.record(t.at(w), nameLibrary, resp)
		}
	}
	return t.floors()
}

func filesFor(w *backWay, files []string) []string {
	if w.op == opRevert {
		return files
	}
	return nil
}

func (t *turnBack) at(w *backWay) where { return where{backCurve(w, t.shape), t.files, t.n} }

// make carries out the turn.
func (t *turnBack) make() error {
	resp, err := t.s.do(request{Op: opTurnBegin})
	if err != nil {
		return err
	}
	t.before = resp.Tree
	t.flush()
	if err := t.write(); err != nil {
		return err
	}
	resp, err = t.s.do(request{Op: opTurnEnd})
	t.after = resp.Tree
	return err
}

func (t *turnBack) write() error {
	for i := range t.n {
		file := filepath.Join(t.dir(), filepath.FromSlash(t.shape.path(i)))
		if i == 0 || t.shape.path(i)[:5] != t.shape.path(i - 1)[:5] {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
		}
		text := fmt.Sprintf("file %d of %d, %s, round %d\n", i, t.n, t.shape.name, t.round)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// floors records what unlinking the turn's files takes, and what writing them after that
// takes. A file system such as ext4 passes over inodes that were freed just now, so that
// files which come back are slower to make than new ones, by whatever program.
func (t *turnBack) floors() error {
	if err := t.write(); err != nil {
		return err
	}
	t.flush()
	begin := time.Now()
	if err := os.RemoveAll(t.dir()); err != nil {
		return err
	}
	unlinked := time.Since(begin).Seconds()
	begin = time.Now()
	if err := t.write(); err != nil {
		return err
	}
	wrote := time.Since(begin).Seconds()
	if err := os.RemoveAll(t.dir()); err != nil {
		return err
	}
	for i := range backWays {
		switch w := &backWays[i]; {
		case w.untimed:
		case w.brings:
			t.found.add(t.at(w), nameHand, wrote)
		default:
			t.found.add(t.at(w), nameHand, unlinked)
		}
	}
	return nil
}

// check counts the files that a way has left.
func (t *turnBack) check(w *backWay) error {
	want, found := 0, 0
	if w.brings {
		want = t.n
	}
	err := filepath.WalkDir(t.dir(), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found++
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && found != want {
		err = fmt.Errorf("%d files are there, not %d", found, want)
	}
	return err
}
