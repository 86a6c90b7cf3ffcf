package history_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// A token counts only for the Store whose lock gave it, and only until the lock is given back.
func TestTokenIsOfTheLock(t *testing.T) {
	t.Parallel()
	f, other := newPast(t), newPast(t)
	var kept, foreign *history.Locked
	panics := func(l *history.Locked) (does bool) {
		defer func() { does = recover() != nil }()
		f.Holds(l)
		return false
	}
	if err := f.Locked(t.Context(), func(l *history.Locked) error {
		if kept = l; panics(l) {
			t.Error("the token of the lock is refused")
		}
		return other.Locked(t.Context(), func(l *history.Locked) error {
			if foreign = l; !panics(foreign) {
				t.Error("the token of another store is accepted")
			}
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]*history.Locked{"no token": nil, "a made one": {}, "a kept one": kept, "a foreign one": foreign} {
		if !panics(l) {
			t.Errorf("%s is accepted", name)
		}
	}
}
