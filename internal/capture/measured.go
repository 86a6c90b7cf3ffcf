package capture

import (
	"sync"
	"time"
)

// measured is how large the store is as far as this Repo knows. To measure it means to
// look at every file of it, which would cost a Repo that stays open more than the rest
// of a small capture. The zero value knows nothing.
type measured struct {
	mu    sync.Mutex
	at    time.Time // of the measure
	bytes int64     // that was found, with what this Repo has written since
	packs int64     // when the directory of the packs was last changed, by this Repo; 0 = by whoever
	asked bool      // for the batch that was begun last
}

// measureAfter is how long a measure counts at most: not everything in a store is packs.
const measureAfter = 10 * time.Second

// begin is called for every batch.
func (m *measured) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = false
}

// known returns the size if nobody else has written packs since it was known, which only
// the directory's time tells.
func (m *measured) known(packs int64) (bytes int64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ok = m.packs != 0 && m.packs == packs && time.Since(m.at) < measureAfter
	m.packs, m.asked = 0, true
	return m.bytes, ok
}

// measure takes a new measure.
func (m *measured) measure(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.bytes, m.packs = time.Now(), bytes, 0
}

// wrote is called after known or measure, with what has been written since.
func (m *measured) wrote(more int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes += more
}

// keep makes what is known count for the next capture, if this one has asked. It is
// called at its end, with the store's lock.
func (m *measured) keep(packs int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked {
		m.packs = packs
	}
}

// moved says that what was changed last at the first time has been changed by this Repo
// once more, which left about as much.
func (m *measured) moved(from, to int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.packs == from {
		m.packs = to
	}
}
