package history

import (
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// The types of answers are public. What only the engine needs of them is read by these
// functions, so that it is no part of the public types.

// TreeOf returns the id of the checkpoint's tree.
func TreeOf(c *Checkpoint) object.ID { return c.tree }

// IDOf returns the id of the checkpoint's commit.
func IDOf(c *Checkpoint) object.ID { return c.id }

// CommitOf returns the checkpoint's commit, nil if it was not read from a store.
func CommitOf(c *Checkpoint) *object.CommitData { return c.commit }

// KnownMetadata returns the checkpoint's metadata if it was decoded before, else nil.
func KnownMetadata(c *Checkpoint) *state.Metadata { return c.meta }

// CreatedBy lists the paths that the operation made where nothing stood before.
func CreatedBy(op *Operation) []string { return op.created }
