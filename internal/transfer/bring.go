package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Bring adds a checkpoint of another store on this machine to a batch, without its history, and
// returns the id that it has here. known is a checkpoint of this store; what both have in common is
// neither read nor checked again. The rest is audited as in Import before the first object is added,
// and every object's id is checked while it is copied. The caller holds the lock, commits the batch
// and sets the ref. The error is an ErrStore where the other checkpoint cannot be used.
func (r *Transport) Bring(ctx context.Context, batch *odb.Batch, from *history.Store, c, known *history.Checkpoint) (object.ID, error) {
	b := &bringing{ctx: ctx, batch: batch, from: from, audit: newAudit(storeReader{from.DB}), known: make(map[object.ID]bool)}
	if known != nil {
		if err := r.subtrees(ctx, history.TreeOf(known), b.known); err != nil {
			return object.ID{}, err
		}
	}
	for id := range b.known {
		b.audit.trees[id] = extent{height: 1}
	}
	id, err := object.ParseID(c.ID)
	if err == nil {
		_, err = b.audit.checkpoint(id)
	}
	if err != nil {
		return id, fmt.Errorf("%w: checkpoint %s of %s: %w (cairn -C DIR doctor looks at that store)", state.ErrStore, c.ID, from.Root, foreign(err))
	}
	if err = r.link(b, history.TreeOf(c)); err == nil {
		err = b.tree(history.TreeOf(c))
	}
	if err != nil {
		return id, fmt.Errorf("bring checkpoint %s of %s: %w", c.ID, from.Root, err)
	}
	commit, err := history.WithoutHistory(c)
	if err != nil {
		return id, err
	}
	return batch.Add(object.Commit, commit)
}

// link links the packs of the other store that hold little else than what this one lacks of a tree. A store
// in which anything was purged links none: a pack may hold it. Neither does it link a pack of a store whose
// purge still has contents to drop.
func (r *Transport) link(b *bringing, tree object.ID) error {
	for _, name := range []odb.Private{odb.PrivatePurged, odb.PrivatePurging, odb.PrivateReplaced} {
		if _, err := r.DB.ReadPrivate(name); !errors.Is(err, odb.ErrNotFound) {
			return nil
		}
	}
	if unfinished, err := b.from.PurgeUnfinished(); unfinished || err != nil {
		return nil
	}
	var want []object.ID
	if err := b.missing(tree, make(map[object.ID]bool), &want); err != nil {
		return err
	}
	_, err := r.DB.TakePacks(b.from.DB, want)
	return err
}

// missing lists the trees and blobs of a tree that are not here.
func (b *bringing) missing(tree object.ID, seen map[object.ID]bool, want *[]object.ID) error {
	if b.known[tree] || seen[tree] {
		return nil
	}
	seen[tree] = true
	if !b.batch.Has(tree) {
		*want = append(*want, tree)
	}
	entries, err := b.from.ReadTree(tree)
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		if e.Mode == object.Dir {
			err = b.missing(e.ID, seen, want)
		} else if !seen[e.ID] && !b.batch.Has(e.ID) {
			seen[e.ID] = true
			*want = append(*want, e.ID)
		}
		if err != nil {
			return err
		}
	}
	return b.ctx.Err()
}

// subtrees adds the ids of a tree and all trees below it to a set.
func (r *Transport) subtrees(ctx context.Context, tree object.ID, into map[object.ID]bool) error {
	if into[tree] {
		return nil
	}
	into[tree] = true
	entries, err := r.ReadTree(tree)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	for i := range entries {
		if entries[i].Mode == object.Dir {
			if err := r.subtrees(ctx, entries[i].ID, into); err != nil {
				return err
			}
		}
	}
	return nil
}

// bringing brings the objects of one checkpoint. The audit has seen each of them.
type bringing struct {
	ctx   context.Context
	batch *odb.Batch
	from  *history.Store
	audit *audit
	known map[object.ID]bool // trees that are here, with all that is below, or in the batch
}

func (b *bringing) tree(id object.ID) error {
	if b.known[id] {
		return nil
	}
	b.known[id] = true
	if err := b.ctx.Err(); err != nil {
		return err
	}
	entries, err := b.from.ReadTree(id)
	if err != nil {
		return err
	}
	for i := range entries {
		if e := &entries[i]; e.Mode == object.Dir {
			err = b.tree(e.ID)
		} else if !b.batch.Has(e.ID) {
			err = b.blob(e)
		}
		if err != nil {
			return err
		}
	}
	return b.added(id, object.AppendTree(nil, entries))
}

// added adds a tree and checks its id.
func (b *bringing) added(want object.ID, content []byte) error {
	got, err := b.batch.Add(object.Tree, content)
	return isAs(got, want, err)
}

// blob copies the contents of a file, piece by piece where they are large.
func (b *bringing) blob(e *object.Entry) error {
	size, content, err := history.Source{DB: b.from.DB}.Open(e.ID)
	if err != nil {
		return fmt.Errorf("blob %s (%s): %w", e.ID, e.Name, err)
	}
	defer content.Close()
	got, err := b.batch.AddBlob(content, size)
	return isAs(got, e.ID, err)
}

func isAs(got, want object.ID, err error) error {
	if err == nil && got != want {
		err = fmt.Errorf("%w: object %s has the bytes of %s", state.ErrCorrupt, want, got)
	}
	return err
}

// storeReader reads objects of another store for an audit.
type storeReader struct{ *odb.DB }

// Kind implements objectReader.
func (s storeReader) Kind(id object.ID) object.Kind {
	if id == object.EmptyTree {
		return object.Tree
	}
	kind, _, err := s.Stat(id)
	if err != nil {
		return 0
	}
	return kind
}

// Read implements objectReader.
func (s storeReader) Read(id object.ID) (object.Kind, []byte, error) {
	if id == object.EmptyTree { // not every store holds it
		return object.Tree, nil, nil
	}
	return s.DB.Read(id)
}
