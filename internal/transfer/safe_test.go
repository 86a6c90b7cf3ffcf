package transfer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestRemoteOfAnotherUser: git refuses a repository on this machine that belongs to another user, says which setting lets
// it in, and goes by that setting.
func TestRemoteOfAnotherUser(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	bare := filepath.Join(t.TempDir(), "it's shared.git")
	o.In(filepath.Dir(bare), "init", "-q", "--bare", "--template=", bare)
	m := newMachine(t)
	m.track(map[string]string{"a": "1\n"})
	m.Opt.Home = t.TempDir()
	foreign := "GIT_TEST_ASSUME_DIFFERENT_OWNER=1"
	refs, err := m.DB.Refs("refs/cairn/tracks/")
	if err != nil || len(refs) != 1 {
		t.Fatalf("%v, %v", refs, err)
	}
	push := []string{refs[0].Name + ":refs/cairn/0123456789abcdef/0123456789abcdef/tracks/day"}
	call := func(where string, args, rest []string) error {
		to, err := OpenRemote(m.Store, where)
		if err != nil {
			t.Fatal(err)
		}
		_, err = to.run(t.Context(), m.DB.Dir(), args, rest, foreign)
		return err
	}
	err = call(bare, []string{"push"}, push)
	if err == nil {
		t.Skip("this git takes a repository of another user")
	}
	if !strings.Contains(err.Error(), "; git config --global --add safe.directory ") {
		t.Fatalf("a repository of another user: %v", err)
	}
	config := "[safe]\n\tdirectory = /elsewhere\n\tdirectory = " + bare + "\n"
	if err := os.WriteFile(filepath.Join(m.Opt.Home, ".gitconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{bare, "file://" + bare} {
		if err := call(where, []string{"push"}, push); err != nil {
			t.Errorf("push to %s: %v", where, err)
		}
		if err := call(where, []string{"ls-remote"}, nil); err != nil {
			t.Errorf("list of %s: %v", where, err)
		}
		if err := call(where, []string{"fetch"}, []string{"refs/cairn/*:refs/cairn/incoming/*"}); err != nil {
			t.Errorf("fetch from %s: %v", where, err)
		}
	}
}
