package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/copies"
)

// CheckoutOptions controls a checkout.
type CheckoutOptions = copies.CheckoutOptions

// CheckoutResult says what a checkout made, or in a dry run would make.
type CheckoutResult = copies.CheckoutResult

// CopyAmount is a number of files and their bytes.
type CopyAmount = copies.Amount

// Checkout makes a new directory with the exact state of a checkpoint: contents, kinds, permission
// bits and empty directories. Nothing or an empty directory may be at dir, outside of the data
// directory and of the root, or in a directory of the root that captures leave out; its parent must
// exist. Else the error wraps ErrPlace. The directory
// appears when it is whole, so a killed process leaves either all of it or none.
//
// Files that the root still has with the wanted contents, by its stat, are cloned, or copied where
// the file system cannot clone. They keep their time of modification. The others come out of the
// store. Nothing is hard-linked: a change in one of the directories never shows in the other.
//
// A path that this file system cannot hold, or whose contents the store has lost, is listed as a
// conflict and does not stop the others. Everything else is an error and leaves nothing.
func (r *Repo) Checkout(ctx context.Context, spec, dir string, opt CheckoutOptions) (*CheckoutResult, error) {
	return r.copier.Checkout(ctx, spec, dir, opt)
}
