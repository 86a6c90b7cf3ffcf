package cli

import (
	"math"
	"runtime/debug"
)

// A process that stays has what it watches in memory: 100 bytes for each file. Garbage of a fifth of
// that, and of a fifth of the ballast, may come together before the collector runs.
const (
	stayingGCPercent = 20
	ballastSize      = 64 << 20
)

// Stay sets the collector for a process that lives long. What main has set suits one that lives for
// milliseconds: its limit of memory would let the collector run all the time once the projects of a
// server come near it. Settings in the environment win.
func (c *Program) Stay() {
	if c.Env("GOGC") == "" && c.ballast == nil {
		debug.SetGCPercent(stayingGCPercent)
		c.ballast = make([]byte, ballastSize)
	}
	if c.Env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(math.MaxInt64)
	}
}
