package copies

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// Copier makes copies of the states of one root.
type Copier struct {
	*capture.Capturer

	Unseal func(dir string) error // opens the sealed store of a fork
}

// CheckoutOptions controls a checkout.
type CheckoutOptions struct {
	// WithIgnored brings files of the live directory that no capture holds: ignored ones, and those
	// that a capture leaves out for their size. Ignored limits that to files that match one of these
	// patterns, or lie in a directory that does; the patterns are those of .gitignore.
	WithIgnored bool
	Ignored     []string

	DryRun bool // only count

	// Progress, if not nil, is called in the place of Options.Progress, never concurrently.
	Progress func(settings.Progress)
}

// CheckoutResult says what a checkout made.
type CheckoutResult struct {
	Dir        state.Path `json:"dir" doc:"Absolute path of the new directory."`
	Checkpoint string     `json:"checkpoint"`
	Hash       string     `json:"hash" doc:"Of the tree."`
	Files      int        `json:"files" doc:"Files and symlinks of the checkpoint."`
	Bytes      int64      `json:"bytes"`
	Ignored    Amount     `json:"ignored,omitzero" doc:"What the live directory ignores, and the copy has."`

	// The ways that the files came there. A dry run counts as Live what it would clone or copy.
	Cloned  Amount `json:"cloned,omitzero" doc:"Files that share their blocks with the live files."`
	Copied  Amount `json:"copied,omitzero" doc:"Files copied from the live files."`
	Written Amount `json:"written,omitzero" doc:"Files out of the store, and all symlinks."`
	Live    Amount `json:"live,omitzero" doc:"Of a plan: files to be cloned or copied from the live files."`

	LeftOut   []state.PathReason `json:"leftOut" doc:"Paths that were there and that the checkpoint does not hold."`
	Conflicts []state.PathReason `json:"conflicts" doc:"Paths that the new directory should have and lacks."`
	DryRun    bool               `json:"dryRun,omitempty"`
}

// Amount is a number of files and their bytes.
type Amount struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

func (a *Amount) add(bytes int64) { a.Files, a.Bytes = a.Files+1, a.Bytes+bytes }

// Complete reports whether the new directory has every path of the checkpoint.
func (r *CheckoutResult) Complete() bool { return len(r.Conflicts) == 0 }

// MarshalJSON implements json.Marshaler: lists are never null.
func (r CheckoutResult) MarshalJSON() ([]byte, error) {
	type plain CheckoutResult
	r.LeftOut, r.Conflicts = append([]state.PathReason{}, r.LeftOut...), append([]state.PathReason{}, r.Conflicts...)
	return json.Marshal(plain(r))
}

// Checkout makes a directory with the exact state of a checkpoint: contents, kinds, permission bits
// and empty directories. Nothing or an empty directory may be at dir, outside of the root or where
// captures leave it out; else the error wraps ErrPlace. If the process dies, dir is as before or whole.
//
// A file whose live counterpart still has the wanted contents, by its stat, is cloned (FICLONE,
// clonefile) or copied, and keeps its time of modification. Nothing is ever hard-linked.
func (r *Copier) Checkout(ctx context.Context, spec, dir string, opt CheckoutOptions) (*CheckoutResult, error) {
	cp, err := r.Lookup(ctx, spec)
	if err != nil {
		return nil, err
	}
	at, err := r.placeOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	c, err := r.prepare(ctx, cp, at, opt)
	if err != nil {
		return nil, err
	}
	c.listSkipped()
	if opt.DryRun {
		return c.res, c.count()
	}
	if err := c.make(ctx); err != nil {
		return nil, err
	}
	return c.res, nil
}

// checkout is one checkout.
type checkout struct {
	*Copier
	opt   CheckoutOptions
	dir   string
	state state.State
	live  *index.Index
	res   *CheckoutResult

	items   []apply.Item // of the checkpoint
	ignored []apply.Item // of the live directory
	entries map[string]index.Entry
	carry   []string // ignored files that come along unasked

	lacks  []state.Path                                 // paths that could not be made
	filled func(ctx context.Context, tree string) error // called once all files are there; nil = not
}

// prepare lists what a copy at a checked place will hold.
func (r *Copier) prepare(ctx context.Context, cp *history.Checkpoint, at string, opt CheckoutOptions) (*checkout, error) {
	st, err := history.StateOf(cp)
	if err != nil {
		return nil, err
	}
	c := &checkout{Copier: r, opt: opt, dir: at, state: st, res: &CheckoutResult{
		Dir: state.Path(at), Checkpoint: cp.ID, Hash: cp.Hash, DryRun: opt.DryRun,
	}}
	if err := c.loadIndex(ctx); err != nil {
		return nil, err
	}
	if err := c.list(ctx); err != nil {
		return nil, err
	}
	if opt.WithIgnored {
		if err := c.listIgnored(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// loadIndex loads the stat cache. With WithIgnored it captures the disk, which alone tells the ignored files.
func (c *checkout) loadIndex(ctx context.Context) error {
	if !c.opt.WithIgnored {
		return c.Exclusive(ctx, func(l *history.Locked) error {
			_ = c.RefreshDenied() // nothing is captured
			c.live = c.LastIndex(l)
			return nil
		})
	}
	if err := c.Enabled(); err != nil {
		return err
	}
	return c.Capturing(ctx, func(l *history.Locked) error {
		disk, err := c.Capture(ctx, l, capture.Options{})
		if err != nil {
			return err
		}
		defer disk.Discard()
		c.live = disk.Index.Clone()
		return disk.Publish(ctx, l)
	})
}

// listSkipped lists what the checkpoint left out and the copy therefore lacks.
func (c *checkout) listSkipped() {
	brought := make(map[string]bool, len(c.ignored))
	for i := range c.ignored {
		brought[c.ignored[i].Path] = true
	}
	for _, s := range c.state.Meta.Skipped {
		if !brought[string(s.Path)] {
			c.res.LeftOut = append(c.res.LeftOut, state.PathReason{Path: s.Path, Reason: s.Reason})
		}
	}
}

// count fills the result of a dry run.
func (c *checkout) count() error {
	for i := range c.items {
		it := &c.items[i]
		if it.Mode == object.Dir {
			continue
		}
		size := it.Live.Size
		if it.FromLive {
			c.res.Live.add(size)
		} else {
			var err error
			if _, size, err = c.DB.Stat(it.ID); err != nil {
				return fmt.Errorf("%s: %w", it.Path, err)
			}
			c.res.Written.add(size)
		}
		c.res.Files, c.res.Bytes = c.res.Files+1, c.res.Bytes+size
	}
	for i := range c.ignored {
		if it := &c.ignored[i]; it.Mode != object.Dir {
			c.res.Live.add(it.Live.Size)
			c.res.Ignored.add(it.Live.Size)
		}
	}
	c.tidy()
	return nil
}

// make makes the directory.
func (c *checkout) make(ctx context.Context) (err error) {
	aside, err := apply.MakeAside(c.dir)
	if err != nil {
		return c.asNoSpace(err)
	}
	defer func() { err = c.asNoSpace(errors.Join(err, aside.Discard())) }()
	if err := c.build(ctx, aside.Tree(), aside.Like()); err != nil {
		return fmt.Errorf("checkout: %w", err)
	}
	if err := aside.Place(!c.Opt.NoSync); err != nil {
		if errors.Is(err, apply.ErrNotNew) {
			return fmt.Errorf("%w: %s %w by now", ErrPlace, c.dir, err)
		}
		return fmt.Errorf("name the finished copy %s: %w", c.dir, err)
	}
	return nil
}

// asNoSpace makes the system's error for a full disk one that names the directory. The store may lie on another disk.
func (c *checkout) asNoSpace(err error) error {
	if err == nil || errors.Is(err, state.ErrNoSpace) || !state.IsNoSpace(err) {
		return err
	}
	return &fullError{c.dir, err}
}

// fullError: the disk of a copy is full. It is a state.ErrNoSpace.
type fullError struct {
	dir string
	err error
}

func (e *fullError) Error() string {
	return fmt.Sprintf("not enough space for %s: %v; name a directory on another disk, or make room there", e.dir, e.err)
}

func (e *fullError) Unwrap() error { return e.err }

func (e *fullError) Is(target error) bool { return target == state.ErrNoSpace }

// build fills the directory. As the superuser, its files get the owner of the directory like.
func (c *checkout) build(ctx context.Context, tree, like string) error {
	b := &apply.Builder{Dir: tree, Live: c.Root, Source: history.Source{DB: c.DB}, Sync: !c.Opt.NoSync, Like: like}
	total := len(c.items) + len(c.ignored)
	var before int
	var beforeBytes int64
	tell := c.opt.Progress
	if tell == nil {
		tell = c.Opt.Progress
	}
	progress := func(files int, bytes int64) {
		if tell != nil {
			tell(settings.Progress{Phase: "apply", Files: before + files, Total: total, Bytes: beforeBytes + bytes})
		}
	}
	built, err := b.Add(ctx, c.items, progress)
	if err != nil {
		return err
	}
	c.note(c.items, built, false)
	before, beforeBytes = c.res.Files, c.res.Bytes
	if built, err = b.Add(ctx, c.ignored, progress); err != nil {
		return err
	}
	c.note(c.ignored, built, true)
	c.tidy()
	if c.filled != nil {
		if err := c.filled(ctx, tree); err != nil {
			return err
		}
	}
	return b.Finish()
}

// note counts a file that was made.
func (c *checkout) note(items []apply.Item, built []apply.Built, ignored bool) {
	for i := range built {
		it, out := &items[i], &built[i]
		switch {
		case out.Err != nil:
			c.res.Conflicts = append(c.res.Conflicts, state.PathReason{Path: state.Path(it.Path), Reason: cause(out.Err).Error()})
			if it.Mode != object.Dir && !ignored {
				c.lacks = append(c.lacks, state.Path(it.Path))
			}
			continue
		case it.Mode == object.Dir:
			continue
		case ignored:
			c.res.Ignored.add(out.Size)
		default:
			c.res.Files, c.res.Bytes = c.res.Files+1, c.res.Bytes+out.Size
		}
		switch out.Way {
		case apply.Cloned:
			c.res.Cloned.add(out.Size)
		case apply.Copied:
			c.res.Copied.add(out.Size)
		default:
			c.res.Written.add(out.Size)
		}
		if c.entries != nil && out.Entry.Mode != 0 {
			c.entries[it.Path] = out.Entry
		}
	}
}

func (c *checkout) tidy() {
	byPath := func(a, b state.PathReason) int { return cmp.Compare(a.Path, b.Path) }
	slices.SortStableFunc(c.res.LeftOut, byPath)
	c.res.LeftOut = slices.CompactFunc(c.res.LeftOut, func(a, b state.PathReason) bool { return a.Path == b.Path })
	slices.SortStableFunc(c.res.Conflicts, byPath)
}

// cause removes the path from an error. The result lists the path beside it.
func cause(err error) error {
	var withPath *fs.PathError
	if errors.As(err, &withPath) {
		return withPath.Err
	}
	return err
}
