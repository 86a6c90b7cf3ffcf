package cairn_test

import (
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// R111: off means off, for every call that captures; existing checkpoints can be read.
func TestR111SwitchedOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	f.opt.Disabled = "somebody said so"
	_, err := cairn.Open(f.opt)
	assertError(t, err, cairn.ErrDisabled)
	if _, err := os.Stat(f.data); err == nil {
		t.Error("a store was made")
	}
	f.opt.Disabled = ""
	hash := f.trackAll()
	f.write("a", "2")
	f.opt.Disabled = "somebody said so"
	r := f.repo()
	_, err = r.Track(background, cairn.TrackOptions{})
	assertError(t, err, cairn.ErrDisabled)
	_, err = r.Restore(background, hash, cairn.RestoreOptions{})
	assertError(t, err, cairn.ErrDisabled)
	err = access.Lines(r).Update(background, func(u *operation.LineUpdate) error {
		_, err := u.Append(background, "session", operation.LineAppend{Capture: true})
		return err
	})
	assertError(t, err, cairn.ErrDisabled)
	if f.read("a") != "2" {
		t.Error("a restore went on although the state before could not be saved")
	}
	if changes, err := r.Changes(background, hash, ""); err != nil || len(changes) != 1 {
		t.Errorf("changes %v, %v", changes, err)
	}
}

func TestR111RequireGit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	f.opt.RequireGit = true
	_, err := cairn.Open(f.opt)
	assertError(t, err, cairn.ErrDisabled)
	gittest.NewOracle(t).In(f.root, "init", "-q")
	f.trackAll()
}
