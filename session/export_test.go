package session

import (
	"maps"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// SetClocks gives sessions other clocks: that on the wall, and the time for which the
// machine has been awake.
func SetClocks(s *Sessions, wall func() time.Time, awake func() time.Duration) {
	s.clock = wall
	s.awake = func() process.Instant { return process.Instant{Boot: "boot", Up: awake()} }
}

// Loaded lists the sessions whose lines were read.
func Loaded(s *Sessions) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.known))
}
