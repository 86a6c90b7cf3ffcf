package cairn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/atrest"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// SealOptions controls Seal and Unseal. Untried is for Seal: it does not try whether Options.Identity opens what was
// sealed, so that no key needs to be at hand, but that of a store that is sealed already. DryRun is for Unseal: it reads
// everything with the key and changes nothing.
type SealOptions struct {
	Untried, DryRun bool
}

// SealResult counts what was sealed or opened. JSON: {"files","bytes","size"}, bytes being those of the open store.
type SealResult = atrest.Result

// Seal encrypts the store of Options.Root for Options.Encrypt with Options.Sealer, until Unseal opens it or, with
// Options.Unseal, Open does. Meanwhile every call that needs the store fails with ErrSealed. A sealed store is sealed
// again, for other recipients; Options.Identity opens it for that.
//
// The store becomes one file beside locks and a version: no name, path, content or prompt can be read there. The open
// files go only when Options.Identity has opened what was written, byte for byte. After an error or a kill the store is
// open, or sealed and whole. ErrRecipient, ErrIdentity and ErrKey say what is wrong with the keys, ErrLocked that another
// process works with the store.
//
// The root stays as it is, open. So does what lies beside the store in the data directory: answers of work in the
// background, and the records of hooks.
func Seal(ctx context.Context, opt Options, how SealOptions) (*SealResult, error) {
	keys, err := keysOf(&opt, how.Untried)
	if err != nil {
		return nil, err
	}
	keys.Recipients, keys.Untried = opt.Encrypt, how.Untried
	if err := checkSealRecipients(&opt); err != nil {
		return nil, err
	}
	if opt.Root, err = presentOrFormer(opt.Root); err != nil {
		return nil, err
	}
	opt.MustExist, opt.Unseal, opt.Disabled = true, false, "the store is being sealed"
	for range sealTries {
		if StoreSealed(opt.DataDir, opt.Root) {
			res, err := sealAgain(ctx, &opt, keys)
			if !errors.Is(err, ErrNotSealed) {
				return res, err
			}
		} else if res, err := sealOpen(ctx, opt, keys); !errors.Is(err, ErrSealed) {
			return res, err
		}
	}
	return nil, fmt.Errorf("%w: other processes seal and open it", ErrLocked)
}

// sealTries is how often Seal begins when other processes seal or open the store at the same time.
const sealTries = 5

// sealAgain seals a sealed store. That needs a key of it, also where the new one is not tried.
func sealAgain(ctx context.Context, opt *Options, keys atrest.Options) (*SealResult, error) {
	if keys.Untried {
		held, err := keysOf(opt, false)
		if err != nil {
			return nil, err
		}
		keys.Identity = held.Identity
	}
	return onSealed(ctx, opt, func(ctx context.Context, db *odb.DB) (*SealResult, error) { return atrest.Reseal(ctx, db, keys) })
}

func sealOpen(ctx context.Context, opt Options, keys atrest.Options) (res *SealResult, err error) {
	repo, err := Open(opt)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	err = repo.store.Exclusive(ctx, func(*history.Locked) (err error) {
		res, err = atrest.Seal(ctx, repo.store.DB, keys)
		return err
	})
	return res, err
}

// errNoRecipient: a store that nothing opens again is of no use.
var errNoRecipient = fmt.Errorf("%w: none is given (--encrypt, or the setting encrypt, names one)", settings.ErrRecipient)

func checkSealRecipients(opt *Options) error {
	if len(opt.Encrypt) == 0 || len(opt.Encrypt) == 1 && opt.Encrypt[0] == EncryptNone {
		return errNoRecipient
	}
	return opt.Sealer.Check(opt.Encrypt)
}

// Unseal makes a sealed store open again with Options.Identity. A store that is open is ErrNotSealed. Where the key is
// missing or another one, the store stays as it is, and the error wraps ErrSealed.
func Unseal(ctx context.Context, opt Options, how SealOptions) (*SealResult, error) {
	res, err := unseal(ctx, &opt, how)
	if lacksKey(&opt, err) && StoreSealed(opt.DataDir, opt.Root) {
		err = fmt.Errorf("%w: %w", ErrSealed, err)
	}
	return res, err
}

func unseal(ctx context.Context, opt *Options, how SealOptions) (*SealResult, error) {
	keys, err := keysOf(opt, false)
	if err != nil {
		return nil, err
	}
	if how.DryRun {
		db, err := openSealed(opt)
		if err != nil {
			return nil, err
		}
		defer db.Close()
		return atrest.Check(ctx, db, keys)
	}
	return onSealed(ctx, opt, func(ctx context.Context, db *odb.DB) (*SealResult, error) { return atrest.Unseal(ctx, db, keys) })
}

// keysOf reads the file with the keys.
func keysOf(opt *Options, untried bool) (keys atrest.Options, err error) {
	keys = atrest.Options{Sealer: opt.Sealer, NoSync: opt.NoSync, Progress: opt.Told()}
	switch {
	case opt.Sealer == nil:
		return keys, fmt.Errorf("%w: nothing can be sealed or opened without Options.Sealer", ErrStore)
	case untried:
		return keys, nil
	}
	if keys.Identity, err = opt.ReadIdentity(); err == nil && keys.Identity == nil {
		err = fmt.Errorf("%w: none is given (--identity FILE, or the setting identity, names the file with the key)", ErrIdentity)
	}
	return keys, err
}

// openSealed opens the sealed store of a root. The root need not exist any more.
func openSealed(opt *Options) (*odb.DB, error) {
	root, err := presentOrFormer(opt.Root)
	if err != nil {
		return nil, err
	}
	dir := StorePath(opt.DataDir, root)
	if former, ok := renamedFrom(dir, opt.DataDir, root); ok && former.Root == "" {
		dir = former.Store
	}
	db, err := odb.OpenSealed(dir, odb.Options{NoSync: opt.NoSync, Command: opt.Command})
	if errors.Is(err, odb.ErrNotStore) {
		if _, err := odb.Used(dir); err != nil {
			return nil, state.NotFound("no checkpoint of %s yet (cairn track makes one)", root)
		}
		return nil, fmt.Errorf("%w: %s", ErrNotSealed, dir)
	}
	return db, err
}

// presentOrFormer returns the real path of a root, and the path of one that is gone.
func presentOrFormer(root string) (string, error) {
	if real, err := state.ResolveRoot(root); err == nil {
		return real, nil
	}
	return filepath.Abs(root)
}

// onSealed calls f with the lock of the sealed store of a root.
func onSealed(ctx context.Context, opt *Options, f func(context.Context, *odb.DB) (*SealResult, error)) (*SealResult, error) {
	db, err := openSealed(opt)
	if err != nil {
		return nil, err
	}
	return withSealed(ctx, opt, db, f)
}

// withSealed calls f with the lock of a sealed store, and closes the store.
func withSealed(
	ctx context.Context, opt *Options, db *odb.DB, f func(context.Context, *odb.DB) (*SealResult, error),
) (res *SealResult, err error) {
	defer db.Close()
	waiting, cancel := opt.Waiting(ctx)
	defer cancel()
	unlock, err := db.Lock(waiting)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if !odb.IsSealed(db.Dir()) {
		return nil, fmt.Errorf("%w: %s, since another process has opened it", ErrNotSealed, db.Dir())
	}
	return f(ctx, db)
}

// useStore keeps other processes from sealing the store while this Repo is open, where Open opens sealed stores.
func (r *Repo) useStore(dir string) (err error) {
	if !r.store.Opt.Unseal {
		return nil
	}
	ctx, cancel := r.store.Waiting(context.Background())
	defer cancel()
	r.endUse, err = atrest.Use(ctx, dir)
	return err
}

// unsealFor opens a sealed store for Open, unless another process does. sealed is the error of a store that is not
// opened.
func unsealFor(opt *Options, sealed error) error {
	_, err := unseal(context.Background(), opt, SealOptions{})
	if err == nil {
		opt.Unsealed(opt.Root)
	}
	return unsealError(opt, sealed, err)
}

// unsealError is the error of a store that was to be opened. Without its key the store stays what it is, and is not
// unusable. A store that another process has opened is no error.
func unsealError(opt *Options, sealed, err error) error {
	switch {
	case errors.Is(err, ErrNotSealed):
		return nil
	case lacksKey(opt, err):
		return fmt.Errorf("%w: %w", sealed, err)
	}
	return err
}

// lacksKey reports whether an error says that the key of a sealed store is missing, unusable or another one.
func lacksKey(opt *Options, err error) bool {
	var unread *fs.PathError
	return errors.Is(err, ErrKey) || errors.Is(err, ErrIdentity) || errors.As(err, &unread) && unread.Path == opt.Identity
}

// unsealStore opens the sealed store of a fork, where the options let Open do that. Its root is in the stream.
func (r *Repo) unsealStore(dir string) error {
	opened, err := r.unsealIn(dir, "it is that of a fork, and is opened there")
	if err != nil || !opened {
		return err
	}
	root, err := odb.RecordedRoot(dir)
	if err == nil {
		r.store.Opt.Unsealed(root)
	}
	return err
}

// unsealIn opens the sealed store in dir, where the options let Open do that. opened is false if another process
// has opened it. why says whose it is.
func (r *Repo) unsealIn(dir, why string) (opened bool, err error) {
	opt := &r.store.Opt
	_, err = odb.RecordedRoot(dir)
	sealed := fmt.Errorf("%w: %w: %s", ErrStore, err, why)
	switch {
	case !errors.Is(err, ErrSealed):
		return false, nil
	case !opt.Unseal:
		return false, sealed
	}
	keys, err := keysOf(opt, false)
	if err != nil {
		return false, unsealError(opt, sealed, err)
	}
	db, err := odb.OpenSealed(dir, odb.Options{NoSync: opt.NoSync, Command: opt.Command})
	if errors.Is(err, odb.ErrNotStore) {
		return false, nil
	}
	if err == nil {
		_, err = withSealed(context.Background(), opt, db, func(ctx context.Context, db *odb.DB) (*SealResult, error) { return atrest.Unseal(ctx, db, keys) })
	}
	if err != nil {
		return false, unsealError(opt, sealed, err)
	}
	return true, nil
}
