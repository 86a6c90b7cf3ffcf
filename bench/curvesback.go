package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/figures"
	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
)

// alongBack measures every way back by the number of files that one turn has made.
func (c *curver) alongBack() (err error) {
	f, err := c.openSite(min(figures.BackTree, c.opt.files), true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	for _, kind := range figures.CurveKinds {
		if kind == names.Library {
			continue
		}
		if f.subjects, err = closeKinds(f.subjects, kind); err != nil {
			return err
		}
	}
	if len(f.subjects) == 0 {
		return nil
	}
	if _, err := f.subjects[0].Track(); err != nil {
		return err
	}
	for i := range figures.BackShapes {
		for _, n := range upTo(figures.CurveBack, c.opt.files) {
			f.progress.Say("ways back, %s: %d files", figures.BackShapes[i].Title, n)
			for round := range f.opt.rounds {
				t := &turnBack{site: f, s: f.subjects[0], shape: &figures.BackShapes[i], n: n, round: round}
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
	s             *peers.Remote
	shape         *figures.BackShape
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
		files = append(files, filepath.Join(t.dir(), filepath.FromSlash(t.shape.Path(i))))
	}
	for i := range figures.BackWays {
		w := &figures.BackWays[i]
		resp, err := t.timed(t.s, peers.Request{Op: w.Op, Tree: t.before, To: t.after, Files: filesFor(w, files)})
		if err == nil {
			err = t.check(w)
		}
		if err != nil {
			return fmt.Errorf("%s, %d files: %w", w.Op, t.n, err)
		}
		if !w.Untimed {
			t.record(t.at(w), names.Library, resp)
		}
	}
	return t.floors()
}

func filesFor(w *figures.BackWay, files []string) []string {
	if w.Op == peers.OpRevert {
		return files
	}
	return nil
}

func (t *turnBack) at(w *figures.BackWay) figures.Where {
	return figures.Where{Curve: figures.BackCurve(w, t.shape), Files: t.files, X: t.n}
}

// make carries out the turn.
func (t *turnBack) make() error {
	resp, err := t.s.Do(peers.Request{Op: peers.OpTurnBegin})
	if err != nil {
		return err
	}
	t.before = resp.Tree
	t.flush()
	if err := t.write(); err != nil {
		return err
	}
	resp, err = t.s.Do(peers.Request{Op: peers.OpTurnEnd})
	t.after = resp.Tree
	return err
}

func (t *turnBack) write() error {
	for i := range t.n {
		file := filepath.Join(t.dir(), filepath.FromSlash(t.shape.Path(i)))
		if i == 0 || t.shape.Path(i)[:5] != t.shape.Path(i - 1)[:5] {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
		}
		text := fmt.Sprintf("file %d of %d, %s, round %d\n", i, t.n, t.shape.Name, t.round)
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
	for i := range figures.BackWays {
		switch w := &figures.BackWays[i]; {
		case w.Untimed:
		case w.Brings:
			t.found.Add(t.at(w), names.Hand, wrote)
		default:
			t.found.Add(t.at(w), names.Hand, unlinked)
		}
	}
	return nil
}

// check counts the files that a way has left.
func (t *turnBack) check(w *figures.BackWay) error {
	want, found := 0, 0
	if w.Brings {
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
