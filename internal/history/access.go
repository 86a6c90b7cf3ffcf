package history

import (
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// The functions of this file read the hidden fields of public types. They are functions and not
// methods so that they are no part of the public API.

// TreeOf returns the id of the checkpoint's tree.
func TreeOf(c *Checkpoint) object.ID { return c.tree }

// IDOf returns the id of the checkpoint's commit.
func IDOf(c *Checkpoint) object.ID { return c.id }

// CommitOf returns the checkpoint's commit, nil if it was not read from a store.
func CommitOf(c *Checkpoint) *object.CommitData { return c.commit }

// CreatedBy lists the paths that the operation made where nothing stood before.
func CreatedBy(op *Operation) []string { return op.created }
