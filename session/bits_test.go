package session_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestV06_RevertLeavesBitsOfOtherFiles: the step makes other bits the most common. The
// files that it does not touch keep theirs when it is taken back.
func TestV06_RevertLeavesBitsOfOtherFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{
		"a": gittest.FileMode("a\n", 0o644), "b": gittest.FileMode("b\n", 0o600), "c": gittest.FileMode("c\n", 0o644),
	})
	before := gittest.Manifest(t, f.root)
	f.step("s", "m", "1", func() {
		gittest.Create(t, f.root, gittest.Tree{"d": gittest.FileMode("d\n", 0o600), "e": gittest.FileMode("e\n", 0o600)})
	})
	f.revert("s", session.Target{Message: "m"})
	gittest.AssertEqual(t, "after the revert", before, gittest.Manifest(t, f.root))
}
