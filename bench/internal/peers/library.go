package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/session"
)

// library is cairn in the process of its caller: opened once, then called.
type library struct {
	opt  cairn.Options
	repo *cairn.Repo
	last system.Usage

	turns int           // begun
	turn  *session.Step // the newest
}

func newLibrary(s Setting) *library {
	return &library{opt: cairn.Options{Root: s.Root, DataDir: s.Store, Home: s.Home}}
}

func (l *library) Reset() error {
	if err := l.Close(); err != nil {
		return err
	}
	return os.RemoveAll(l.opt.DataDir)
}

// Close makes the next call open the store again.
func (l *library) Close() error {
	repo := l.repo
	l.repo = nil
	if repo == nil {
		return nil
	}
	return repo.Close()
}

// Borrow implements borrowing. A track that borrows nothing is one outside of a repository: it keeps no
// objects of git alive, of which it would have to make copies.
func (l *library) Borrow(on bool) { l.opt.NoBorrow, l.opt.NoGit = !on, !on }

// Processors implements scalable.
func (l *library) Processors(n int) error {
	if n == 0 {
		runtime.GOMAXPROCS(runtime.NumCPU())
	} else {
		runtime.GOMAXPROCS(n)
	}
	l.opt.Workers = n
	return l.Close()
}

// opened makes the opening part of the first call after a Reset.
func (l *library) opened() (repo *cairn.Repo, err error) {
	if l.repo == nil {
		l.repo, err = cairn.Open(l.opt)
	}
	return l.repo, err
}

func (l *library) Track() (string, error) {
	repo, err := l.opened()
	if err != nil {
		return "", err
	}
	t, err := repo.Track(context.Background(), cairn.TrackOptions{})
	if err != nil {
		return "", err
	}
	if len(t.Skipped) > 0 {
		return "", fmt.Errorf("%d paths were not captured, among them %s (%s)",
			len(t.Skipped), t.Skipped[0].Path, t.Skipped[0].Reason)
	}
	return t.Hash, nil
}

// TrackOnly implements pathTracker.
func (l *library) TrackOnly(files []string) error {
	repo, err := l.opened()
	if err != nil {
		return err
	}
	_, err = repo.Track(context.Background(), cairn.TrackOptions{Paths: files, OnlyPaths: true})
	return err
}

func (l *library) Patch(tree string) ([]string, error) {
	repo, err := l.opened()
	if err != nil {
		return nil, err
	}
	p, err := repo.Patch(context.Background(), tree, "")
	return p.Files, err
}

func (l *library) DiffFull(from, to string) (func() (int, error), error) {
	repo, err := l.opened()
	if err != nil {
		return nil, err
	}
	files := 0
	for _, err := range repo.DiffFull(context.Background(), from, to, cairn.DiffOptions{}) {
		if err != nil {
			return nil, err
		}
		files++
	}
	return func() (int, error) { return files, nil }, nil
}

func (l *library) Restore(tree string) error {
	repo, err := l.opened()
	if err != nil {
		return err
	}
	return whole(repo.Restore(context.Background(), tree, cairn.RestoreOptions{}))
}

func (l *library) Revert(tree string, files []string) error {
	repo, err := l.opened()
	if err != nil {
		return err
	}
	return whole(repo.RevertPatches(context.Background(), []cairn.Patch{{Hash: tree, Files: files}}, cairn.RevertPatchesOptions{}))
}

// Undo implements undoer.
func (l *library) Undo() error {
	repo, err := l.opened()
	if err != nil {
		return err
	}
	return whole(repo.Undo(context.Background(), cairn.RevertOptions{}))
}

// Redo implements undoer.
func (l *library) Redo() error {
	repo, err := l.opened()
	if err != nil {
		return err
	}
	return whole(repo.Redo(context.Background(), cairn.RevertOptions{}))
}

// whole makes an error of a result that is not complete.
func whole(res *cairn.Result, err error) error {
	if err == nil && !res.Complete() {
		err = errors.New("done in part only")
	}
	return err
}

// Used implements contender. The peak is that of the whole process since it began.
func (l *library) Used() system.Usage {
	now := system.OwnUsage()
	used := system.Usage{CPUSeconds: now.CPUSeconds - l.last.CPUSeconds, PeakBytes: now.PeakBytes}
	l.last = now
	return used
}
