package cairn

import (
	"context"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// StateOf resolves a checkpoint, or captures the disk where spec is empty.
func (r *capturer) StateOf(ctx context.Context, spec string) (state.State, error) {
	if spec == "" {
		return r.diskState(ctx)
	}
	c, err := r.Lookup(ctx, spec)
	if err != nil {
		return state.State{}, err
	}
	return history.StateOf(c)
}

// diskState captures the disk without making a checkpoint.
func (r *capturer) diskState(ctx context.Context) (s state.State, err error) {
	err = r.Capturing(ctx, func() error {
		c, err := r.Capture(ctx, captureOptions{})
		if err != nil {
			return err
		}
		defer c.Discard()
		s = state.State{Tree: c.Tree, Meta: c.Metadata()}
		return c.Publish(ctx)
	})
	return s, err
}

// Changes lists the files that differ between two checkpoints, and the directories whose
// permission bits differ, ordered by the bytes of their paths. An empty to means the disk, an empty paths all of them. A path
// that one side did not capture although it was there is no change.
func (r *Repo) Changes(ctx context.Context, from, to string, paths ...string) ([]Change, error) {
	defer r.store.Trees.DropLarge()
	scope, err := r.store.ScopeOf(paths)
	if err != nil {
		return nil, err
	}
	a, err := r.capturer.StateOf(ctx, from)
	if err != nil {
		return nil, err
	}
	b, err := r.capturer.StateOf(ctx, to)
	if err != nil {
		return nil, err
	}
	return r.store.AllChanges(ctx, a, b, scope)
}

// Patch lists the files that differ between two checkpoints as absolute paths. An
// empty to means the disk. The patch names from by the hash of its tree, unless a
// full id was given.
func (r *Repo) Patch(ctx context.Context, from, to string) (Patch, error) {
	list, err := r.Changes(ctx, from, to)
	if err != nil {
		return Patch{}, err
	}
	p := Patch{Hash: from, Files: make([]string, len(list))}
	if _, err := object.ParseID(from); err != nil {
		c, err := r.store.Lookup(ctx, from)
		if err != nil {
			return Patch{}, err
		}
		p.Hash = c.Hash
	}
	for i, c := range list {
		p.Files[i] = strings.TrimSuffix(history.Slashed(r.store.Root), "/") + "/" + c.Path
	}
	return p, nil
}
