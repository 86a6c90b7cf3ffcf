package session_test

import (
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestThinnedBehindARevert: a revert is in effect, the agent was told of it, and its operation is gone by age. The
// states that bring the turns back stay.
func TestThinnedBehindARevert(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("0\n")})
	f.oneDay = true
	f.reopen()
	session.SetClocks(f.Sessions, gittest.OneDay, func() time.Duration { return 0 })
	f.turn("s", "m1", "write 1", "a", "1\n")
	f.turn("s", "m2", "write 2", "a", "2\n")
	f.revert("s", session.Target{Message: "m2"})
	f.write("b", "beside\n")
	f.revert("s", session.Target{Message: "m1"})
	if n, err := f.TakeNews(background, "s"); err != nil || n == nil {
		t.Fatalf("news %+v, %v", n, err)
	}
	opt := thinToday
	opt.MaxAge = 1
	if done, err := f.repo.Clean(background, opt); err != nil || done.Thinned == 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	for op, err := range f.repo.Operations(background) {
		t.Fatalf("%+v, %v", op, err)
	}
	f.whole()
	if _, res, err := f.Unrevert(background, "s", session.MoveOptions{}); err != nil || !res.Complete() {
		t.Errorf("%+v, %v", res, err)
	}
	f.is("a", "2\n")
}
