package transfer

import (
	"context"
	"fmt"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// refExported is the ref of the checkpoint in a bundle.
const refExported = history.RefRoot + "exported/"

const bundleMagic = "# v2 git bundle\n"

// Export writes a checkpoint as a git bundle. cairn.Repo.Export states the contract.
func (r *Transport) Export(ctx context.Context, w io.Writer, spec string) error {
	c, err := r.Lookup(ctx, spec)
	if err != nil {
		return err
	}
	if err := r.export(ctx, w, c); err != nil {
		return fmt.Errorf("export %s: %w", c.ID, err)
	}
	return nil
}

func (r *Transport) export(ctx context.Context, w io.Writer, c *history.Checkpoint) error {
	if _, err := history.MetadataOf(c); err != nil {
		return err
	}
	commit, err := history.WithoutHistory(c)
	if err != nil {
		return err
	}
	held := &treeContents{repo: r, seen: make(map[object.ID]bool)}
	if err := held.tree(ctx, history.TreeOf(c)); err != nil {
		return err
	}
	id := object.Sum(object.Commit, commit)
	if _, err := fmt.Fprintf(w, "%s%s HEAD\n%[2]s %s%[2]s\n\n", bundleMagic, id, refExported); err != nil {
		return err
	}
	pack, err := r.DB.EncodePack(w, 1+len(held.trees)+len(held.blobs))
	if err != nil {
		return err
	}
	if err := pack.Add(object.Commit, commit); err != nil {
		return err
	}
	for _, part := range []struct {
		kind object.Kind
		ids  []object.ID
	}{{object.Tree, held.trees}, {object.Blob, held.blobs}} {
		for _, id := range part.ids {
			if err := ctx.Err(); err != nil {
				return err
			}
			if part.kind == object.Tree && id == object.EmptyTree { // not every store holds the empty tree
				err = pack.Add(object.Tree, nil)
			} else {
				err = pack.Copy(part.kind, id)
			}
			if err != nil {
				return err
			}
		}
	}
	return pack.Close()
}

// treeContents lists the objects of a tree, each once.
type treeContents struct {
	repo         *Transport
	seen         map[object.ID]bool
	trees, blobs []object.ID
}

func (t *treeContents) tree(ctx context.Context, id object.ID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := t.repo.ReadTree(id)
	if err != nil {
		return err
	}
	t.seen[id] = true
	t.trees = append(t.trees, id)
	for i := range entries {
		e := &entries[i]
		switch {
		case t.seen[e.ID]:
		case e.Mode == object.Dir:
			err = t.tree(ctx, e.ID)
		default:
			t.seen[e.ID] = true
			t.blobs = append(t.blobs, e.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
