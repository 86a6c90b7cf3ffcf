package pack

import (
	"os"
	"sync"
	"sync/atomic"
)

// writeBehindAt is the number of new bytes of a file from which on the kernel is asked to
// begin writing them to the disk.
const writeBehindAt = 16 << 20

// writeBehind has the kernel write a growing file to the disk while the processor still
// compresses. Otherwise all of a large pack waits in memory for the flush at its end, and
// the processor is idle then. It is a hint: only flushes make a file durable.
type writeBehind struct {
	wg   sync.WaitGroup
	busy atomic.Bool
	from int64 // the kernel has been asked to write the file up to here
}

// grown says that the file has grown to size. It asks the kernel to write if at least as many
// bytes as least are new. It does not wait for the disk.
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

// end waits until writeBehind does not use the file any more.
func (b *writeBehind) end() {
	if b != nil {
		b.wg.Wait()
	}
}
