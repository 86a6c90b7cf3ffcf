package odb

import (
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// The time of the packs' directory tells whether somebody has changed it since it was
// listed. A publish changes it, too, so the packs would be listed for each. Instead the time
// is taken down before a change of our own and after it. That is worth something only where
// the next change, by anybody, gets a time of its own; other stamps go by ticks of some
// milliseconds, and a change in the same tick would not show. Such stamps are not taken on
// trust: one that is finer than the ticks has to be seen.
//
// What somebody else changes between the two looks, without the lock, does not show until
// the directory changes again. It is always listed before packs are folded.

// ownChange is a change of the packs' directory that is about to be made.
type ownChange struct{ before, tick time.Time }

// beginChange is called before packs are given their names.
func (db *DB) beginChange() (c ownChange) {
	if db.near() {
		if before, err := db.packsTime(); err == nil {
			c = ownChange{before, atomicfile.Tick()}
		}
	}
	return c
}

// stampAfter is called after a change. The set is still that of the listing if the
// directory was as listed before the change.
func (db *DB) stampAfter(c ownChange, set *packSet) {
	if c.before.IsZero() {
		return
	}
	after, err := db.packsTime()
	if err != nil {
		return
	}
	if !c.tick.IsZero() && c.tick.Equal(atomicfile.Tick()) && after.After(c.tick) {
		db.finely.Store(true)
	}
	if db.finely.Load() && set.listed && !set.racy && set.mtime.Equal(c.before) {
		set.mtime = after
	}
}

// isNear reports whether temporary files of packs may lie beside the private files, where
// making and removing them does not change the packs' directory, and whether that is of
// use.
func (db *DB) isNear() bool {
	packs := db.path(packDir)
	return atomicfile.DirsMayStampFinely(packs) && atomicfile.OneMount(packs, db.path(privateDir))
}
