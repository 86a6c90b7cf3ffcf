package capture

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// KeptIndex is the last saved stat cache, kept in memory from one capture to the next, because
// reading the file takes a tenth of a small track. Guarded by the store's lock. It is valid until
// another process takes the lock (see Capturer.Forget) or the files change.
type KeptIndex struct {
	index *index.Index
	state [2]fileState
}

// takeIndex removes the stat cache from memory and returns it for a capture, which changes it. A
// failed capture leaves none in memory.
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

// keepIndex keeps the stat cache in memory. It equals the files now.
func (r *Capturer) keepIndex(x *index.Index) {
	if r.Watch == nil { // else watching keeps it
		r.Kept = KeptIndex{x, r.indexState()}
	}
}

// unlessPacksGone returns the stat cache, or an empty one if a pack that holds its ids is gone.
func (r *Capturer) unlessPacksGone(x *index.Index) *index.Index {
	if gone := lackedBy(x, r.DB.PackNames()); gone != "" {
		r.Log.Warn("stat cache dropped: a pack is gone", "pack", gone)
		return r.FreshIndex()
	}
	return x
}

// lackedBy returns a pack that a stat cache names and packs lacks, "" if there is none.
func lackedBy(x *index.Index, packs []string) string {
	for _, name := range x.Packs {
		if !slices.Contains(packs, name) {
			return name
		}
	}
	return ""
}
