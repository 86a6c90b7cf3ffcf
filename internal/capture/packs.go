package capture

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// RenamePacks keeps the stat cache when packs are replaced: it is dropped where a
// pack that it knows has gone, unless it hears of that. Called with the lock held.
func (r *Capturer) RenamePacks(gone, left []string) error {
	have := append(slices.Clone(gone), left...)
	if done, err := r.Watch.renamePacks(r, have, left); done {
		return err
	}
	x, err := index.Load(r.IndexFile())
	if err != nil || lackedBy(x, have) != "" {
		return nil // it will be dropped anyway
	}
	x.SetPrivate(left, x.Aux)
	return x.Save(r.IndexFile())
}
