package odb

import (
	"os"
	"sync"
	"sync/atomic"
)

// writeBehindAt is how much of a file has to be new before it is worth while to tell
// the system to begin writing it to the disk.
const writeBehindAt = 16 << 20

// writeBehind lets the system write a growing file to the disk while there is still
// work for the processor: otherwise all of a large pack waits in memory until the flush
// at its end, with nothing else to do meanwhile. It is a hint: what is durable, and
// when, is decided by flushes alone.
type writeBehind struct {
	wg   sync.WaitGroup
	busy atomic.Bool
	from int64 // begun up to here
}

// grown is called when a file has grown to size, and does something if at least so much
// of it is new. It does not wait for the disk.
func (b *writeBehind) grown(f *os.File, size, least int64) {
	if b == nil || size-b.from < least || !b.busy.CompareAndSwap(false, true) {
		return
	}
	from := b.from
	b.from = size
	b.wg.Go(func() {
		defer b.busy.Store(false)
		beginWriting(f, from, size-from)
	})
}

// end waits until nobody uses the file any more.
func (b *writeBehind) end() {
	if b != nil {
		b.wg.Wait()
	}
}
