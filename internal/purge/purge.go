package purge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/collect"
	"github.com/seed-fb9cbc17/cairn/internal/reviewed"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// PurgeResult is the answer of Purge.
type PurgeResult struct {
	Paths       state.Paths `json:"paths"`       // that were found in the history, from the root
	Checkpoints []string    `json:"checkpoints"` // that became partial: their ids from now on
	Freed       int64       `json:"freed"`       // bytes

	// NotFound lists the given paths of which nothing was found, from the root or absolute. They are captured as
	// before.
	NotFound state.Paths `json:"notFound,omitempty"`

	// Elsewhere lists contents, by their ids, that are still stored because they are
	// those of other paths, too.
	Elsewhere []string `json:"elsewhere"`

	// Besides lists other stores of the project that hold the purged contents: of forks, and of other
	// work trees of the git repository. A purge in their directories takes them out there.
	Besides []Holder `json:"besides,omitempty"`
}

// Purge removes the contents of paths, and of everything below them, from the whole history:
// checkpoints, sessions, operations, pins, imports and lines of other stores. cairn.Repo.Purge
// states the contract.
func (r *Rewriter) Purge(ctx context.Context, paths []string) (*PurgeResult, error) {
	inside, away := r.split(paths)
	p, done := newPurger(r, nil), &PurgeResult{}
	p.goesOn = r.isUnfinished()
	if len(inside) > 0 || len(away) == 0 {
		var err error
		if p.paths, err = r.purgePaths(inside); err != nil {
			return nil, err
		}
	}
	err := p.purgeOutside(ctx, away, done)
	if err == nil {
		err = r.purgeBy(ctx, p, done)
	}
	if err != nil && p.nowhere {
		err = r.alsoGarbage(ctx, err)
	}
	if err != nil && done.Paths == nil {
		return nil, err
	}
	return done, err
}

// alsoGarbage drops what nothing leads to, where nothing that leads anywhere holds a path: a deleted session may have
// left its contents. err is the error for the path.
func (r *Rewriter) alsoGarbage(ctx context.Context, err error) error {
	freed, failed := r.collectAll(ctx)
	switch {
	case failed != nil:
		return fmt.Errorf("%w (contents that no checkpoint needs are still stored: %w)", err, failed)
	case freed > 0:
		return fmt.Errorf("%w; %s of contents that no checkpoint needs are gone now", err, wording.Size(freed))
	}
	return err
}

func newPurger(r *Rewriter, paths []string) *purger {
	p := &purger{
		repo: r, paths: paths, thinned: make(map[object.ID]*thinned.Record),
		commits: make(map[object.ID]object.ID), trees: make(map[object.ID]*purgedTree),
		found: make(map[string]bool), blobs: make(map[object.ID]bool),
	}
	p.deny = p.foundPaths
	return p
}

// purgeBy rewrites the history and drops the objects that are then unreachable. Without Paths in the
// answer nothing was rewritten.
func (r *Rewriter) purgeBy(ctx context.Context, p *purger, done *PurgeResult) (err error) {
	if len(p.paths) > 0 {
		err = r.Exclusive(ctx, func(l *history.Locked) error { return p.rewrite(ctx, l) })
	}
	if err != nil && !(errors.Is(err, state.ErrNotFound) && r.isUnfinished()) {
		return fmt.Errorf("purge: %w", err)
	}
	done.Paths = append(p.foundPaths(), done.Paths...)
	if !p.goesOn {
		done.NotFound = p.notFound()
	}
	done.Checkpoints, done.Elsewhere = append([]string{}, p.partial...), []string{}
	if done.Freed, err = r.dropAll(ctx); err != nil {
		return fmt.Errorf("purge: the paths are out of the history, but their contents are not gone yet: %w (do the same again)", err)
	}
	if err := r.Locked(ctx, func(l *history.Locked) error { return r.setUnfinished(l, false) }); err != nil {
		return err
	}
	for id := range p.blobs {
		if ok, err := r.DB.Has(id); err != nil {
			return err
		} else if ok {
			done.Elsewhere = append(done.Elsewhere, id.String())
		}
	}
	slices.Sort(done.Elsewhere)
	if done.Besides, err = r.holders(ctx, p.blobs); err != nil {
		return fmt.Errorf("purge: the contents are gone; other stores of the project are not searched: %w", err)
	}
	return nil
}

// purgePaths returns the paths from the root, without those that lie below another one.
func (r *Rewriter) purgePaths(paths []string) ([]string, error) {
	var rels []string
	for _, path := range paths {
		rel, err := r.Rel(path)
		if err != nil {
			return nil, err
		}
		if rel == "" {
			return nil, fmt.Errorf("%w: %s is the whole root; remove the store instead", state.ErrOutside, path)
		}
		rels = append(rels, rel)
	}
	slices.Sort(rels)
	var top []string
	for _, rel := range slices.Compact(rels) {
		if !state.NewPathScope(top).Covers(rel) || len(top) == 0 {
			top = append(top, rel)
		}
	}
	if len(top) == 0 {
		return nil, state.NotFound("no path is given")
	}
	return top, nil
}

// purgeRounds is how often a collection is started again after an interruption.
const purgeRounds = 50

// dropAll drops every unneeded byte, files that are set aside as damaged included.
func (r *Rewriter) dropAll(ctx context.Context) (freed int64, err error) {
	if err := r.Exclusive(ctx, func(*history.Locked) error { return r.DB.DropDamaged() }); err != nil {
		return 0, err
	}
	return r.collectAll(ctx)
}

// collectAll drops every object that nothing leads to.
func (r *Rewriter) collectAll(ctx context.Context) (freed int64, err error) {
	for range purgeRounds {
		got, err := collect.Run(ctx, r.DB, collect.Options{
			Thorough: true, Purge: true, Pack: r.Packer(), BeforeRemove: r.InCollection(r.RenamePacks),
			Progress: r.Opt.Told(),
		})
		switch {
		case errors.Is(err, collect.ErrBusy):
			if err := r.awaitCollection(ctx); err != nil {
				return freed, err
			}
			continue
		case errors.Is(err, collect.ErrNoSpace):
			return freed + got.Freed, fmt.Errorf("%w: %w", state.ErrNoSpace, err)
		case err != nil:
			return freed, err
		}
		freed += got.Freed
		if got.Blocked != nil {
			return freed, fmt.Errorf("%w (%s)", got.Blocked, state.MendHint)
		}
		if !got.Incomplete {
			return freed, nil
		}
	}
	return freed, errors.New("others use the store all the time")
}

// awaitCollection waits until another process has cleaned, as long as for the lock.
func (r *Rewriter) awaitCollection(ctx context.Context) error {
	ctx, cancel := r.Opt.Waiting(ctx)
	defer cancel()
	return collect.Wait(ctx, r.DB)
}

// purger rewrites history.
type purger struct {
	repo  *Rewriter
	batch *odb.Batch
	paths []string

	goesOn  bool // an interrupted purge may have found the paths already
	nowhere bool // nothing that a ref leads to has one of the paths

	only   map[object.ID]bool // of the contents at paths only these go; nil = all
	deny   func() []string    // the paths that stay out of later captures
	denied []string           // what deny returned

	deniedAway []string // the paths outside the root that are not saved again

	ends    history.Ends
	thinned map[object.ID]*thinned.Record // as they will be, by their new ids
	commits map[object.ID]object.ID       // new id of each commit; its own id if nothing changes
	trees   map[object.ID]*purgedTree
	found   map[string]bool
	blobs   map[object.ID]bool // contents that were removed
	partial []string
}

func (p *purger) foundPaths() []string {
	var list []string
	for _, path := range p.paths {
		if p.found[path] {
			list = append(list, path)
		}
	}
	return list
}

// notFound lists the paths that the history did not hold.
func (p *purger) notFound() []string {
	return slices.DeleteFunc(slices.Clone(p.paths), func(path string) bool { return p.found[path] })
}

// rewrite rewrites all refs.
func (p *purger) rewrite(ctx context.Context, l *history.Locked) error {
	r := p.repo
	p.batch, p.ends = r.DB.NewBatch(), r.Ends()
	defer p.batch.Discard()
	refs, err := r.DB.Refs("refs/")
	if err != nil {
		return err
	}
	refs = slices.DeleteFunc(refs, func(ref odb.Ref) bool {
		return strings.HasPrefix(ref.Name, history.RefGit) || strings.HasPrefix(ref.Name, history.RefOutside) || ref.Name == thinned.Ref
	})
	for i, ref := range refs {
		if ref.Err != nil {
			return fmt.Errorf("ref %s: %w (cairn doctor --fix first)", ref.Name, ref.Err)
		}
		if refs[i].ID, err = p.object(ctx, ref.ID); err != nil {
			return fmt.Errorf("%s: %w", ref.Name, withHint(err))
		}
	}
	first, last, err := p.lists(ctx)
	if err != nil {
		return withHint(err)
	}
	if len(p.found) == 0 {
		p.nowhere = true
		return state.NotFound("no checkpoint holds %s", strings.Join(p.paths, " or "))
	}
	journals, err := r.JournalsNaming(func(text string) (string, error) { return p.mentions(ctx, text) })
	if err != nil {
		return err
	}
	w := Rewritten{
		First: first, Refs: append(refs, last...), Commits: p.commits, Replaced: p.replacements(),
		Journals: journals, Paths: len(p.found),
	}
	if n := len(w.Refs) - 1; n >= 0 && w.Refs[n].ID.IsZero() { // nothing is thinned any more
		w.Refs, w.Dropped = w.Refs[:n], []string{w.Refs[n].Name}
	}
	if err := r.ReplaceHistory(ctx, l, p.batch, w, func() error { return errors.Join(p.addDenied(l), r.setUnfinished(l, true)) }); err != nil {
		return err
	}
	if err := reviewed.ForgetPaths(r.Store, p.paths); err != nil {
		return err
	}
	return r.dropGit(l)
}

// addDenied keeps paths out of later captures.
func (p *purger) addDenied(l *history.Locked) error {
	if p.denied = p.deny(); len(p.denied) == 0 {
		return nil
	}
	return p.repo.addPurged(l, p.denied)
}

// setUnfinished records that a purge has rewritten the history, and that it still has contents to drop.
// After that no ref tells so.
func (r *Rewriter) setUnfinished(l *history.Locked, unfinished bool) error {
	r.Holds(l)
	var text []byte
	if unfinished {
		text = []byte("unfinished\n")
	}
	return r.DB.WritePrivate(odb.PrivatePurging, text)
}

// isUnfinished reports whether an interrupted purge has left contents to drop.
func (r *Rewriter) isUnfinished() bool {
	unfinished, err := r.PurgeUnfinished()
	return err == nil && unfinished
}

// dropGit drops the records of the user's git repository and the objects that they lead to: either
// may hold the contents of a purged path.
func (r *Rewriter) dropGit(*history.Locked) error {
	refs, err := r.DB.Refs(history.RefGit)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if err := r.DB.DropRef(ref.Name); err != nil {
			return err
		}
	}
	return r.Vault().Remove()
}

// replacements maps the old ids of commits, and of the trees of states, to the new ones.
func (p *purger) replacements() map[object.ID]object.ID {
	all := make(map[object.ID]object.ID)
	for old, now := range p.commits {
		if now != old {
			all[old] = now
		}
	}
	for old, now := range p.trees {
		if now.id != old {
			all[old] = now.id
		}
	}
	return all
}

// withHint names the command that mends damage. Errors of other kinds, such as a call that ends before
// its time, stay as they are.
func withHint(err error) error {
	for _, damage := range []error{odb.ErrCorrupt, odb.ErrNotFound, state.ErrNotFound} {
		if errors.Is(err, damage) {
			return fmt.Errorf("%w (%s)", err, state.MendHint)
		}
	}
	return err
}
