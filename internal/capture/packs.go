package capture

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// RenamePacks updates the packs that the stat cache names, so that replacing packs does not
// invalidate it. The caller holds the lock.
func (r *Capturer) RenamePacks(gone, left []string) error {
	have := append(slices.Clone(gone), left...)
	if done, err := r.Watch.renamePacks(r, have, left); done {
		return err
	}
	x, err := index.Load(r.IndexFile())
	if err != nil || lackedBy(x, have) != "" {
		return nil // the next capture drops it
	}
	x.SetPrivate(left, x.Aux)
	return x.Save(r.IndexFile())
}
