package blame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// FileOptions controls a blame. The zero value blames the file on disk.
type FileOptions struct {
	At      string // the checkpoint that holds the file; "" = the disk
	Deleted bool   // also find lines that are no longer there

	// Diff compares two contents; nil = as a diff without options does.
	Diff func(a, b []byte) []linediff.Edit
}

// Origin is the time in which a line appeared: after the state Before, and at the latest at
// Checkpoint.
type Origin struct {
	Checkpoint *history.Checkpoint // nil: no checkpoint has the line yet
	Before     string              // the checkpoint before; "": the line was there at the first one
	Path       string              // of the file at that time
	OldPath    string              // of the file at Before, "" if it was not there
	Operation  string              // that made the state, "" for none

	// Open holds the newest events of the lines with records before Checkpoint, and Following their
	// next events. A step that is open in between may have made the change.
	Open, Following []string
}

// FileLine is a line with its origin.
type FileLine struct {
	*Origin
	Number int // of the line at the origin, from 1
	Text   string
}

// DeletedLine is a line that is no longer there.
type DeletedLine struct {
	FileLine
	By   *Origin // the time in which it disappeared
	Line int     // the number of the line before which it stood, or one more than there are
}

// File is a file with the origins of its lines.
type File struct {
	Path       string
	Checkpoint *history.Checkpoint // that was asked for, nil for the disk
	Lines      []FileLine
	Deleted    []DeletedLine // in the order of the file
}

// OfFile blames a file. The error wraps state.ErrNotFound if the file is not there. With
// FileOptions.Deleted, a file that was there once is enough.
func OfFile(ctx context.Context, store *history.Store, path string, opt FileOptions) (*File, error) {
	if path == "" {
		return nil, state.NotFound("file %s: it is a directory", store.Root)
	}
	f := &file{ctx: ctx, store: store, opt: opt, File: File{Path: path}, origins: make(map[int]*Origin)}
	if err := f.collect(); err != nil {
		return nil, err
	}
	if err := f.checkPresent(); err != nil {
		return nil, err
	}
	r, err := f.follow()
	if errors.Is(err, errTooLarge) {
		if err = errors.Join(f.afterLarge(), ctx.Err()); err == nil {
			r, err = f.follow()
		}
	}
	if err != nil {
		return nil, err
	}
	return &f.File, f.answer(r)
}

// follow finds the origins of the lines in the spans.
func (f *file) follow() (*Result, error) {
	versions := make([]Version, len(f.spans))
	for i, s := range f.spans {
		if !s.ID.IsZero() {
			versions[i].Key = s.ID.String()
		}
		versions[i].Restored = s.First < len(f.timeline) && f.timeline[s.First].Restored
	}
	return Of(versions, f.content, Options{Deleted: f.opt.Deleted, Diff: f.opt.Diff})
}

// afterLarge cuts the history behind the newest content before the last one that is too large to compare. Lines of the
// content after it count as those of the oldest checkpoint do: their authors may be others.
func (f *file) afterLarge() error {
	for i := len(f.spans) - 2; i >= 0; i-- {
		size, err := f.store.BlobSize(&object.Entry{Mode: object.Regular, ID: f.spans[i].ID})
		switch {
		case f.spans[i].ID.IsZero():
		case err != nil:
			return err
		case size > history.DefaultMaxDiffSize:
			f.spans = f.spans[i+1:]
			f.spans[0].Before = -1
			return nil
		}
	}
	return nil
}

// file is one blame.
type file struct {
	File
	ctx      context.Context
	store    *history.Store
	opt      FileOptions
	timeline []history.Moment
	whole    []history.Moment // of which the timeline is the beginning
	spans    []Span           // one that begins after the timeline is the disk
	disk     *[]byte          // nil: the file is absent
	origins  map[int]*Origin
	events   eventList
}

// collect reads the timeline, the contents of the path, and the disk if it is asked for.
func (f *file) collect() (err error) {
	if f.timeline, err = f.store.Timeline(f.ctx); err != nil {
		return err
	}
	f.whole = f.timeline
	if f.opt.At != "" {
		if err := f.upTo(f.opt.At); err != nil {
			return err
		}
	}
	path := f.Path
	if f.opt.At == "" {
		if f.disk, err = readDisk(f.store.Root, f.Path); err != nil {
			return err
		}
		if path, err = f.pathBefore(); err != nil {
			return err
		}
	}
	if f.spans, err = History(f.ctx, f.store, f.timeline, path); err != nil || f.opt.At != "" {
		return err
	}
	now := Span{First: len(f.timeline), Before: f.newestState(), Path: f.Path}
	if f.disk != nil {
		now.ID = object.Sum(object.Blob, *f.disk)
	}
	if len(f.spans) == 0 || f.spans[len(f.spans)-1].ID != now.ID {
		f.spans = append(f.spans, now)
	}
	return nil
}

// pathBefore returns the path that the file on disk had at the newest state.
func (f *file) pathBefore() (string, error) {
	at := f.newestState()
	if at < 0 || f.disk == nil {
		return f.Path, nil
	}
	e, err := f.store.NewPathFinder(f.Path).In(f.timeline[at].Tree)
	if err != nil || e.Mode != 0 {
		return f.Path, err
	}
	var gone []history.TreeChange
	c := &collector{ctx: f.ctx, store: f.store}
	is := object.Sum(object.Blob, *f.disk)
	root, err := os.OpenRoot(f.store.Root)
	if err != nil {
		return "", fmt.Errorf("%w: %w", state.ErrRoot, err)
	}
	defer root.Close()
	for change, err := range f.store.CompareTrees(f.ctx, object.EmptyTree, f.timeline[at].Tree, nil) {
		if err != nil {
			return "", err
		}
		if change.New.Mode == object.Gitlink {
			continue
		}
		if change.New.ID != is && len(gone) > maxCandidates && path.Base(change.Path) != path.Base(f.Path) {
			continue
		}
		if _, err := root.Lstat(change.Path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if change.New.ID == is {
			return change.Path, nil
		}
		gone = append(gone, history.TreeChange{Path: change.Path, Old: change.New})
	}
	from, err := c.mostSimilar(f.Path, *f.disk, gone)
	return cmp.Or(from, f.Path), err
}

// upTo cuts the timeline at a checkpoint. A checkpoint from elsewhere has a timeline of its own.
func (f *file) upTo(spec string) (err error) {
	if f.Checkpoint, err = f.store.Lookup(f.ctx, spec); err != nil {
		return err
	}
	id := history.IDOf(f.Checkpoint)
	at := position(f.timeline, id)
	if at < 0 {
		if f.timeline, err = f.store.Ancestors(f.ctx, id); err != nil {
			return err
		}
		f.whole = f.timeline
		at = position(f.timeline, id)
	}
	if at < 0 {
		return state.NotFound("checkpoint %s", spec)
	}
	f.timeline = f.timeline[:at+1]
	f.timeline[at].Same = false
	return nil
}

func position(timeline []history.Moment, id object.ID) int {
	for i := range timeline {
		if timeline[i].ID == id {
			return i
		}
	}
	return -1
}

// newestState returns the last moment that says something about the disk, -1 for none.
func (f *file) newestState() int {
	i := len(f.timeline) - 1
	for i >= 0 && f.timeline[i].Same {
		i--
	}
	return i
}

// checkPresent refuses a path without lines that could be shown.
func (f *file) checkPresent() error {
	once := false
	for _, s := range f.spans {
		once = once || !s.ID.IsZero()
	}
	there := len(f.spans) > 0 && !f.spans[len(f.spans)-1].ID.IsZero()
	switch {
	case there || once && f.opt.Deleted:
		return nil
	case f.Checkpoint != nil:
		return state.NotFound("file %s at checkpoint %s", f.Path, f.opt.At)
	}
	return state.NotFound("file %s", f.Path)
}

// content reads the content of a span.
func (f *file) content(i int) ([]byte, error) {
	s := &f.spans[i]
	if s.First == len(f.timeline) {
		return *f.disk, f.ctx.Err()
	}
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	return Read(f.store, s)
}

// readDisk reads a file of the root, or the text of a symlink. It returns nil if there is none. The
// root is never left.
func readDisk(root, path string) (*[]byte, error) {
	if err := state.CheckRoot(root); err != nil {
		return nil, err
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", state.ErrRoot, err)
	}
	defer r.Close()
	if throughLink(r, path) {
		return nil, nil
	}
	info, err := r.Lstat(path)
	var content []byte
	switch {
	case dir.Absent(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case info.Mode()&fs.ModeSymlink != 0:
		var to string
		to, err = r.Readlink(path)
		content = []byte(to)
	case info.IsDir():
		return nil, state.NotFound("file %s: it is a directory", path)
	case !info.Mode().IsRegular():
		return nil, state.NotFound("file %s: it is no regular file", path)
	case info.Size() > history.DefaultMaxDiffSize:
		return nil, tooLarge(path, info.Size())
	default:
		content, err = r.ReadFile(path)
	}
	return &content, err
}

// throughLink reports whether a path has a symlink above it. No checkpoint holds such a path: the file behind it has
// another one, or lies outside.
func throughLink(r *os.Root, name string) bool {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		if info, err := r.Lstat(name[:i]); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}
