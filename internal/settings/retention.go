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

// Retention says what may be cleaned away. The zero value is the usual one. What is
// pinned, and the newest KeepLast checkpoints and operations, never go. Beyond MaxCount
// and MaxBytes the oldest checkpoints go, also those at the beginning of a line that
// goes on: a day's line or a session.
type Retention struct {
	// MaxAge is how long a line lives after its last checkpoint: a day's checkpoints,
	// or a session. Operations go one by one. 0 = DefaultMaxAge, NoLimit = for ever.
	MaxAge time.Duration

	MaxCount int   // checkpoints to keep, the oldest go first; 0 or NoLimit = any number
	MaxBytes int64 // size of the store to keep to, the oldest go first; 0 = Repo.DefaultBudget, NoLimit = any
	MinFree  int64 // bytes to leave free on the disk while cleaning; 0 = DefaultMinFree, NoLimit = none
	KeepLast int   // newest ones that live whatever the rest says; 0 = DefaultKeepLast, NoLimit = none but the newest checkpoint
}

// NoBytes is a size that no store reaches.
const NoBytes int64 = 1<<63 - 1

// WithDefaults replaces what is 0. budget is asked for the size of a store if none is given.
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
	}
}

// limit replaces 0 by the default, and NoLimit by what stands for none.
func limit[T int | int64 | time.Duration](v, fallback, none T) T {
	switch {
	case v == 0:
		return fallback
	case v < 0:
		return none
	}
	return v
}
