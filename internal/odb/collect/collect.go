package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/reach"
)

// The conditions under which Run ends early.
var (
	ErrNoSpace = errors.New("no space left for cleaning up")
	ErrBusy    = errors.New("store is being cleaned up by another process")
)

// Options says what Run keeps and how far it goes. The zero value keeps what refs, HEAD and
// journals lead to, and copies only where that pays.
type Options struct {
	Roots []object.ID // kept with everything that they lead to; an absent root is no error

	// Thorough drops every object that is not kept, at any cost of copying. Otherwise a
	// pack with little garbage stays as it is. No file of the store has the bytes of the
	// dropped objects afterwards; the file system may still have them in unused blocks.
	// Borrowed packs and loose objects go as well, which otherwise stay as long as the lender has
	// them. The vault may get the loose ones, see Purge.
	Thorough bool

	// Purge is for objects that may not stay anywhere: loose ones that go are not given to the
	// vault. It takes from the user's repository what it still needs.
	Purge bool

	// DryRun changes nothing. WithoutRef selects refs that count as deleted. The parents of
	// the commits in Cut do not count, as those of the commits that DB.Shallow lists. Both
	// are for dry runs only.
	DryRun     bool
	WithoutRef func(name string) bool
	Cut        []object.ID

	Reserve int64                 // bytes of the file system that stay free
	Free    func() (int64, error) // the bytes that are free; nil asks the system

	// CopyAtOnce is for a caller that waits for room: the largest size in bytes of a pack
	// that is made out of several. A pack without garbage stays as it is then, unless there
	// are very many. 0 is for a caller that does not wait.
	CopyAtOnce int64

	// Pack, if not nil, makes delta-compressed packs where that pays. Without it, and
	// when it fails, entries are copied as they are.
	Pack PackFunc

	// Progress, if not nil, is called at intervals with what is under way: mark or copy, how
	// many objects of how many are done, and the bytes that are written.
	Progress func(phase string, done, total int, bytes int64)

	// BeforeRemove is called with the lock held, when the new packs are on the disk and
	// before the old ones go. It gets the sorted names of the packs that go, and of the
	// packs that will be left. An error keeps them all. A stat cache that remembers the
	// names of packs is brought up to date here.
	BeforeRemove func(gone, left []string) error
}

// PackFunc makes one pack of objects of the store, <dir>/pack-<hex>.pack and its index, in an
// empty directory. It reads one line for each object: the id, a blank and the name of a file,
// which tells what the object may resemble. The objects take about size bytes now. See
// PackObjects of package git.
type PackFunc func(ctx context.Context, dir string, objects io.Reader, size int64) error

// Result says what Run found and did.
type Result struct {
	Live, Garbage int   // objects that are kept, and objects that were unreachable when they were counted
	Dropped       int   // objects that are gone; an object that was there twice counts twice
	Freed         int64 // bytes by which the store has shrunk, leftovers of dead writers included; of a dry run an estimate without them
	Size          int64 // bytes of packs and loose objects now
	Packs         int   // packs now
	Peak          int64 // most bytes of temporary files at one time

	Added, Removed []string // names of packs

	// Lost are the first thousand objects that are needed and cannot be read. Blocked is why
	// unmarked objects may be needed: a commit or tree is lost, a ref is torn, or the store
	// has no ref. Nothing was dropped then.
	Lost    []reach.Loss
	Blocked error

	// Unpacked is why Pack failed. The work was done without it.
	Unpacked error

	// Incomplete: there is more to do, because the store was too busy. The caller runs
	// another collection later.
	Incomplete bool
}

// maxLost bounds Result.Lost.
const maxLost = 1000

// Run drops what nothing leads to, and makes few packs out of many. Call it without the lock of
// the store: it takes the lock itself, for moments. A damaged pack stays as it is. Memory is some
// 80 bytes for each object of the packs that become one, and 20 for each of the others. With an
// error the result is set, too.
func Run(ctx context.Context, db *odb.DB, opt Options) (*Result, error) {
	g := &collector{db: db, opt: opt, out: &Result{}}
	if opt.Free == nil {
		g.opt.Free = db.FreeSpace
	}
	err := g.alone(ctx, g.collect)
	if err != nil {
		err = fmt.Errorf("clean up store %s: %w", db.Dir(), err)
	}
	return g.out, err
}

// collector is one run of Run.
type collector struct {
	db     *odb.DB
	opt    Options
	marker *reach.Marker
	out    *Result

	packs   []*pack.Pack // of the census
	loose   []object.ID
	damaged map[*pack.Pack]bool // packs that stay as they are
	short   error               // there was no room for a job
	tight   bool                // there was none for a job of several packs: each pack with garbage is a job of its own
}

// lockName is the private file that carries the kernel lock of a collection.
const lockName = "collect"

// kernelLock returns the lock of collections, unlocked.
func kernelLock(db *odb.DB) *flock.Flock {
	return flock.New(db.PrivatePath(lockName), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
}

// alone keeps out other collections by a kernel lock, and sweeps before f begins.
func (g *collector) alone(ctx context.Context, f func(context.Context) error) (err error) {
	if g.opt.DryRun {
		return f(ctx)
	}
	if err := g.db.ClearPrivate(lockName); err != nil {
		return err
	}
	fl := kernelLock(g.db)
	ok, err := fl.TryLock()
	if err != nil {
		return err
	}
	if !ok {
		return errors.Join(ErrBusy, fl.Close())
	}
	defer func() { err = errors.Join(err, fl.Close()) }()
	if err := g.locked(ctx, g.sweep); err != nil {
		return err
	}
	return f(ctx)
}

// sweep removes the leftovers of dead writers and counts their bytes. Bytes that other processes
// write meanwhile reduce the number.
func (g *collector) sweep() error {
	before, _, err := odb.Measure(g.db.Dir())
	if err != nil {
		return err
	}
	if err := errors.Join(g.db.Sweep(), sweepGit(g.db)); err != nil {
		return err
	}
	after, _, err := odb.Measure(g.db.Dir())
	g.out.Freed += max(0, before-after)
	return err
}

// Wait waits until no collection works in the store, or ctx ends.
func Wait(ctx context.Context, db *odb.DB) error {
	fl := kernelLock(db)
	if _, err := fl.TryLockContext(ctx, pollEvery); err != nil {
		return fmt.Errorf("wait for the cleaning of store %s: %w", db.Dir(), errors.Join(err, fl.Close()))
	}
	return fl.Close()
}

// pollEvery is how often Wait tries the kernel lock. No system but Linux can wait for a lock and
// for a context at once.
const pollEvery = 5 * time.Millisecond

// locked runs f with the lock of the store held, then gives way to processes that wait for it.
func (g *collector) locked(ctx context.Context, f func() error) error {
	unlock, err := g.db.Lock(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(f(), unlock())
	g.db.GiveWay(ctx)
	return err
}

func (g *collector) collect(ctx context.Context) error {
	if err := g.mark(ctx); err != nil {
		return err
	}
	g.out.Live = g.marker.Marked
	g.out.Garbage = len(g.marker.IDs) - g.marker.Marked
	var err error
	switch {
	case g.marker.Blocked() != nil:
	case g.opt.DryRun:
		err = g.estimate()
	default:
		err = g.sweepGarbage(ctx)
	}
	g.out.Blocked = g.marker.Blocked()
	return errors.Join(err, g.measure())
}

// mark takes the census and marks the reachable objects, without the lock. Changes of other
// processes meanwhile are marked before anything is removed.
func (g *collector) mark(ctx context.Context) error {
	g.damaged = make(map[*pack.Pack]bool)
	var all *reach.Census
	var err error
	if all, g.packs, g.loose, err = reach.Objects(g.db); err != nil {
		return err
	}
	g.loose = slices.DeleteFunc(g.loose, g.lent)
	g.marker = reach.NewMarker(g.db, all)
	if g.opt.Pack != nil && !g.opt.DryRun {
		g.marker.RecordHints()
	}
	g.marker.Lost = func(l reach.Loss) {
		if len(g.out.Lost) < maxLost {
			g.out.Lost = append(g.out.Lost, l)
		}
	}
	if g.opt.Progress != nil {
		g.marker.Tell = func() { g.opt.Progress("mark", g.marker.Marked, len(g.marker.IDs), 0) }
	}
	if err := g.markRoots(); err != nil {
		return err
	}
	return g.marker.Run(ctx, nil)
}

// lent reports whether a loose object stays as it is: it is borrowed and takes no room because the
// lender still has it.
func (g *collector) lent(id object.ID) bool { return !g.opt.Thorough && g.db.SharedLoose(id) }

// markRoots marks the present roots. A store that has lost all its refs is likelier to be damaged
// than to be superfluous, so it blocks.
func (g *collector) markRoots() error {
	without, cut := g.opt.WithoutRef, g.opt.Cut
	if !g.opt.DryRun {
		without, cut = nil, nil
	}
	g.marker.CutAt(g.db, cut)
	named, err := g.marker.MarkRoots(g.db, without)
	if err != nil {
		return err
	}
	for _, id := range g.opt.Roots {
		g.marker.Root(id, false, "root")
	}
	if named+len(g.opt.Roots) == 0 && without == nil && g.db.HasHadRefs() {
		g.marker.Block(errors.New("no ref is left to tell what is needed"))
	}
	return nil
}

// errStale says that an object that was about to go is needed again.
var errStale = errors.New("needed again")

// maxRounds is how often the work is planned again because the store was busy.
const maxRounds = 4

func (g *collector) sweepGarbage(ctx context.Context) error {
	for range maxRounds {
		g.out.Incomplete, g.short = false, nil
		tight := g.tight
		err := g.round(ctx)
		if err != nil || g.marker.Blocked() != nil {
			return errors.Join(err, g.short)
		}
		if !g.out.Incomplete && g.tight == tight {
			break
		}
	}
	if err := g.db.FlushPacks(); err != nil {
		return err
	}
	return g.short
}

// round plans and does every job once. Jobs that turn out stale are left to the next round.
func (g *collector) round(ctx context.Context) error {
	jobs, err := g.plan()
	if err != nil {
		return err
	}
	for _, j := range jobs {
		err := g.do(ctx, j)
		var damage *copyError
		switch {
		case err == nil:
		case g.marker.Blocked() != nil:
			return nil
		case errors.Is(err, errStale):
			g.out.Incomplete = true
		case errors.As(err, &damage):
			g.damaged[damage.p] = true
			g.out.Incomplete = true
		case errors.Is(err, ErrNoSpace):
			g.short, g.tight = err, g.tight || j.divides()
		case atomicfile.IsFull(err):
			g.short, g.tight = fmt.Errorf("%w: %w", ErrNoSpace, err), g.tight || j.divides()
		default:
			return err
		}
	}
	return nil
}

func isFull(err error) bool {
	return errors.Is(err, ErrNoSpace) || atomicfile.IsFull(err)
}

// measure sets the size of the store in the result.
func (g *collector) measure() error {
	packs, err := g.db.Packs()
	if err != nil {
		return err
	}
	g.out.Packs, g.out.Size = len(packs), 0
	for _, p := range packs {
		g.out.Size += p.FileBytes()
	}
	loose, err := g.db.LooseObjects()
	for _, id := range loose {
		g.out.Size += g.db.Loose(id).Size()
	}
	return err
}
