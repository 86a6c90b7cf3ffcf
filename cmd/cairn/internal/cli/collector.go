package cli

import (
	"math"
	"runtime/debug"
)

// A process that stays has what it watches in memory: 100 bytes for each file. Garbage of a fifth of
// that, and of a fifth of the ballast, may come together before the collector runs.
const (
	stayingGCPercent = 20
	ballast          = 64 << 20
)

// unused counts as memory in use when the collector decides on its next run. Nothing touches its
// pages, so it takes none.
var unused []byte

// Stay sets the collector for a process that lives long. What main has set suits one that lives for
// milliseconds: its limit of memory would let the collector run all the time once the projects of a
// server come near it. Settings in the environment win.
func (c *Program) Stay() {
	if c.Env("GOGC") == "" {
		debug.SetGCPercent(stayingGCPercent)
		unused = make([]byte, ballast)
	}
	if c.Env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(math.MaxInt64)
	}
}
