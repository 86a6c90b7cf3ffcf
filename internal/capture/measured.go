package capture

import (
	"sync"
	"time"
)

// measured caches the size of the store. Measuring means a stat of every file, which would cost a
// Repo that stays open more than the rest of a small capture. The zero value holds no size.
type measured struct {
	mu    sync.Mutex
	at    time.Time // time of the measure
	bytes int64     // measured size and the bytes that this Repo has written since
	packs int64     // time of the last change of the packs' directory, if this Repo made it; 0 = not known
	asked bool      // the current batch has used the size
}

// measureAfter is the longest time that a measure is used: packs are not the only files of a store.
const measureAfter = 10 * time.Second

// begin is called for each batch.
func (m *measured) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = false
}

// known returns the cached size if the time of the packs' directory is unchanged, that is, if no
// other process has written packs since.
func (m *measured) known(packs int64) (bytes int64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ok = m.packs != 0 && m.packs == packs && time.Since(m.at) < measureAfter
	m.packs, m.asked = 0, true
	return m.bytes, ok
}

// measure sets a new size.
func (m *measured) measure(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.bytes, m.packs = time.Now(), bytes, 0
}

// wrote adds written bytes. It is called after known or measure.
func (m *measured) wrote(more int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes += more
}

// keep makes the size valid for the next capture, if this one has used it. It is called at the end
// of a capture, with the store's lock held.
func (m *measured) keep(packs int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked {
		m.packs = packs
	}
}

// moved sets the expected time of the packs' directory after a fold by this Repo. A fold leaves
// about the same size.
func (m *measured) moved(from, to int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.packs == from {
		m.packs = to
	}
}
