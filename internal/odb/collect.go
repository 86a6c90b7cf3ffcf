package odb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// The conditions under which Collect ends early. The store is sound, and what was
// done so far stays done.
var (
	ErrNoSpace    = errors.New("no space left for cleaning up")
	ErrCollecting = errors.New("store is being cleaned up by somebody else")
)

// Collection says what Collect keeps and how far it goes. The zero value keeps what
// refs, HEAD and journals lead to, and does what pays.
type Collection struct {
	Roots []object.ID // kept with all that they lead to; one that is absent is no error

	// Thorough drops every object that is not kept, however much has to be copied
	// for it. Otherwise packs with little garbage stay as they are. What Thorough has
	// dropped is no longer in any file of the store; the file system may still have
	// the bytes in blocks that it has not used again. Borrowed packs
	// go, too, which otherwise stay as long as the lender has them; packs with a .keep
	// file of anybody else's are never touched.
	Thorough bool

	// DryRun changes nothing. WithoutRef names refs that are to count as deleted, Cut
	// commits whose parents are not to count, beside those that DB.Shallow lists and
	// that never count; both are for dry runs only.
	DryRun     bool
	WithoutRef func(name string) bool
	Cut        []object.ID

	Reserve int64                 // bytes that have to stay free on the file system
	Free    func() (int64, error) // bytes that are free; nil asks the system

	// CopyAtOnce is for a Collect that makes room in a hurry: the size in bytes of a pack
	// that is made out of several, at most. Packs without garbage stay as they are then,
	// unless there are very many. 0 = no hurry.
	CopyAtOnce int64

	// Pack, if not nil, makes delta-compressed packs where that pays. Without it, and
	// when it fails, entries are copied as they are.
	Pack PackFunc

	// BeforeRemove is called with the lock held, when the packs that take the place
	// of others are on the disk, and before the others go: with the names, sorted, of
	// those that go and of all that will be left. An error keeps them. It is where a stat
	// cache that remembers the names of packs is brought up to date.
	BeforeRemove func(gone, left []string) error
}

// PackFunc makes one pack in an empty directory, <dir>/pack-<hex>.pack and its
// index, of objects of the store. They come as lines of an id and, after a blank, the
// name of a file, which tells what may resemble what. Now they take about size bytes.
// See PackObjects of package git.
type PackFunc func(ctx context.Context, dir string, objects io.Reader, size int64) error

// Collected says what Collect found and did.
type Collected struct {
	Live, Garbage int   // objects that are kept; that nothing led to when they were counted
	Dropped       int   // objects that are gone, those counted twice that were there twice
	Freed         int64 // bytes that packs, loose objects and what dead writers left have shrunk by; of a dry run, an estimate without the last
	Size          int64 // bytes of packs and loose objects now
	Packs         int   // packs now
	Peak          int64 // bytes of temporary files, at most

	Added, Removed []string // names of packs

	// Lost are objects that are needed and cannot be read, the first thousand. Where a
	// commit or tree is among them, or a ref is torn, nobody knows what they lead to:
	// Blocked says so, and nothing has been dropped. The same is true of a store
	// without any ref.
	Lost    []Fault
	Blocked error

	// Unpacked is why Pack failed; the work was done without it.
	Unpacked error

	// Incomplete: there is more to do, because the store was too busy. Collect again,
	// at leisure.
	Incomplete bool
}

const maxLost = 1000

// Collect drops what nothing leads to any more, and makes few packs out of many.
// Call it without the lock: it takes the lock itself, for moments, and works beside
// those who write. One of them that comes to refer to an object that was about to
// go keeps it. Damaged packs stay as they are. Memory is some 80 bytes for each object
// of the packs that become one, and 20 for each of the others.
//
// Only one Collect is at work in a store at a time: ErrCollecting. When ctx ends or
// ErrNoSpace is returned the store is sound, and both results are set: what was
// done stays done.
func (db *DB) Collect(ctx context.Context, c Collection) (*Collected, error) {
	g := &collector{db: db, c: c, out: &Collected{}}
	if c.Free == nil {
		g.c.Free = func() (int64, error) { return freeSpace(db.dir) }
	}
	err := g.alone(ctx, g.collect)
	if err != nil {
		err = fmt.Errorf("clean up store %s: %w", db.dir, err)
	}
	return g.out, err
}

// collector is one run of Collect.
type collector struct {
	db  *DB
	c   Collection
	m   *marker
	out *Collected

	packs []*pack.Pack // of the census
	loose []object.ID
	bad   map[*pack.Pack]bool // packs to be left alone
	tight error               // there was no room for something
}

// alone keeps out other collectors by a kernel lock, and sweeps before f begins.
func (g *collector) alone(ctx context.Context, f func(context.Context) error) (err error) {
	if g.c.DryRun {
		return f(ctx)
	}
	if err := g.db.clearWay(g.db.path(collectFile)); err != nil {
		return err
	}
	fl := flock.New(g.db.path(collectFile), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	ok, err := fl.TryLock()
	if err != nil {
		return err
	}
	if !ok {
		return errors.Join(ErrCollecting, fl.Close())
	}
	defer func() { err = errors.Join(err, fl.Close()) }()
	if err := g.locked(ctx, g.sweep); err != nil {
		return err
	}
	return f(ctx)
}

// sweep removes what dead writers left behind, and counts it. What others write meanwhile
// counts against it.
func (g *collector) sweep() error {
	before, _, err := Measure(g.db.dir)
	if err != nil {
		return err
	}
	if err := errors.Join(g.db.Sweep(), g.db.sweepGit()); err != nil {
		return err
	}
	after, _, err := Measure(g.db.dir)
	g.out.Freed += max(0, before-after)
	return err
}

// WaitCollected waits until no Collect is at work in the store, or ctx ends.
func (db *DB) WaitCollected(ctx context.Context) error {
	fl := flock.New(db.path(collectFile), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if _, err := fl.TryLockContext(ctx, collectPoll); err != nil {
		return fmt.Errorf("wait for the cleaning of store %s: %w", db.dir, errors.Join(err, fl.Close()))
	}
	return fl.Close()
}

// collectPoll is how often a waiting process looks whether a Collect has ended. No system
// but Linux can wait for a lock and for a context at once.
const collectPoll = 5 * time.Millisecond

// locked runs f with the lock held, then lets those go first who wait.
func (g *collector) locked(ctx context.Context, f func() error) error {
	unlock, err := g.db.Lock(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(f(), unlock())
	g.db.giveWay(ctx)
	return err
}

func (g *collector) collect(ctx context.Context) error {
	if err := g.mark(ctx); err != nil {
		return err
	}
	g.out.Live = g.m.marked
	g.out.Garbage = len(g.m.ids) - g.m.marked
	var err error
	switch {
	case g.m.blocked != nil:
	case g.c.DryRun:
		err = g.estimate()
	default:
		err = g.sweepGarbage(ctx)
	}
	g.out.Blocked = g.m.blocked
	return errors.Join(err, g.measure())
}

// mark takes the census and marks what is reachable, without the lock: whatever
// changes meanwhile is made up for before anything is removed.
func (g *collector) mark(ctx context.Context) error {
	if err := g.db.refresh(true); err != nil {
		return err
	}
	g.packs, g.bad = g.db.packs.Load().packs, make(map[*pack.Pack]bool)
	var err error
	if g.loose, err = g.db.allLoose(); err != nil {
		return err
	}
	all, err := newCensus(g.packs, g.loose)
	if err != nil {
		return err
	}
	g.m = newMarker(g.db, all)
	if g.c.Pack != nil && !g.c.DryRun {
		g.m.hints = newHints(len(all.ids))
	}
	g.m.lost = func(f Fault) {
		if len(g.out.Lost) < maxLost {
			g.out.Lost = append(g.out.Lost, f)
		}
	}
	if err := g.markMore(); err != nil {
		return err
	}
	return g.m.run(ctx, nil)
}

// markMore marks what is named by now. A store in which nothing is named any more is
// likelier to be damaged than to be superfluous.
func (g *collector) markMore() error {
	without, cut := g.c.WithoutRef, g.c.Cut
	if !g.c.DryRun {
		without, cut = nil, nil
	}
	g.m.setCut(cut)
	named, err := g.m.markRoots(without)
	if err != nil {
		return err
	}
	for _, id := range g.c.Roots {
		g.m.root(id, false, "root")
	}
	if named+len(g.c.Roots) == 0 && without == nil && g.db.hasHadRefs() {
		g.m.block(errors.New("no ref is left to tell what is needed"))
	}
	return nil
}

// hasHadRefs reports whether a ref was ever set: refs leave their directories behind, and
// the stat cache is saved after the first one.
func (db *DB) hasHadRefs() bool {
	if !fileMissing(db.path("packed-refs")) || !fileMissing(db.PrivatePath("index")) {
		return true
	}
	for _, dir := range []string{"cairn", "heads", "tags"} {
		if names, err := readNames(db.path("refs", dir)); err != nil || len(names) > 0 {
			return true
		}
	}
	return false
}

// errStale says that something that was about to go is needed after all.
var errStale = errors.New("needed again")

// maxRounds is how often the work is planned anew because the store was busy.
const maxRounds = 4

func (g *collector) sweepGarbage(ctx context.Context) error {
	for range maxRounds {
		g.out.Incomplete, g.tight = false, nil
		err := g.round(ctx)
		if err != nil || g.m.blocked != nil {
			return errors.Join(err, g.tight)
		}
		if !g.out.Incomplete {
			break
		}
	}
	if err := g.flush(); err != nil {
		return err
	}
	return g.tight
}

// round does everything once. What turns out to be stale is left to the next.
func (g *collector) round(ctx context.Context) error {
	work, err := g.plan()
	if err != nil {
		return err
	}
	for _, s := range work {
		err := g.carryOut(ctx, s)
		var damage *copyError
		switch {
		case err == nil:
		case g.m.blocked != nil:
			return nil
		case errors.Is(err, errStale):
			g.out.Incomplete = true
		case errors.As(err, &damage):
			g.bad[damage.p] = true
			g.out.Incomplete = true
		case isFull(err):
			g.tight = fmt.Errorf("%w: %w", ErrNoSpace, err)
		default:
			return err
		}
	}
	return nil
}

func isFull(err error) bool {
	return errors.Is(err, ErrNoSpace) || atomicfile.IsFull(err)
}

// flush makes removals durable: what was dropped does not come back with the power.
func (g *collector) flush() error {
	return g.db.syncDirs(g.db.path(packDir))
}

// measure says how large the store is now.
func (g *collector) measure() error {
	if err := g.db.refresh(true); err != nil {
		return err
	}
	g.out.Packs, g.out.Size = 0, 0
	for _, p := range g.db.packs.Load().packs {
		g.out.Packs++
		g.out.Size += packBytes(p)
	}
	loose, err := g.db.allLoose()
	for _, id := range loose {
		g.out.Size += fileSize(g.db.loose(id).path)
	}
	return err
}

// packBytes is the size of the files of a pack.
func packBytes(p *pack.Pack) int64 { return fileSize(p.Stem+pack.Ext) + fileSize(p.Stem+pack.IndexExt) }

func fileSize(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
