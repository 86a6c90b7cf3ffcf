package settings

import (
	"time"
)

// Defaults of a Retention.
const (
	DefaultMaxAge   = 7 * 24 * time.Hour
	DefaultMinFree  = 1 << 30 // bytes
	DefaultKeepLast = 20
)

// Retention says which checkpoints a cleaning may remove. The zero value is the usual policy.
// Pinned checkpoints, and the newest KeepLast checkpoints and operations, are never removed. Beyond
// MaxCount and MaxBytes the oldest checkpoints go first, including those at the beginning of a line
// that goes on: the line of a day or a session.
type Retention struct {
	// MaxAge is how long a line lives after its last checkpoint. A line is a day's checkpoints or a
	// session. Operations are removed one by one. 0 = DefaultMaxAge, NoLimit = for ever.
	MaxAge time.Duration

	MaxCount int   // number of checkpoints to keep, the oldest go first; 0 = any number, as NoLimit
	MaxBytes int64 // largest size of the store, the oldest go first; 0 = 5 GiB, or a tenth of the disk that was free when the store was made, if that is less; NoLimit = any
	MinFree  int64 // bytes to leave free on the disk while cleaning; 0 = DefaultMinFree, NoLimit = none
	// Keep thins old checkpoints inside their lines. The zero value thins none.
	Keep Keep

	KeepLast int // number of the newest ones that always live; 0 = DefaultKeepLast, NoLimit = only the newest checkpoint
}

// Room is what a Retention demands of a capture. 0 = nothing.
type Room struct {
	MinFree  int64 // bytes to leave free on the disk of the store
	MaxBytes int64 // largest size of the store
}

// NoBytes is a size that no store reaches.
const NoBytes int64 = 1<<63 - 1

// WithDefaults replaces zero values by the defaults. It calls budget for MaxBytes.
func WithDefaults(k Retention, budget func() int64) Retention {
	if k.MaxBytes == 0 {
		k.MaxBytes = budget()
	}
	return Retention{
		MaxAge:   limit(k.MaxAge, DefaultMaxAge, 1<<63-1),
		MaxCount: limit(k.MaxCount, 1<<31-1, 1<<31-1),
		MaxBytes: limit(k.MaxBytes, NoBytes, NoBytes),
		MinFree:  limit(k.MinFree, DefaultMinFree, 0),
		KeepLast: limit(k.KeepLast, DefaultKeepLast, 0),
		Keep:     k.Keep,
	}
}

// limit replaces 0 by the default, and NoLimit by the value none.
func limit[T int | int64 | time.Duration](v, fallback, none T) T {
	switch {
	case v == 0:
		return fallback
	case v < 0:
		return none
	}
	return v
}
