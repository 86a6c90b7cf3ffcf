package history

import (
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// The functions of this file read the hidden fields of public types. They are functions and not
// methods so that they are no part of the public API.

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
