package cairn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/copies"
	"github.com/seed-fb9cbc17/cairn/internal/diff"
	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/merge"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/purge"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/repair"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
)

// Repo is a root together with its store. After its first capture it keeps the stat cache in
// memory, some 130 bytes a file, so that later captures need not read it.
type Repo struct {
	inner
	store     *history.Store
	capturer  *capture.Capturer
	differ    *diff.Differ
	operator  *operation.Operator
	cleaner   *retention.Cleaner
	rewriter  *purge.Rewriter
	doctor    *repair.Doctor
	transport *transfer.Transport
	copier    *copies.Copier
	merger    *merge.Merger
	beside    besides
	endUse    func() error // lets other processes seal the store
	adopted   string       // see Adopted
}

// inner is what other packages of this module reach. It has no exported method.
type inner = access.Inner

// Open opens the store of a root and makes it if there is none. The root is resolved to its real
// path, so a symlink to it names the same store. The store of a root that was renamed comes along, see
// Adopted. Errors wrap ErrRoot or ErrStore, but for an unknown Options.Secrets.
func Open(opt Options) (*Repo, error) {
	root, err := state.ResolveRoot(opt.Root)
	if err != nil {
		return nil, err
	}
	if opt.Secrets, err = settings.ParseSecretsPolicy(string(opt.Secrets)); err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	dataDir, err := filepath.Abs(opt.DataDir)
	if err != nil || opt.DataDir == "" {
		return nil, fmt.Errorf("%w: no data directory given", ErrStore)
	}
	store := StorePath(dataDir, root)
	if root == dataDir || realpath.Within(root, store) {
		return nil, fmt.Errorf("%w: %s lies inside the data directory %s", ErrRoot, root, dataDir)
	}
	around, err := capture.UserRepoOr(root, git.Named{Dir: opt.GitDir, WorkTree: opt.GitWorkTree})
	if err != nil {
		return nil, err
	}
	if opt.RequireGit && around == nil && opt.Disabled == "" {
		opt.Disabled = root + " is in no git work tree"
	}
	opt.DataDir = dataDir
	r := newRepo(opt, root, around)
	if err := r.openStore(store); err != nil {
		return nil, errors.Join(err, r.endUse())
	}
	r.cleaner.AdoptRetention()
	_ = r.store.RefreshDenied() // captures look again, and fail
	if r.store.Forked() != nil {
		r.capturer.RefreshRepository() // that around the root may be another one's
	}
	return r, nil
}

// newRepo returns a Repo without a store.
func newRepo(opt Options, root string, around *git.Repo) *Repo {
	s := history.New(opt, root)
	c := capture.New(s, around)
	o := &operation.Operator{Capturer: c}
	w := &purge.Rewriter{Capturer: c}
	d := &repair.Doctor{Rewriter: w}
	k := &retention.Cleaner{Store: s, RenamePacks: c.RenamePacks}
	k.RunClean = k.Clean
	c.MakeRoom = k.CleanForRoom
	s.Disturbed, s.Recovery = c.Forget, o.RecoverOperations
	x, t := &diff.Differ{Store: s}, &transfer.Transport{Store: s, Lacking: d.LackedObjects, Repository: c.Repository}
	repo := &Repo{
		endUse: func() error { return nil },
		inner:  access.New(o, k, t),
		store:  s, capturer: c, differ: x, operator: o, cleaner: k, rewriter: w, doctor: d, transport: t,
		copier: &copies.Copier{Capturer: c}, merger: &merge.Merger{Operator: o, Differ: x, Transport: t},
	}
	o.Beside, repo.copier.Unseal = repo.operatorBeside, repo.unsealStore
	return repo
}

// openStore opens the store. It makes one unless the root is guarded or Options forbid it.
func (r *Repo) openStore(dir string) error {
	settings := &r.store.Opt
	opt := odb.Options{NoSync: settings.NoSync, Command: settings.Command}
	if err := errors.Join(r.adoptRenamed(dir), r.useStore(dir)); err != nil {
		return err
	}
	db, err := odb.Open(dir, r.store.Root, opt)
	if errors.Is(err, odb.ErrSealed) && settings.Unseal {
		if err = unsealFor(settings, err); err == nil {
			db, err = odb.Open(dir, r.store.Root, opt)
		}
	}
	absent := errors.Is(err, odb.ErrNotStore)
	if absent && !settings.MustExist && settings.Disabled == "" {
		if err := capture.GuardRoot(r.store.Root, settings); err != nil {
			return err
		}
		made := capture.AbsentDirs(settings.DataDir, filepath.Dir(dir))
		if db, err = odb.Create(dir, r.store.Root, opt); err == nil {
			r.capturer.Fresh = &capture.FreshStore{Dirs: made}
			if err = r.useStore(dir); err != nil {
				err = errors.Join(err, db.Close())
			}
		}
	}
	switch {
	case absent && settings.MustExist:
		return state.NotFound("no checkpoint of %s yet (cairn track makes one)", r.store.Root)
	case absent && settings.Disabled != "":
		return state.Disabled(settings.Disabled)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	r.store.Use(db)
	return nil
}

// Close releases the store. It does not wait for running calls. These, and later ones that need the
// store, fail with an error that wraps os.ErrClosed.
func (r *Repo) Close() error {
	if r.capturer == nil {
		return nil // it was never opened
	}
	r.capturer.Watch.EndFolding()
	err := r.capturer.Watch.Close()
	if r.capturer.Fresh != nil {
		err = errors.Join(err, r.endUse()) // an open file keeps a store from being removed on Windows
		r.capturer.Fresh.Drop(r.capturer)
	}
	return errors.Join(err, r.beside.close(), r.store.DB.Close(), r.endUse())
}

// Root returns the captured directory's real path.
func (r *Repo) Root() string { return r.store.Root }

// StoreDir returns the store's path: a bare git repository.
func (r *Repo) StoreDir() string { return r.store.DB.Dir() }

// FindRoot returns the top of the git work tree around dir, or dir itself if there is none. It does
// not run git.
func FindRoot(dir string) (string, error) {
	abs, err := state.ResolveRoot(dir)
	if err != nil {
		return "", err
	}
	repo, err := capture.UserRepo(abs)
	if err != nil || repo == nil {
		return abs, err
	}
	return repo.Top, nil
}

// FindRootIn is FindRoot for callers that know the data directory. Outside of git work trees it
// returns the nearest directory, from dir upwards, that has a store there, so that a sub-directory
// of a captured root does not get a second store. Where none has, the nearest counts whose store Open
// would take along, see Repo.Adopted. A fork is its own root wherever it lies.
func FindRootIn(dir, dataDir string) (string, error) {
	root, err := FindRoot(dir)
	if err != nil {
		return "", err
	}
	if fork, err := forkAround(dir, root, dataDir); fork != "" || err != nil {
		return fork, err
	}
	if repo, err := capture.UserRepo(root); err != nil || repo != nil {
		return root, err
	}
	for _, has := range []func(at string) bool{
		func(at string) bool { return isDir(StorePath(dataDir, at)) },
		repair.Renames(dataDir),
	} {
		if at := above(root, has); at != "" {
			return at, nil
		}
	}
	return root, nil
}

// above returns the nearest directory, from dir upwards, that f accepts, "" for none.
func above(dir string, f func(dir string) bool) string {
	for !f(dir) {
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// forkAround returns the nearest fork, from dir upwards, that lies below root; "" for none.
func forkAround(dir, root, dataDir string) (string, error) {
	at, err := state.ResolveRoot(dir)
	if err != nil {
		return "", err
	}
	for ; at != root && realpath.Within(at, root); at = filepath.Dir(at) {
		if history.IsFork(StorePath(dataDir, at)) {
			return at, nil
		}
	}
	return "", nil
}

// ProjectID names the store of a root: the first 8 bytes, in hex, of the SHA-256
// of the root's absolute path.
func ProjectID(root string) string { return state.ProjectID(root) }

// StorePath returns the path of root's store below a data directory.
func StorePath(dataDir, root string) string {
	return state.StorePath(dataDir, root)
}
