package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

// Snapshot is the state of the disk as it was just read. Its objects are in batch;
// publish makes them part of the store.
type Snapshot struct {
	repo    *Capturer
	Tree    object.ID     // what is vouched for
	disk    object.ID     // what the stat cache holds; the same but for partial captures
	claims  *state.Claims // nil = everything
	Index   *index.Index
	rules   *ruleSource
	files   int
	from    object.ID  // what the stat cache held before; zero = nothing
	differs int        // paths that are not as they were in that, -1 = not known
	known   scan.Known // both: see scan.Walk
	lender  scan.Lender
	unread  []string         // see scan.Result
	read    int              // files that were not known
	bytes   int64            // of these
	changed bool             // since the last capture, be it only a time stamp
	dropped bool             // something that was there is not any more
	lost    []state.PathText // the files among that

	misjudged []string // see scan.Result

	tooLarge []state.Skipped // hinted paths above the limit

	reasons map[string]error // the system's answers for unreadable paths
	meta    *state.Metadata
	text    string                // of meta, encoded; "" = not yet
	before  map[string]*index.Dir // see scan.Result; of the last scan
	Batch   *odb.Batch

	recording bool // see captureOptions
	watched   bool // it looked at everything, but for what the watching vouches for
}

// Options narrows or widens a capture.
type Options struct {
	verify bool
	Scope  map[string]bool // all three: see scan.Walk
	Forget map[string]bool
	Names  map[string][]string
	fresh  map[string]bool // see watching.enter
	small  bool            // there is too little to look at for several goroutines

	Hints   []string // see TrackOptions; clean, from the root
	only    bool
	partial bool

	Index    *index.Index             // the stat cache as it was just saved; nil = to be loaded
	FineDirs func(device uint64) bool // see scan.Walk
	Known    scan.Known               // in place of what can be borrowed; may be nil

	// recording is set where the capture belongs to an operation that is done and has to
	// be recorded, however full the disk is.
	Recording bool
}

// Capture reads what differs from the last capture. The caller holds the lock, may
// add objects of its own to the batch, and then calls publish or discard.
func (r *Capturer) Capture(ctx context.Context, opt Options) (*Snapshot, error) {
	r.RefreshDenied()
	r.refreshRepository()
	x := r.Watch.begin(r)
	if x == nil {
		x = r.takeIndex(opt.Index)
	}
	rules, err := r.loadRules(x)
	if err != nil {
		return nil, err
	}
	c := &Snapshot{repo: r, Index: x, rules: rules, differs: -1, recording: opt.Recording,
		reasons: make(map[string]error), Batch: r.NewBatch(opt.Recording)}
	if root := x.Root(); root != nil {
		c.from = root.Tree
	}
	if err := c.look(ctx, opt); err != nil {
		c.Discard()
		err = r.explainLimit(ctx, err, x, rules)
		r.Fresh.note(err)
		return nil, fmt.Errorf("capture: %w", err)
	}
	if len(c.unread) > 0 && !opt.partial {
		return nil, c.giveUp(ctx)
	}
	return c, nil
}

// look reads the hinted paths and then, unless only they are wanted, everything.
func (c *Snapshot) look(ctx context.Context, opt Options) error {
	var err error
	var lender *lender
	if c.known = opt.Known; c.known == nil {
		if lender, err = c.repo.borrow(c.Index, c.rules); err != nil {
			return err
		}
	}
	if lender != nil {
		c.lender = lender.in
	}
	var seen []string
	if len(opt.Hints) > 0 {
		res, err := c.scan(ctx, opt, scan.NewHints(opt.Hints, state.RulesAbove(opt.Hints)...))
		if err != nil {
			return err
		}
		c.noteTooLarge(res, opt.Hints)
		early := state.NewClaims(state.PartialTime, state.UnreadSkipped(res.Unread), nil)
		var skipped []state.Skipped
		seen, skipped = c.repo.hinted(c.Index, slices.DeleteFunc(slices.Clone(opt.Hints), func(p string) bool { return !early.Covers(p) }))
		if opt.only {
			c.unread = res.Unread
			c.claims = state.NewClaims(state.PartialPaths, append(skipped, state.UnreadSkipped(res.Unread)...), seen)
		}
	}
	if !opt.only {
		if opt.Scope == nil && !opt.verify {
			if s := c.repo.Watch.scope(c.Index, c.rules); s != nil {
				opt.Scope, opt.Names, opt.fresh, opt.small = s.Dirs, s.Names, s.fresh, s.small()
			}
			c.watched = true
		}
		if lender != nil && !opt.verify {
			lender.look()
		}
		res, err := c.scan(ctx, opt, nil)
		if err != nil {
			return err
		}
		if c.files = res.Files; opt.Scope != nil {
			c.files = c.Index.Files()
		}
		if len(opt.Hints) == 0 { // else one path may count in both scans
			c.differs = res.Differs
		}
		c.rules.noteSize(res.Files)
		if c.unread = res.Unread; len(c.unread) > 0 {
			c.claims = state.NewClaims(state.PartialTime, state.UnreadSkipped(res.Unread), seen)
		}
		c.rules.aux.Ground = res.Ground
		c.rules.updateAux(c.Index, c.lost)
	}
	return c.settleClaims()
}

// noteTooLarge keeps the hinted paths that are too large. A look at everything passes over
// those that are ignored, and the caller has asked for them by name.
func (c *Snapshot) noteTooLarge(res *scan.Result, hints []string) {
	for _, s := range res.Skipped {
		if s.Reason == index.TooLarge && slices.Contains(hints, s.Path) {
			c.tooLarge = append(c.tooLarge, state.Skipped{Path: s.Path, Reason: s.Reason.String(), Size: s.Size})
		}
	}
}

// skipped lists what the capture leaves out: what its metadata tell, and what was asked for.
func (c *Snapshot) skipped() []state.Skipped {
	list := append([]state.Skipped{}, c.Metadata().Skipped...)
	for _, s := range c.tooLarge {
		if !slices.ContainsFunc(list, func(known state.Skipped) bool { return known.Path == s.Path }) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b state.Skipped) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// DiskState is what a plan needs of a capture.
func (c *Snapshot) DiskState() *history.DiskState {
	return &history.DiskState{State: state.State{Tree: c.Tree, Meta: c.Metadata()}, Index: c.Index, Entries: c.entries}
}

// entries gives those of a tree that the stat cache has, or had before the capture: going
// back to what was captured last is common, and that is not read from the store.
func (c *Snapshot) entries(dir string, tree object.ID) []object.Entry {
	for _, d := range []*index.Dir{c.Index.Dirs[dir], c.before[dir]} {
		if d != nil && d.Tree == tree {
			return scan.TreeEntries(d)
		}
	}
	return nil
}

// settleClaims works out the tree that a partial capture vouches for.
func (c *Snapshot) settleClaims() (err error) {
	c.Tree = c.disk
	if c.claims == nil {
		return nil
	}
	c.rules.incomplete(c.dropped)
	if c.claims.Kind == state.PartialPaths {
		c.files = 0
		for path := range c.claims.Seen {
			c.files += state.CountFiles(c.Index, path)
		}
	}
	c.Tree, err = claimedTree(c.claims, c.Batch, c.Index)
	return err
}

func (c *Snapshot) scan(ctx context.Context, opt Options, hints *scan.Hints) (*scan.Result, error) {
	s := c.repo.newScan(c.Index, c.rules, c.Batch, opt)
	s.Hints, s.Known, s.Lender = hints, c.known, c.lender
	s.Enter = c.repo.Watch.enter(c.repo, c.Index, opt.fresh)
	s.OnGrowth = c.repo.onGrowth(ctx, c.Index, c.rules, s)
	res, err := s.Run(ctx)
	if err != nil {
		return nil, err
	}
	c.repo.Log.Debug("scanned", "files", res.Files, "read", res.Read, "listed", res.Listed)
	c.disk, c.before = res.Tree, res.Before
	c.changed, c.dropped = c.changed || res.Changed, c.dropped || res.Dropped
	if res.Dropped && c.rules.user != nil && c.rules.user.full == nil {
		c.lost = append(c.lost, droppedOf(res.Before, c.Index)...)
	}
	c.misjudged = append(c.misjudged, res.Misjudged...)
	c.rules.noteTexts(res, opt.Scope == nil && hints == nil && len(res.Unread) == 0)
	c.read += res.Read
	c.bytes += res.Bytes
	for _, s := range res.Skipped {
		if s.Err != nil {
			c.reasons[s.Path] = s.Err
		}
	}
	return res, nil
}

// giveUp keeps what was read for the next capture. The time is over, but without this
// every attempt would run out of it at the same place.
func (c *Snapshot) giveUp(ctx context.Context) error {
	defer c.Discard()
	if err := c.Publish(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	return fmt.Errorf("%w: read %s (%s), left %s unread; what was read is kept for the next attempt", state.ErrDeadline,
		wording.Count(c.read, "file"), wording.Size(c.bytes), wording.Count(len(c.unread), "path"))
}

// Discard drops what was not published.
func (c *Snapshot) Discard() { c.Batch.Discard() }

// Publish makes a capture part of the store, each step harmless when the process
// dies after it:
//
//  1. the new objects, durably, as one pack
//  2. the refs that keep alive what the stat cache will name, and then those given
//  3. the stat cache
//
// Where refs are given the capture is recorded with them, so that a stat cache which
// cannot be saved then is no failure: it is as it was, and the next capture reads more.
func (c *Snapshot) Publish(ctx context.Context, refs ...odb.RefUpdate) error {
	if err := c.commit(refs...); err != nil {
		return err
	}
	err := c.repo.dropHeld(c.rules)
	if err == nil {
		err = c.repo.saveIndex(ctx, c.Index, c.aux())
	}
	if err != nil && len(refs) == 0 {
		return err
	}
	if err != nil {
		c.repo.Log.Warn("stat cache not saved", "error", err)
	}
	c.repo.Watch.commit(c.repo, c, c.watched && len(c.unread) == 0)
	c.noteSize()
	return nil
}

// noteSize has a Repo that stays open know that nobody but itself has written packs.
func (c *Snapshot) noteSize() {
	if c.repo.Opt.Budget > 0 {
		c.repo.measured.keep(c.repo.DB.PacksChanged())
	}
}

// commit is the first two steps of publish.
func (c *Snapshot) commit(refs ...odb.RefUpdate) error {
	keep := append(c.rules.heldRef(), c.repo.diskRef(c.disk)...)
	if err := c.Batch.Commit(append(keep, refs...)...); err != nil {
		return fmt.Errorf("capture: %w", state.AsNoSpace(err))
	}
	return nil
}

// PublishFor publishes the state before an operation. That brings the stat cache up to
// date once more when it is recorded, so until then the one on the disk stays as it is: the
// process may die anyway between the second step of publish and the third. Whoever calls
// this calls saveUnlessSaved in the end.
func (c *Snapshot) PublishFor(ctx context.Context) error {
	if c.repo.Watch != nil || c.rules.leavesIncomplete() {
		return c.Publish(ctx)
	}
	if err := c.commit(); err != nil {
		return err
	}
	c.Index.SetPrivate(c.repo.DB.KnownPacks(), c.aux())
	c.noteSize()
	return nil
}

// SaveUnlessSaved saves the stat cache if no operation came about that did, or if that
// failed.
func (c *Snapshot) SaveUnlessSaved(ctx context.Context) {
	if !c.Index.Dirty() {
		c.repo.keepIndex(c.Index)
		return
	}
	if err := c.repo.saveIndex(context.WithoutCancel(ctx), c.Index, c.Index.Aux); err != nil {
		c.repo.Log.Warn("stat cache not saved", "error", err)
	}
	c.noteSize()
}

func (r *Capturer) newScan(x *index.Index, rules *ruleSource, batch *odb.Batch, opt Options) *scan.Walk {
	inside := r.storesInside()
	walk := &scan.Walk{
		Root: r.Root, MaxFileSize: r.maxFileSize(), Index: x,
		Rules: rules.chain, Prefix: string(rules.context.Prefix), FoldCase: rules.context.FoldCase,
		Include: rules.include, MaxIncluded: r.maxIncludeSize(), Held: rules.held, Exclude: inside,
		Never: r.Never.Load().Chain, NeverIsNew: rules.before.Never != r.NeverID(), MaxFiles: r.maxFiles(rules.before), MaxBytes: r.maxScanBytes(),
		Conditions: rules.conditions(r, inside), Ground: rules.ground(),
		Scope: opt.Scope, Names: opt.Names, Forget: opt.Forget, Sink: batch, FineDirs: opt.FineDirs, Verify: opt.verify, Workers: r.Opt.Workers,
	}
	if opt.small {
		walk.Workers = 1
	}
	if r.Opt.Progress != nil {
		walk.Progress = func(n scan.Counts) {
			r.Opt.Progress(settings.Progress{Phase: "scan", Files: n.Files, Bytes: n.Bytes})
		}
	}
	return walk
}

func (r *Capturer) maxFileSize() int64 {
	switch {
	case r.Opt.MaxFileSize == 0:
		return settings.DefaultMaxFileSize
	case r.Opt.MaxFileSize < 0:
		return 0
	}
	return r.Opt.MaxFileSize
}

func (r *Capturer) maxIncludeSize() int64 {
	switch {
	case r.Opt.MaxIncludeSize == 0:
		return settings.DefaultMaxIncludeSize
	case r.Opt.MaxIncludeSize < 0:
		return 0
	}
	return r.Opt.MaxIncludeSize
}

// storesInside lists the data directory and the store where they lie below the root.
func (r *Capturer) storesInside() []string {
	var inside []string
	for _, real := range r.knownStoreDirs() {
		if history.Within(real, r.Root) && real != r.Root {
			if rel, err := filepath.Rel(r.Root, real); err == nil {
				inside = append(inside, filepath.ToSlash(rel))
			}
		}
	}
	return slices.Compact(inside)
}

// knownStoreDirs is storeDirs, asked once by a Repo that watches: as long as it has its
// store open, that does not move.
func (r *Capturer) knownStoreDirs() []string {
	if r.Watch == nil {
		return r.storeDirs()
	}
	if known := r.Watch.stores.Load(); known != nil {
		return *known
	}
	dirs := r.storeDirs()
	if len(dirs) == 2 {
		r.Watch.stores.Store(&dirs)
	}
	return dirs
}

// storeDirs returns the real paths of the data directory and the store. What leads to
// the first is resolved once for both.
func (r *Capturer) storeDirs() (dirs []string) {
	real, err := realpath.Of(r.Opt.DataDir)
	if err != nil {
		return nil
	}
	dirs = append(dirs, real)
	store := state.StorePath(real, r.Root)
	for _, dir := range []string{filepath.Dir(store), store} {
		if info, err := os.Lstat(dir); err != nil || info.Mode().Type() != fs.ModeDir {
			if store, err = realpath.Of(store); err != nil {
				return dirs
			}
			break
		}
	}
	return append(dirs, store)
}

func (r *Capturer) IndexFile() index.File {
	return index.File{Base: r.DB.PrivatePath("index"), Delta: r.DB.PrivatePath("index.delta")}
}

// loadIndex returns the stat cache, or an empty one where it cannot be trusted: it
// is damaged, or packs that its ids may live in were taken away.
func (r *Capturer) loadIndex() *index.Index {
	x, err := index.Load(r.IndexFile())
	if err != nil {
		r.Log.Warn("stat cache dropped", "error", err)
		return r.FreshIndex()
	}
	return r.unlessPacksGone(x)
}

// FreshIndex removes the files, so that a crash before the next save cannot bring
// the distrusted cache back.
func (r *Capturer) FreshIndex() *index.Index {
	f := r.IndexFile()
	for _, path := range []string{f.Base, f.Delta} {
		if err := r.DB.ClearPrivate(filepath.Base(path)); err != nil {
			r.Log.Warn("stat cache not dropped", "error", err)
		}
		os.Remove(path)
	}
	return index.New()
}

// patience is how many times as many packs as Fold puts together there may be before a
// track of a Repo that watches folds them. With fewer than some 40 the redo log, which the
// fold empties, has room.
const patience = 4

func (r *Capturer) saveIndex(ctx context.Context, x *index.Index, aux []byte) error {
	if x.Dirty() && (r.Watch == nil || r.DB.Crowded(patience)) { // else see watchidle.go
		if _, err := r.DB.Fold(ctx); err != nil && ctx.Err() == nil && !state.IsNoSpace(err) {
			return fmt.Errorf("fold packs: %w", err)
		}
	}
	x.SetPrivate(r.DB.KnownPacks(), aux)
	save := x.Save
	if r.Watch != nil {
		save = x.Append
	}
	if err := save(r.IndexFile()); err != nil {
		return fmt.Errorf("save the stat cache: %w", err)
	}
	r.keepIndex(x)
	return nil
}

// diskRef is what makes the captured tree reachable, if it is not.
func (r *Capturer) diskRef(tree object.ID) []odb.RefUpdate {
	id, err := r.DB.Ref(history.RefDisk)
	if err == nil && id == tree {
		return nil
	}
	if err != nil && !errors.Is(err, odb.ErrNotFound) {
		r.Log.Warn("ref replaced", "ref", history.RefDisk, "error", err)
	}
	return []odb.RefUpdate{{Name: history.RefDisk, ID: tree}}
}
