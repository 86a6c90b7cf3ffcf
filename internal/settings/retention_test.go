package settings

import (
	"math"
	"testing"
	"time"
)

// The zero value of a setting selects its default, NoLimit switches the limit off, and any
// other value stays.
func TestWithDefaults(t *testing.T) {
	t.Parallel()
	const budget = 1234
	for name, c := range map[string]struct{ in, want Retention }{
		"zero": {
			Retention{},
			Retention{MaxAge: DefaultMaxAge, MaxCount: math.MaxInt32, MaxBytes: budget, MinFree: DefaultMinFree, KeepLast: DefaultKeepLast},
		},
		"no limit": {
			Retention{MaxAge: NoLimit, MaxCount: NoLimit, MaxBytes: NoLimit, MinFree: NoLimit, KeepLast: NoLimit},
			Retention{MaxAge: math.MaxInt64, MaxCount: math.MaxInt32, MaxBytes: NoBytes, MinFree: 0, KeepLast: 0},
		},
		"any negative value is no limit": {
			Retention{MaxAge: -time.Hour, MaxCount: -7, MaxBytes: -7, MinFree: -7, KeepLast: -7},
			Retention{MaxAge: math.MaxInt64, MaxCount: math.MaxInt32, MaxBytes: NoBytes, MinFree: 0, KeepLast: 0},
		},
		"set": {
			Retention{MaxAge: time.Hour, MaxCount: 2, MaxBytes: 3, MinFree: 4, KeepLast: 5},
			Retention{MaxAge: time.Hour, MaxCount: 2, MaxBytes: 3, MinFree: 4, KeepLast: 5},
		},
		"one set": {
			Retention{MaxCount: 9},
			Retention{MaxAge: DefaultMaxAge, MaxCount: 9, MaxBytes: budget, MinFree: DefaultMinFree, KeepLast: DefaultKeepLast},
		},
	} {
		if got := WithDefaults(c.in, func() int64 { return budget }); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// The default budget is looked up only if MaxBytes asks for it: the look-up reads a file.
func TestWithDefaultsAsksForTheBudget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bytes int64
		asked bool
	}{{0, true}, {1, false}, {NoLimit, false}} {
		asked := false
		WithDefaults(Retention{MaxBytes: c.bytes}, func() int64 { asked = true; return 1 })
		if asked != c.asked {
			t.Errorf("MaxBytes %d: budget looked up %v, want %v", c.bytes, asked, c.asked)
		}
	}
}

// WithDefaults of its own result changes nothing, so a policy may pass through it twice.
func TestWithDefaultsTwice(t *testing.T) {
	t.Parallel()
	budget := func() int64 { return 77 }
	for _, in := range []Retention{{}, {MaxCount: 3, KeepLast: 1}, {MaxBytes: NoLimit, MaxAge: NoLimit}} {
		once := WithDefaults(in, budget)
		if twice := WithDefaults(once, budget); twice != once {
			t.Errorf("%+v becomes %+v, then %+v", in, once, twice)
		}
	}
}
