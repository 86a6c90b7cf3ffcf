package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// Item is one path of a new directory.
type Item struct {
	Path string
	Mode object.Mode // Regular, Executable, Symlink or Dir
	Perm uint16      // permission bits, 07777; symlinks have none

	// ID names the contents: a blob, or a link's text. The zero ID stands for the contents of the
	// live file, whatever they are when it is read.
	ID object.ID

	// Live is the stat of the live file at the same path while it had the contents ID. If the file
	// still has this stat, its contents are cloned or copied. FromLive is false for a file that has
	// no such stat. For a directory, only the time of modification counts.
	Live     index.Stat
	FromLive bool
}

// Way is how the contents of a new file came there.
type Way uint8

// The ways.
const (
	Written Way = iota // out of the Source
	Cloned             // shares its blocks with the live file until one of the two is written to
	Copied             // byte by byte from the live file
)

// Built is the result of one Item.
type Built struct {
	Err  error // an *fs.PathError: why the path is not there; it does not stop the others
	Way  Way
	Size int64

	// Entry is the path for a stat cache, see Outcome.Entry. It is zero for a directory and for a
	// file without an ID.
	Entry index.Entry
}

// errNoClone: this file cannot be cloned here. errNeverClones: the file system of the new directory
// cannot clone at all.
var (
	errNoClone     = errors.New("cannot be cloned")
	errNeverClones = fmt.Errorf("%w: nothing can be here", errNoClone)
)

// ErrUnsteady: a live file was written to each time that it was read.
var ErrUnsteady = errors.New("changes while it is copied")

// Builder fills a new directory, of which no other process knows. Files get their final names at
// once: the caller gives the directory its name when all is done.
//
// A live file is read through handles of its directories, and no symlink is followed. Hard links
// are never made: a file with several names becomes several files. A file that is cloned or copied
// keeps its time of modification, so that build tools go on from there.
//
// The superuser gives everything to the owner of Like. A file has setuid or setgid bits only where the live
// file has them, the same contents and the same owner.
//
// Not guaranteed: holes of sparse files, access lists and extended attributes. A write
// through a memory map that leaves the stat of a live file as it was goes unnoticed, as it does in
// a capture.
type Builder struct {
	Dir    string // empty, and on the medium only if Sync is set
	Live   string // the directory of the live files; "" = there is none
	Source Source
	Sync   bool   // everything is on the medium when Finish returns
	Like   string // a directory, see above; "" = everything stays the superuser's

	owner   *owner // of Like; nil = that of the process
	dirs    map[string]builtDir
	at      handles // of the directories, as they are made and finished
	mask    uint16  // the bits that the system clears in the mode of a new file
	noClone atomic.Bool
}

// builtDir holds the work that is left for a directory.
type builtDir struct {
	perm  uint16
	mtime int64 // in nanoseconds since 1970; 0 = as it comes
}

// fatal wraps an error that stops a Builder. Any other error is about one path.
type fatal struct{ error }

func (e fatal) Unwrap() error { return e.error }

// Add makes paths: first the directories, then the files. A directory comes before what lies below
// it, in this call or an earlier one. A path whose name cannot be made here, or whose contents
// cannot be read, has an error in its Built. An error of Add itself, such as a full disk, leaves the
// directory unfinished.
//
// progress, if not nil, is called after each file with the number of files and bytes of this call,
// never concurrently.
func (b *Builder) Add(ctx context.Context, items []Item, progress func(files int, bytes int64)) ([]Built, error) {
	if err := b.begin(); err != nil {
		return nil, err
	}
	built := make([]Built, len(items))
	var files []int
	for i := range items {
		if items[i].Mode == object.Dir {
			if err := b.makeDir(&items[i], &built[i]); err != nil {
				return nil, err
			}
		} else if b.belongs(&items[i], &built[i]) {
			files = append(files, i)
		}
	}
	slices.SortFunc(files, func(i, j int) int { return comparePaths(items[i].Path, items[j].Path) })
	f := &filling{Builder: b, items: items, built: built, progress: progress}
	return built, f.run(ctx, files)
}

// begin finds out which bits the system clears.
func (b *Builder) begin() error {
	if b.dirs != nil {
		return nil
	}
	info, err := os.Lstat(b.Dir)
	if err != nil {
		return err
	}
	b.dirs = map[string]builtDir{"": {perm: dir.InfoOf(info).Perm}}
	b.mask = 0o777 &^ dir.InfoOf(info).Perm
	if superuser && b.Like != "" {
		if info, err = os.Lstat(b.Like); err == nil {
			b.owner = ownerOf(info)
		}
		if b.owner != nil && *b.owner == *rootOwner() {
			b.owner = nil
		}
	}
	return err
}

// belongs reports whether the directory of a path was made, and refuses an unsafe name.
func (b *Builder) belongs(it *Item, out *Built) bool {
	err := CheckPath(it.Path)
	if _, ok := b.dirs[parentPath(it.Path)]; !ok && err == nil {
		err = errors.New("its directory could not be made")
	}
	if err == nil && it.Mode != object.Dir && it.Mode != object.Symlink && !it.Mode.IsFile() {
		err = fmt.Errorf("%w: mode %s", fs.ErrInvalid, it.Mode)
	}
	if err != nil {
		out.Err = &fs.PathError{Op: "create", Path: it.Path, Err: err}
	}
	return err == nil
}

func (b *Builder) makeDir(it *Item, out *Built) error {
	if _, ok := b.dirs[it.Path]; ok || !b.belongs(it, out) {
		return nil
	}
	parent, name := splitPath(it.Path)
	h, err := b.at.enter(b.Dir, parent)
	if err != nil {
		return err
	}
	if err = createDir(h, b.path(parent), name, it.Perm|0o700); err == nil {
		b.dirs[it.Path] = builtDir{it.Perm, it.Live.MTime}
		return nil
	}
	if !ofName(err) {
		return err
	}
	out.Err = &fs.PathError{Op: "mkdir", Path: it.Path, Err: spelling(dir.Cause(err))}
	return nil
}

// spelling tells which of the errors of a name means another spelling. Nothing but the names of
// this Builder is in the directory.
func spelling(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return ErrSpelling
	}
	return err
}

func (b *Builder) path(rel string) string {
	if rel == "" {
		return b.Dir
	}
	return b.Dir + string(os.PathSeparator) + strings.ReplaceAll(rel, "/", string(os.PathSeparator))
}

// Finish sets the permission bits and times of the directories. With Sync it waits until everything
// is on the medium.
func (b *Builder) Finish() error {
	defer b.at.close()
	paths := slices.SortedFunc(maps.Keys(b.dirs), comparePaths)
	for _, path := range slices.Backward(paths) {
		if path == "" {
			continue
		}
		b.give(path)
		if err := b.finishDir(path); err != nil {
			return &fs.PathError{Op: "finish", Path: path, Err: dir.Cause(err)}
		}
	}
	b.give("")
	if !b.Sync {
		return nil
	}
	return syncTree(b.Dir)
}

// give gives a directory to the owner of the copy. A file system may refuse that.
func (b *Builder) give(path string) {
	if b.owner == nil {
		return
	}
	if h, err := b.at.enter(b.Dir, path); err == nil {
		giveOpen(h, *b.owner)
	}
}

func (b *Builder) finishDir(path string) error {
	parent, name := splitPath(path)
	h, err := b.at.enter(b.Dir, parent)
	if err != nil {
		return err
	}
	if b.Sync && !syncsWhole {
		if err := atomicfile.SyncDir(b.path(path)); err != nil {
			return err
		}
	}
	d := b.dirs[path]
	now, err := h.Lstat(dir.ListedName(name))
	if err == nil && d.mtime != 0 {
		err = setTime(h, b.path(parent), name, d.mtime)
	}
	if err == nil && !samePerm(now.Perm, d.perm, true) {
		err = setPerm(h, b.path(parent), name, d.perm)
	}
	return err
}

// filling is one call of Add: its workers share everything but their handles.
type filling struct {
	*Builder
	items    []Item
	built    []Built
	progress func(files int, bytes int64)

	mu    sync.Mutex
	files int
	bytes int64
	err   error // the first fatal one
}

func (f *filling) run(ctx context.Context, files []int) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(maxWorkers, runtime.GOMAXPROCS(0), (len(files)+chunkSize-1)/chunkSize) {
		w := &filler{filling: f, ctx: ctx}
		wg.Go(func() {
			defer w.close()
			for start := int(next.Add(chunkSize)) - chunkSize; start < len(files); start = int(next.Add(chunkSize)) - chunkSize {
				for _, i := range files[start:min(start+chunkSize, len(files))] {
					if !w.add(i) {
						stop()
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if f.err != nil {
		return f.err
	}
	return ctx.Err()
}

// done counts a file, or keeps the error that stops all.
func (f *filling) done(i int, err error) (goOn bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e, stops := err.(fatal); stops {
		if f.err == nil {
			f.err = &fs.PathError{Op: "create", Path: f.items[i].Path, Err: dir.Cause(e.error)}
		}
		return false
	}
	if err != nil {
		f.built[i].Err = &fs.PathError{Op: "create", Path: f.items[i].Path, Err: spelling(dir.Cause(err))}
	} else {
		f.files++
		f.bytes += f.built[i].Size
	}
	if f.progress != nil {
		f.progress(f.files, f.bytes)
	}
	return true
}
