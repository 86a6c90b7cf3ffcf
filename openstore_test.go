package cairn_test

import (
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestOpenStore: a store can be measured, checked and asked what a cleaning would free,
// whether its root is there or gone. What would have to work in the root is refused.
func TestOpenStore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	f.trackAll()
	dir, root := f.repo().StoreDir(), f.repo().Root()
	f.closeAll()
	lookAtStore(t, dir, root)
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	lookAtStore(t, dir, root)
	_, err := cairn.OpenStore(t.TempDir())
	assertError(t, err, cairn.ErrStore)
}

func lookAtStore(t *testing.T, dir, root string) {
	t.Helper()
	s, err := cairn.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Dir() != dir || s.Root() != root {
		t.Errorf("store %s of %s", s.Dir(), s.Root())
	}
	if u, err := s.Usage(background); err != nil || u.Checkpoints != 1 || string(u.Root) != root {
		t.Errorf("usage %+v, %v", u, err)
	}
	if found, err := s.Check(background, cairn.CheckOptions{}); err != nil || len(found) > 0 {
		t.Errorf("check %+v, %v", found, err)
	}
	_, err = s.Check(background, cairn.CheckOptions{Fix: true})
	assertError(t, err, cairn.ErrStore)
	if done, err := s.Clean(background, cairn.CleanOptions{DryRun: true, Thorough: true}); err != nil || done.Kept != 1 {
		t.Errorf("clean %+v, %v", done, err)
	}
	_, err = s.Clean(background, cairn.CleanOptions{})
	assertError(t, err, cairn.ErrStore)
}
