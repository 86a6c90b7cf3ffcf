package httpapi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestForks: a fork is made, listed with what it changed, and removed once nothing would be lost.
func TestForks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.track()
	dir := filepath.Join(t.TempDir(), "fork")
	var made cairn.ForkResult
	f.call("POST", "/fork", ForkRequest{Directory: dir, DryRun: true}).want(t, 200, &made)
	if _, err := os.Lstat(dir); err == nil || made.Files != 1 || !made.DryRun {
		t.Errorf("a plan: %+v", made)
	}
	f.call("POST", "/fork", ForkRequest{Directory: dir}).want(t, 200, &made)
	if string(made.Dir) != dir || string(made.Root) != f.root || made.Store == "" {
		t.Errorf("%+v", made)
	}
	f.call("POST", "/fork", ForkRequest{Directory: dir}).want(t, 400, nil)
	f.call("POST", "/fork", ForkRequest{Directory: "relative"}).want(t, 400, nil)
	f.call("POST", "/fork", ForkRequest{Directory: filepath.Join(dir, "none"), Session: "none"}).want(t, 404, nil)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var list []cairn.ForkInfo
	f.call("GET", "/forks", nil).want(t, 200, &list)
	if len(list) != 1 || string(list[0].Root) != dir || list[0].Changed != 1 || list[0].Unmerged != 1 || list[0].Error != "" {
		t.Errorf("%+v", list)
	}
	var gone cairn.RemovedFork
	f.call("POST", "/fork/remove", RemoveForkRequest{Directory: dir}).want(t, 409, nil)
	f.call("POST", "/fork/remove", RemoveForkRequest{Directory: dir, DryRun: true}).want(t, 200, &gone)
	if len(gone.Lost) != 1 || gone.Lost[0].Path != "a" {
		t.Errorf("%+v", gone)
	}
	f.call("POST", "/fork/remove", RemoveForkRequest{Directory: dir, Force: true}).want(t, 200, &gone)
	if _, err := os.Lstat(dir); err == nil || gone.Saved == "" {
		t.Errorf("%+v", gone)
	}
	f.call("POST", "/fork/remove", RemoveForkRequest{Directory: dir}).want(t, 404, nil)
}
