package capture

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// KeptIndex is the stat cache as it was saved last. A Repo that does not watch keeps it from
// one capture to the next, too: to read it takes a tenth of a small track. It belongs to
// who has the lock, and is worth something only as long as nobody else has had that since,
// see distrust, and the files are as they were.
type KeptIndex struct {
	index *index.Index
	state [2]fileState
}

// takeIndex returns the stat cache for a capture, which changes it. A capture that fails
// leaves none behind.
func (r *Capturer) takeIndex(saved *index.Index) *index.Index {
	kept := r.Kept
	r.Kept = KeptIndex{}
	switch {
	case saved != nil:
		return saved
	case kept.index != nil && kept.state == r.indexState():
		return r.unlessPacksGone(kept.index)
	}
	return r.loadIndex()
}

// keepIndex is called when the stat cache is as the files have it.
func (r *Capturer) keepIndex(x *index.Index) {
	if r.Watch == nil { // which keeps it itself
		r.Kept = KeptIndex{x, r.indexState()}
	}
}

// unlessPacksGone returns a stat cache, or an empty one in its place where packs that its
// ids may live in were taken away.
func (r *Capturer) unlessPacksGone(x *index.Index) *index.Index {
	if gone := lackedBy(x, r.DB.PackNames()); gone != "" {
		r.Log.Warn("stat cache dropped: a pack is gone", "pack", gone)
		return r.FreshIndex()
	}
	return x
}

// lackedBy returns a pack that a stat cache knows and that is none of these, "" if there
// is none.
func lackedBy(x *index.Index, packs []string) string {
	for _, name := range x.Packs {
		if !slices.Contains(packs, name) {
			return name
		}
	}
	return ""
}
