package cairn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

const (
	// DefaultMaxFileSize is the size in bytes above which a file is not captured.
	DefaultMaxFileSize = 32 << 20

	// DefaultMaxIncludeSize is the size in bytes above which Include does not capture a
	// file: Include is meant for settings and the like, not for build output.
	DefaultMaxIncludeSize = 1 << 20

	// DefaultMaxFiles is how many files a capture holds at most.
	DefaultMaxFiles = 1_000_000

	// DefaultMaxScanBytes is how many bytes of new data a capture reads at most: what
	// a store takes in minutes, and no source tree has.
	DefaultMaxScanBytes = 20 << 30

	// NoLimit switches a limit off.
	NoLimit = -1

	// DefaultLockTimeout is how long a command waits for another process.
	DefaultLockTimeout = 30 * time.Second
)

// Options says what to work on. Only Root and DataDir are required.
type Options struct {
	Root    string // the directory to capture, as a whole
	DataDir string // where stores lie; a directory inside Root is allowed and never captured

	MaxFileSize int64 // in bytes; 0 = DefaultMaxFileSize, NoLimit = none

	// Include are patterns as in .gitignore: files to capture although ignored, below
	// ignored directories too. A pattern without a slash has every ignored directory
	// looked at, one with a slash only those that it may lead to; "!node_modules/" keeps
	// out of a directory. MaxIncludeSize is in bytes: 0 = DefaultMaxIncludeSize, NoLimit =
	// as MaxFileSize.
	Include        []string
	MaxIncludeSize int64

	LockTimeout time.Duration // 0 = DefaultLockTimeout; a context's deadline counts, too

	// Guards against capturing what nobody meant. A first capture is refused with
	// ErrRoot where Root is the top of a file system, Home, one of Homes or a
	// directory above one of these, and any capture with ErrTooLarge that would hold
	// more than MaxFiles files, unless the last one did, or read more than
	// MaxScanBytes of new data. Homes may hold patterns as in path/filepath.Match.
	// Force switches the guards off.
	Homes        []string
	MaxFiles     int   // 0 = DefaultMaxFiles, NoLimit = none
	MaxScanBytes int64 // 0 = DefaultMaxScanBytes, NoLimit = none
	Force        bool

	// MinFree is how many bytes a capture leaves free on the disk of the store, and
	// Budget how many the store may have; 0 = no limit. A capture that would break one
	// of them first cleans as Retention says, unless that is nil, and then fails with
	// ErrNoSpace.
	MinFree, Budget int64
	Retention       *Retention // its MinFree and MaxBytes stand for the two where they are 0

	// Disabled says why nothing is to be captured, as who switched it off. RequireGit
	// does so where Root lies in no git work tree. Open then makes no store, and what
	// would capture fails with ErrDisabled. What is there can be looked at.
	Disabled   string
	RequireGit bool

	// Never lists patterns as in .gitignore, case ignored, of what is never stored,
	// be it tracked, named or captured before. Such a path is reported as skipped.
	// Going back neither overwrites nor deletes it.
	Never []string

	// Home and ConfigHome say where the user's git configuration lies, of which only
	// core.excludesFile and core.ignoreCase are used; ConfigHome defaults to
	// Home/.config. SystemGitConfig names further files, read first. All empty: only
	// the repository's own settings count.
	Home, ConfigHome string
	SystemGitConfig  []string

	// NoBorrow keeps a first capture from borrowing the packs of the user's own
	// repository by hard links: it costs time and room, and shares nothing with it.
	NoBorrow bool
	// Watch lets the system tell where something changes between captures of this Repo,
	// so that they cost what has changed instead of a look at everything. The results
	// are the same. It pays for who keeps a Repo open; where it cannot be had, captures
	// look at everything (see Repo.Watching). What it does not see: writes through a
	// memory map or through another name of a hard-linked file; TrackOptions.Verify does.
	Watch bool
	// MustExist makes Open fail with ErrNotFound where nothing was ever captured,
	// instead of making a store.
	MustExist bool

	// NoSync leaves the flushing of new data to the system. A killed process loses
	// nothing by it, a power failure may lose the last checkpoints.
	NoSync bool

	Command  string         // shown to whoever waits for the lock
	Logger   *slog.Logger   // nil = silent
	Progress func(Progress) // called now and then, from several goroutines; nil = never
	Workers  int            // goroutines of a scan; 0 = chosen
}

// Progress tells how far a capture or a restore has come.
type Progress struct {
	Phase string // "scan" or "apply"
	Files int    // done
	Total int    // 0 = unknown
	Bytes int64  // read or written
}

// Repo is a root together with its store. After its first capture it holds the stat cache
// in memory, some 130 bytes a file, so that the next ones need not read it.
type Repo struct {
	opt  Options
	root string
	db   *odb.DB
	user atomic.Pointer[surroundings]
	log  *slog.Logger
	now  func() time.Time

	fresh    *freshStore // nil = the store was there before
	watching *watching   // nil = not wanted
	outlines outlines
	lookups  atomic.Pointer[treeIndex] // the one made last, once it was needed
	longWalk int                       // see longWalk; 0 = an index is neither made nor asked

	never atomic.Pointer[denyList] // see refreshDenied
	trees treeCache

	described described // belongs to who has the lock
	lastAux   atomic.Pointer[decodedAux]
	kept      keptIndex
	measured  measured
	tidied    time.Time // when tidy has looked, zero = it has to; this and the next belong to who has the lock

	disturbances int // of the lock, when it was had last

	clean        func(context.Context, CleanOptions) (*Cleaned, error) // Clean, but for tests
	makeRoom     func(ctx context.Context, cause error) error          // cleans for a capture without space
	disturbed    func()                                                // called with the lock, when another process has had it since
	recovery     func(context.Context) error                           // finishes interrupted operations
	lacking      func(context.Context) ([]object.ID, error)            // objects that the store has lost
	beforeRemove func(gone, left []string) error                       // prepares the stat cache for packs that go
	freeSpace    func() (int64, error)                                 // of the disk, but for tests
}

// Open opens the store of a root and makes it if there is none. The root is
// resolved to its real path, so that a symlink to it names the same store. Errors
// wrap ErrRoot or ErrStore.
func Open(opt Options) (*Repo, error) {
	root, err := resolveRoot(opt.Root)
	if err != nil {
		return nil, err
	}
	dataDir, err := filepath.Abs(opt.DataDir)
	if err != nil || opt.DataDir == "" {
		return nil, fmt.Errorf("%w: no data directory given", ErrStore)
	}
	store := StorePath(dataDir, root)
	if root == dataDir || within(root, store) {
		return nil, fmt.Errorf("%w: %s lies inside the data directory %s", ErrRoot, root, dataDir)
	}
	around, err := lookAround(root)
	if err != nil {
		return nil, err
	}
	if opt.RequireGit && around.repo == nil && opt.Disabled == "" {
		opt.Disabled = root + " is in no git work tree"
	}
	opt.DataDir = dataDir
	r := newRepo(opt, root, around)
	if opt.Watch {
		r.watching = newWatching()
	}
	if r.db, err = r.openStore(store); err != nil {
		return nil, err
	}
	r.freeSpace = r.db.FreeSpace
	r.adoptRetention()
	r.refreshDenied()
	return r, nil
}

// newRepo is a Repo that lacks nothing but its store.
func newRepo(opt Options, root string, around *surroundings) *Repo {
	r := &Repo{opt: opt, root: root, log: opt.Logger, now: time.Now, longWalk: longWalk}
	r.lacking = r.lackedObjects
	r.clean, r.makeRoom, r.disturbed, r.recovery, r.beforeRemove = r.Clean, r.cleanForRoom, r.forgetMemory, r.recoverOperations, r.renamePacks
	r.user.Store(around)
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}

// userRepo finds the repository whose work tree the root lies in. A broken .git
// means that there is none, hence no rules and no index of one.
func userRepo(root string) (*git.Repo, error) {
	repo, err := git.Find(root)
	if err != nil || repo == nil {
		return nil, nil
	}
	if repo.Holds(root) {
		return nil, fmt.Errorf("%w: %s lies inside the git directory of a repository, which is never captured", ErrRoot, root)
	}
	if repo.Top == "" {
		return nil, nil
	}
	return repo, nil
}

// openStore opens the store or makes one, but not for what is guarded against.
func (r *Repo) openStore(dir string) (*odb.DB, error) {
	opt := odb.Options{NoSync: r.opt.NoSync, Command: r.opt.Command}
	db, err := odb.Open(dir, r.root, opt)
	absent := errors.Is(err, odb.ErrNotStore)
	if absent && !r.opt.MustExist && r.opt.Disabled == "" {
		if err := guardRoot(r.root, &r.opt); err != nil {
			return nil, err
		}
		made := absentDirs(r.opt.DataDir, filepath.Dir(dir))
		if db, err = odb.Create(dir, r.root, opt); err == nil {
			r.fresh = &freshStore{dirs: made}
		}
	}
	switch {
	case absent && r.opt.MustExist:
		return nil, notFound("no checkpoint of %s yet (cairn track makes one)", r.root)
	case absent && r.opt.Disabled != "":
		return nil, disabled(r.opt.Disabled)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	return db, nil
}

// Close releases the store. It does not wait for running calls.
func (r *Repo) Close() error {
	r.watching.endFolding()
	err := r.watching.close()
	if r.fresh != nil {
		r.fresh.drop(r)
	}
	return errors.Join(err, r.db.Close())
}

// Root returns the captured directory's real path.
func (r *Repo) Root() string { return r.root }

// StoreDir returns the store's path: a bare git repository.
func (r *Repo) StoreDir() string { return r.db.Dir() }

// ProjectID names the store of a root: the first 8 bytes, in hex, of the SHA-256
// of the root's absolute path.
func ProjectID(root string) string { return odb.ProjectID(root) }

// StorePath is where the store of root lies below a data directory.
func StorePath(dataDir, root string) string {
	return filepath.Join(dataDir, "snapshot", ProjectID(root))
}

// FindRoot returns the top of the git work tree around dir, or dir itself where
// there is none. No git binary is asked.
func FindRoot(dir string) (string, error) {
	abs, err := resolveRoot(dir)
	if err != nil {
		return "", err
	}
	repo, err := userRepo(abs)
	if err != nil || repo == nil {
		return abs, err
	}
	return repo.Top, nil
}

// FindRootIn is FindRoot for callers that know the data directory. Outside of git work
// trees it returns the nearest directory, from dir upwards, that has a store there: a
// sub-directory of what a store covers does not begin a second store.
func FindRootIn(dir, dataDir string) (string, error) {
	root, err := FindRoot(dir)
	if err != nil {
		return "", err
	}
	if repo, err := userRepo(root); err != nil || repo != nil {
		return root, err
	}
	for at := root; ; at = filepath.Dir(at) {
		if info, err := os.Stat(StorePath(dataDir, at)); err == nil && info.IsDir() {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return root, nil
		}
	}
}

func resolveRoot(dir string) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("%w: none given", ErrRoot)
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = realpath.Of(abs)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrRoot, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrRoot, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%w: %s is not a directory", ErrRoot, abs)
	}
	return abs, nil
}

// exclusive runs f with the store locked. What an interrupted operation left behind
// is finished first, so f always sees a directory that nobody is changing for us.
func (r *Repo) exclusive(ctx context.Context, f func() error) error {
	return r.locked(ctx, func() error {
		if time.Since(r.tidied) >= tidyAfter {
			if err := r.tidy(ctx); err != nil {
				return err
			}
		}
		return f()
	})
}

// tidyAfter is how long nothing needs to be looked for that the dead left, where nobody
// else has had the lock. Whoever worked without it, and was killed, has left no more than
// temporary files.
const tidyAfter = 10 * time.Second

// tidy removes what dead writers left and finishes what an operation left undone.
func (r *Repo) tidy(ctx context.Context) error {
	if err := r.db.Sweep(); err != nil {
		return err
	}
	if err := r.recovery(ctx); err != nil {
		return fmt.Errorf("finish the interrupted operation: %w", err)
	}
	r.tidied = time.Now()
	return nil
}

// locked runs f with the store locked, whatever state that is in.
func (r *Repo) locked(ctx context.Context, f func() error) (err error) {
	timeout := r.opt.LockTimeout
	if timeout == 0 {
		timeout = DefaultLockTimeout
	}
	lockCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	unlock, err := r.db.Lock(lockCtx)
	if err != nil {
		return err
	}
	if n := r.db.Disturbances(); n != r.disturbances {
		r.disturbances = n
		r.disturbed()
	}
	done := false
	defer func() {
		if !done || err != nil {
			r.tidied = time.Time{}
		}
		err = errors.Join(err, unlock())
	}()
	err = f()
	done = true
	return err
}

// forgetMemory drops what a Repo remembers of its last capture, because another process
// has had the lock since.
func (r *Repo) forgetMemory() {
	r.tidied, r.kept = time.Time{}, keptIndex{}
	if !r.db.ShowsChanges() { // else the files tell
		r.watching.distrust()
	}
}

// within reports whether path lies below dir or is dir. Both are clean.
func within(path, dir string) bool {
	return path == dir || dir == string(filepath.Separator) ||
		strings.HasPrefix(path, dir) && path[len(dir)] == filepath.Separator
}

// rel returns the '/'-separated path below the root of an absolute path or of one
// that is already relative to the root. The root itself is "".
func (r *Repo) rel(path string) (string, error) {
	p := filepath.FromSlash(path)
	if filepath.IsAbs(p) {
		p = r.relAbs(filepath.Clean(p))
	} else if p != "" {
		p = filepath.Clean(p)
	}
	switch {
	case p == ".":
		return "", nil
	case p == "" || !filepath.IsLocal(p) || strings.IndexByte(p, 0) >= 0:
		return "", fmt.Errorf("%w %s: %s", ErrOutside, r.root, path)
	}
	return filepath.ToSlash(p), nil
}

// relAbs cuts the root off an absolute path; "" means that it lies elsewhere. A path that names the root through a
// symlink is resolved as far as its directories exist.
func (r *Repo) relAbs(p string) string {
	for _, candidate := range []string{p, resolveExisting(p)} {
		if within(candidate, r.root) {
			if rel, err := filepath.Rel(r.root, candidate); err == nil {
				return rel
			}
		}
	}
	return ""
}

// resolveExisting resolves the symlinks of the existing parents of p, not p itself.
func resolveExisting(p string) string {
	dir, base := filepath.Split(p)
	dir = filepath.Clean(dir)
	if dir == p {
		return p
	}
	if real, err := realpath.Of(dir); err == nil {
		return filepath.Join(real, base)
	}
	return filepath.Join(resolveExisting(dir), base)
}
