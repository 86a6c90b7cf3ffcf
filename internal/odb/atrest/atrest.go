package atrest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// Options of Seal, Unseal and Check.
type Options struct {
	Sealer     settings.Sealer
	Recipients []string // for which Seal encrypts
	Identity   []byte   // the content of a file with keys
	Untried    bool     // Seal does not try whether a key opens what it wrote, and needs no Identity
	NoSync     bool     // do not flush to the disk
	Progress   func(phase string, done, total int, bytes int64)
}

// Result is what a call has sealed or opened.
type Result struct {
	Files  int   `json:"files"`
	Bytes  int64 `json:"bytes"` // of the files, open
	Sealed int64 `json:"size"`  // size of cairn/store.age
}

// Seal encrypts a store. Its caller has opened the store and has the lock; no operation is under way. A process that
// works beside the lock, such as a cleaning or a push, is ErrLocked. After an error the store is open as before, or
// sealed and whole with open files beside the stream.
func Seal(ctx context.Context, db *odb.DB, opt Options) (*Result, error) {
	end, err := alone(db)
	if err != nil {
		return nil, err
	}
	res, err := seal(ctx, db, opt)
	if err = errors.Join(err, end()); err != nil {
		return nil, fmt.Errorf("seal store %s: %w", db.Dir(), err)
	}
	return res, nil
}

func seal(ctx context.Context, db *odb.DB, opt Options) (*Result, error) {
	if err := db.Sweep(); err != nil {
		return nil, err
	}
	if err := db.DropLog(); err != nil {
		return nil, err
	}
	if err := markFork(db); err != nil {
		return nil, err
	}
	entries, err := list(db.Dir(), "")
	if err != nil {
		return nil, err
	}
	write := func(w io.Writer) (*Result, error) { return archive(ctx, w, db.Dir(), entries, opt) }
	res, err := install(db, opt, write, func(own string) error { return unchanged(db.Dir(), entries, own) })
	if err != nil {
		return nil, err
	}
	return res, dropOpen(db, opt)
}

// markFork makes the empty file that shows a fork while the record of it is in the stream.
func markFork(db *odb.DB) error {
	if _, err := os.Lstat(db.PrivatePath(string(odb.PrivateForked))); err != nil {
		return nil // no fork
	}
	f, err := os.OpenFile(db.PrivatePath(odb.ForkMark), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// dropOpen removes the open files of a sealed store, so that they stay removed after a loss of power.
func dropOpen(db *odb.DB, opt Options) error {
	err := removeOpen(db.Dir())
	if err != nil || opt.NoSync {
		return err
	}
	return errors.Join(atomicfile.SyncDir(filepath.Dir(db.PrivatePath(odb.SealedName))), atomicfile.SyncDir(db.Dir()))
}

// Reseal encrypts a sealed store for other recipients. The caller has the lock of db, from odb.OpenSealed.
func Reseal(ctx context.Context, db *odb.DB, opt Options) (*Result, error) {
	if err := db.SweepPrivate(); err != nil {
		return nil, err
	}
	res, err := install(db, opt, func(w io.Writer) (res *Result, err error) {
		err = read(ctx, db, opt, func(in io.Reader) error {
			res, err = count(io.TeeReader(in, w))
			return err
		})
		return res, err
	}, func(string) error { return nil })
	if err == nil {
		err = dropOpen(db, opt)
	}
	if err != nil {
		return nil, fmt.Errorf("seal store %s again: %w", db.Dir(), err)
	}
	return res, nil
}

// install encrypts what write writes, tries the key on it, and gives it its name if still allows it. still gets the
// beginning of the names of the temporary files.
func install(
	db *odb.DB, opt Options, write func(io.Writer) (*Result, error), still func(own string) error,
) (res *Result, err error) {
	dir, remove, err := db.TempDir()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	path := filepath.Join(dir, odb.SealedName)
	sum := sha256.New()
	res, err = encrypt(path, opt, func(w io.Writer) (*Result, error) { return write(io.MultiWriter(w, sum)) })
	if err == nil && !opt.Untried {
		err = try(path, opt, sum)
	}
	if err == nil {
		err = still(strings.TrimSuffix(filepath.Base(dir), odb.AsideSuffix))
	}
	if err == nil {
		err = db.MarkSealed(true)
	}
	if err == nil {
		err = atomicfile.Rename(path, db.PrivatePath(odb.SealedName))
	}
	if err == nil && !opt.NoSync {
		err = atomicfile.SyncDir(filepath.Dir(db.PrivatePath(odb.SealedName)))
	}
	return res, err
}

// encrypt makes a file of what write writes.
func encrypt(path string, opt Options, write func(io.Writer) (*Result, error)) (res *Result, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := opt.Sealer.Seal(f, opt.Recipients)
	if err != nil {
		return nil, err
	}
	if res, err = write(w); err != nil {
		return nil, err
	}
	if err = w.Close(); err != nil {
		return nil, err
	}
	if res.Sealed, err = f.Seek(0, io.SeekCurrent); err == nil && !opt.NoSync {
		err = f.Sync()
	}
	return res, err
}

// errNotTheirs: the key at hand is not one of the recipients'.
var errNotTheirs = fmt.Errorf(
	"%w: the identity has no key of the recipients (a file may have several; --untried does without one)", settings.ErrKey)

// errOtherBytes: the key opens the stream, and other bytes come out than went in.
var errOtherBytes = errors.New("what was written reads back as other bytes; the store stays open")

// try opens a stream with the key and compares what comes out.
func try(path string, opt Options, sum hash.Hash) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in, err := opt.Sealer.Open(f, opt.Identity)
	if errors.Is(err, settings.ErrKey) {
		return errNotTheirs
	}
	if err != nil {
		return fmt.Errorf("the key does not open what was sealed for the recipients: %w", err)
	}
	back := sha256.New()
	if _, err = io.Copy(back, in); err == nil && string(back.Sum(nil)) != string(sum.Sum(nil)) {
		err = errOtherBytes
	}
	return err
}

// Unseal makes a sealed store open again. The caller has the lock of db, from odb.OpenSealed. After an error the
// store is sealed as before.
func Unseal(ctx context.Context, db *odb.DB, opt Options) (*Result, error) {
	res, err := unseal(ctx, db, opt)
	if err != nil {
		return nil, fmt.Errorf("unseal store %s: %w", db.Dir(), err)
	}
	return res, nil
}

func unseal(ctx context.Context, db *odb.DB, opt Options) (res *Result, err error) {
	if err := db.SweepPrivate(); err != nil {
		return nil, err
	}
	dir, remove, err := db.TempDir()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	err = read(ctx, db, opt, func(in io.Reader) error {
		res, err = unpack(in, dir, opt)
		return err
	})
	if err == nil {
		res.Sealed, err = sealedSize(db)
	}
	if err == nil {
		err = removeOpen(db.Dir())
	}
	if err == nil {
		err = moveUp(dir, db.Dir(), !opt.NoSync)
	}
	if err != nil {
		return nil, err
	}
	return res, commit(db, opt)
}

// commit removes the stream: the store is open from here on.
func commit(db *odb.DB, opt Options) error {
	path := db.PrivatePath(odb.SealedName)
	if err := os.Remove(path); err != nil {
		return err
	}
	if !opt.NoSync {
		if err := atomicfile.SyncDir(filepath.Dir(path)); err != nil {
			return err
		}
	}
	return db.MarkSealed(false)
}

// Check reads a sealed store with the key. It changes nothing and needs no lock.
func Check(ctx context.Context, db *odb.DB, opt Options) (res *Result, err error) {
	err = read(ctx, db, opt, func(in io.Reader) error {
		res, err = count(in)
		return err
	})
	if err == nil {
		res.Sealed, err = sealedSize(db)
	}
	if err != nil {
		return nil, fmt.Errorf("sealed store %s: %w", db.Dir(), err)
	}
	return res, nil
}

// sealedSize is the size of the one file of a sealed store.
func sealedSize(db *odb.DB) (int64, error) {
	info, err := os.Stat(db.PrivatePath(odb.SealedName))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// read hands out the archive of a sealed store. What f leaves is read as well: the end of the stream shows that it
// is whole.
func read(ctx context.Context, db *odb.DB, opt Options, f func(io.Reader) error) error {
	file, err := atomicfile.Open(db.PrivatePath(odb.SealedName))
	if err != nil {
		return err
	}
	defer file.Close()
	in, err := opt.Sealer.Open(&told{in: file, ctx: ctx, opt: opt}, opt.Identity)
	if err != nil {
		return err
	}
	if err = f(in); err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	return err
}

// told is a reader of the sealed file that ends with its context and says how far it is.
type told struct {
	in    io.Reader
	ctx   context.Context
	opt   Options
	bytes int64
}

// Read implements io.Reader.
func (t *told) Read(p []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := t.in.Read(p)
	t.bytes += int64(n)
	if t.opt.Progress != nil {
		t.opt.Progress("unseal", 0, 0, t.bytes)
	}
	return n, err
}
