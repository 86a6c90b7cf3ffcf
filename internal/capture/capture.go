package capture

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

// Snapshot is the state of the disk as a capture read it. Its new objects are in Batch. Publish
// adds them to the store.
type Snapshot struct {
	repo    *Capturer
	Tree    object.ID       // the tree that the capture vouches for
	disk    object.ID       // the tree of the stat cache; another one only for a partial capture
	covered *state.Coverage // nil = vouches for everything
	Index   *index.Index
	rules   *ruleSource
	files   int
	from    object.ID  // the tree of the stat cache before; zero = none
	differs int        // number of paths that differ from that tree, -1 = not known
	known   scan.Known // known and lender: see scan.Walk
	lender  scan.Lender
	unread  []string     // see scan.Result
	read    int          // number of files that were read
	bytes   int64        // of these files
	dropped bool         // a captured path is gone
	lost    []state.Path // the captured files that are gone

	misjudged []string // see scan.Result

	tooLarge []state.Skipped // hinted paths above the size limit

	reasons map[string]error // the system's errors for unreadable paths
	meta    *state.Metadata
	before  map[string]*index.Dir // see scan.Result; from the last scan
	Batch   *odb.Batch

	git       gitRecord
	nested    nestedSeen
	recording bool // see Options
	secrets   *secretSearch
	watched   bool        // the scan covered every path but those that the watcher vouches for
	part      bool        // it left such paths out
	linked    linkedFiles // that the scan saw
}

// Options narrows or widens a capture.
type Options struct {
	verify bool
	Scope  map[string]bool // Scope, Forget and Names: see scan.Walk; only with the last capture's stat cache
	Forget map[string]bool
	Names  map[string][]string
	Held   map[string]bool // files that are captured whatever the ignore rules say
	fresh  map[string]bool // see watching.enter
	small  bool            // so few paths that one goroutine is fastest

	Hints   []string // see TrackOptions; clean, from the root
	only    bool
	partial bool

	FineDirs func(device uint64) bool // see scan.Walk
	Known    scan.Known               // replaces borrowing; may be nil

	Purpose Purpose
}

// Capture reads the files that differ from the last capture. The caller may add objects to the
// batch, and then calls Publish or Discard.
func (r *Capturer) Capture(ctx context.Context, l *history.Locked, opt Options) (*Snapshot, error) {
	if err := r.RefreshDenied(); err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	r.RefreshRepository()
	r.noteDirectory()
	batch := r.NewBatch(opt.Purpose) // lists the packs
	x, before, remembered := r.recall(l, r.DB.KnownPacks())
	if !remembered {
		opt.Scope, opt.Names = nil, nil
	}
	r.Watch.start(r)
	rules, err := r.loadRules(x, before)
	if err != nil {
		batch.Discard()
		return nil, err
	}
	rules.forget(opt.Forget)
	rules.hold(opt.Held)
	c := &Snapshot{repo: r, Index: x, rules: rules, differs: -1, recording: opt.Purpose == ForRecord,
		reasons: make(map[string]error), Batch: batch}
	if root := x.Root(); root != nil {
		c.from = root.Tree
	}
	if c.secrets, err = r.searchSecrets(ctx, x, before); err == nil {
		err = c.scanDisk(ctx, opt)
	}
	if err != nil {
		c.Discard()
		err = r.explainLimit(ctx, err, x, rules)
		r.Fresh.note(err)
		return nil, fmt.Errorf("capture: %w", err)
	}
	if c.part && r.Watch.foundLinks(&c.linked) {
		c.Discard()
		return r.Capture(ctx, l, opt) // nothing is remembered, so it scans everything
	}
	c.secrets.record(x)
	c.rules.aux.Secrets = c.secrets.list
	described := c.beginDescription()
	c.recordGit(ctx)
	described()
	if len(c.unread) > 0 && !opt.partial {
		return nil, c.giveUp(ctx, l)
	}
	return c, nil
}

// scanDisk scans the hinted paths and then, unless only they are wanted, everything.
func (c *Snapshot) scanDisk(ctx context.Context, opt Options) error {
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
		if seen, err = c.scanHinted(ctx, opt); err != nil {
			return err
		}
	}
	if !opt.only {
		if err := c.scanAll(ctx, opt, lender, seen); err != nil {
			return err
		}
	}
	return c.setTree()
}

// scanHinted scans the hinted paths. seen are those that are captured now, or absent.
func (c *Snapshot) scanHinted(ctx context.Context, opt Options) (seen []string, err error) {
	res, err := c.scan(ctx, opt, scan.NewHints(opt.Hints, rulesAbove(opt.Hints)...))
	if err != nil {
		return nil, err
	}
	c.noteTooLarge(res, opt.Hints)
	early := coverage(state.ExtentTime, nil, res.Unread, nil)
	seen, skipped := c.repo.hinted(c.Index, slices.DeleteFunc(slices.Clone(opt.Hints), func(p string) bool { return !early.Covers(p) }))
	if opt.only {
		c.unread = res.Unread
		c.covered = coverage(state.ExtentPaths, skipped, res.Unread, seen)
	}
	return seen, nil
}

// scanAll scans the directories that may have changed: where a watcher knows them these, else all.
func (c *Snapshot) scanAll(ctx context.Context, opt Options, lender *lender, seen []string) error {
	if opt.Scope == nil && !opt.verify {
		if s := c.repo.Watch.scope(c.Index, c.rules); s != nil {
			opt.Scope, opt.Names, opt.fresh, opt.small = s.Dirs, s.Names, s.fresh, s.small()
			c.part = true
		}
		c.watched = true
	}
	if lender != nil && !opt.verify {
		loose, err := lender.borrowLoose()
		if err != nil {
			return err
		}
		c.repo.Log.Debug("loose objects borrowed", "count", loose)
	}
	res, err := c.scan(ctx, opt, nil)
	if err != nil {
		return err
	}
	if c.files = res.Files; opt.Scope != nil {
		c.files = c.Index.Files()
	}
	if len(opt.Hints) == 0 { // else a path may be counted in both scans
		c.differs = res.Differs
	}
	c.rules.noteSize(res.Files)
	if c.unread = res.Unread; len(c.unread) > 0 {
		c.covered = coverage(state.ExtentTime, nil, res.Unread, seen)
	}
	c.rules.aux.Ground = res.Ground
	if lender != nil && len(opt.Hints) == 0 { // else a file may be counted in both scans
		c.rules.user.allLent = res.Lent == lender.index.Len()
	}
	c.rules.updateAux(c.Index, c.lost)
	return nil
}

// noteTooLarge records the hinted paths that are too large. A scan of everything does not report
// those that are ignored, but the caller has named them.
func (c *Snapshot) noteTooLarge(res *scan.Result, hints []string) {
	for _, s := range res.Skipped {
		if s.Reason == index.TooLarge && slices.Contains(hints, s.Path) {
			c.tooLarge = append(c.tooLarge, state.Skipped{Path: state.Path(s.Path), Reason: s.Reason.String(), Size: s.Size})
		}
	}
}

// skipped lists the paths that the capture leaves out: those in its metadata, and hinted paths that
// are too large.
func (c *Snapshot) skipped() []state.Skipped {
	list := append([]state.Skipped{}, c.Metadata().Skipped...)
	for _, s := range c.tooLarge {
		if !slices.ContainsFunc(list, func(known state.Skipped) bool { return known.Path == s.Path }) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b state.Skipped) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// State returns the state that the capture vouches for.
func (c *Snapshot) State() state.State { return state.State{Tree: c.Tree, Meta: c.Metadata()} }

// DiskState returns the capture as a plan needs it.
func (c *Snapshot) DiskState() *history.DiskState {
	return &history.DiskState{State: c.State(), Index: c.Index, Entries: c.entries}
}

// entries returns those of a tree that the stat cache has or had before the capture. Going back to
// the last capture is common, and its trees are then not read from the store.
func (c *Snapshot) entries(dir string, tree object.ID) []object.Entry {
	for _, d := range []*index.Dir{c.Index.Dirs[dir], c.before[dir]} {
		if d != nil && d.Tree == tree {
			return scan.TreeEntries(d)
		}
	}
	return nil
}

// setTree sets the tree of the covered paths.
func (c *Snapshot) setTree() (err error) {
	c.Tree = c.disk
	if c.covered == nil {
		return nil
	}
	c.rules.incomplete(c.dropped)
	if c.covered.Kind == state.ExtentPaths {
		c.files = 0
		for path := range c.covered.Seen {
			c.files += countFiles(c.Index, path)
		}
	}
	c.Tree, err = c.coveredTree()
	return err
}

func (c *Snapshot) scan(ctx context.Context, opt Options, hints *scan.Hints) (*scan.Result, error) {
	s := c.repo.newScan(c.Index, c.rules, c.Batch, opt)
	s.Hints, s.Known, s.Lender = hints, c.known, c.lender
	s.OnGit = c.nested.add
	if c.secrets.rules != nil {
		s.Inspector = c.secrets
	}
	s.Enter = c.repo.Watch.enter(c.repo, c.Index, opt.fresh)
	if c.repo.Watch != nil {
		s.OnLinked = c.linked.add
	}
	s.OnGrowth = c.repo.onGrowth(ctx, c.Index, c.rules, s)
	if err := state.CheckRoot(c.repo.Root); err != nil {
		return nil, err
	}
	res, err := s.Run(ctx)
	if err != nil {
		return nil, err
	}
	c.repo.Log.Debug("scanned", "files", res.Files, "read", res.Read, "listed", res.Listed)
	c.disk, c.before = res.Tree, res.Before
	c.dropped = c.dropped || res.Dropped
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

func (r *Capturer) newScan(x *index.Index, rules *ruleSource, batch *odb.Batch, opt Options) *scan.Walk {
	inside := append(r.storesInside(), r.gitInside()...)
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
		before := x.KnownFiles()
		walk.Progress = func(n scan.Counts) {
			r.Opt.Progress(settings.Progress{Phase: "scan", Files: n.Files, Total: before, Bytes: n.Bytes})
		}
	}
	return walk
}

func (r *Capturer) maxFileSize() int64 {
	return limit(r.Opt.MaxFileSize, settings.DefaultMaxFileSize)
}

func (r *Capturer) maxIncludeSize() int64 {
	return limit(r.Opt.MaxIncludeSize, settings.DefaultMaxIncludeSize)
}

// storesInside lists the data directory and the store if they lie below the root.
func (r *Capturer) storesInside() (inside []string) {
	for _, dir := range []string{r.Opt.DataDir, r.DB.Dir()} {
		real, err := realpath.Of(dir)
		if err != nil || real == r.Root || !realpath.Within(real, r.Root) {
			continue
		}
		if rel, err := filepath.Rel(r.Root, real); err == nil {
			inside = append(inside, filepath.ToSlash(rel))
		}
	}
	return inside
}
