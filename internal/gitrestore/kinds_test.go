package gitrestore

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/odb/keep"
)

// kinds make repositories of other kinds from an origin with some commits, in a directory.
var kinds = map[string]func(o *gittest.Oracle, origin, dir string) error{
	"shallow": func(o *gittest.Oracle, origin, dir string) error {
		_, err := o.Try(filepath.Dir(dir), "clone", "-q", "--depth=2", "file://"+origin, dir)
		return err
	},
	"partial": func(o *gittest.Oracle, origin, dir string) error {
		o.In(origin, "config", "uploadpack.allowFilter", "true")
		_, err := o.Try(filepath.Dir(dir), "clone", "-q", "--filter=blob:none", "file://"+origin, dir)
		return err
	},
	"linked work tree": func(o *gittest.Oracle, origin, dir string) error {
		_, err := o.Try(origin, "worktree", "add", "-q", "-b", "linked", dir)
		return err
	},
	"of a bare one": func(o *gittest.Oracle, origin, dir string) error {
		o.In(origin, "clone", "-q", "--bare", origin, dir+".git")
		_, err := o.Try(dir+".git", "worktree", "add", "-q", "-b", "linked", dir)
		return err
	},
	"shared": func(o *gittest.Oracle, origin, dir string) error {
		_, err := o.Try(filepath.Dir(dir), "clone", "-q", "--shared", origin, dir)
		return err
	},
	"separate git directory": func(o *gittest.Oracle, origin, dir string) error {
		_, err := o.Try(filepath.Dir(dir), "clone", "-q", "--separate-git-dir="+dir+".sep", origin, dir)
		return err
	},
	"sparse index": func(o *gittest.Oracle, origin, dir string) error {
		if err := os.Mkdir(filepath.Join(origin, "left-out"), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(origin, "left-out", "file"), nil, 0o644); err != nil {
			return err
		}
		o.Commit(origin, "a directory")
		o.In(filepath.Dir(dir), "clone", "-q", origin, dir)
		o.In(dir, "config", "advice.sparseIndexExpanded", "false")
		_, err := o.Try(dir, "sparse-checkout", "set", "--cone", "--sparse-index", "nowhere")
		return err
	},
	"reftable": func(o *gittest.Oracle, origin, dir string) error {
		_, err := o.Try(filepath.Dir(dir), "clone", "-q", "--ref-format=reftable", origin, dir)
		return err
	},
}

// TestKinds: all kinds of repositories go back after a reset and a gc, and forth again. A git that
// does not know a kind skips it.
func TestKinds(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, clone := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gittest.NeedGit(t)
			origin := newWorld(t)
			origin.git("reset", "-q", "--hard")
			top := t.TempDir()
			dir := filepath.Join(top, "w")
			if err := clone(origin.Oracle, origin.dir, dir); err != nil {
				t.Skipf("this git makes no such repository: %v", err)
			}
			binary, err := git.LookBinary()
			if err != nil {
				t.Fatal(err)
			}
			w := &world{Oracle: origin.Oracle, t: t, dir: dir, vault: keep.At(filepath.Join(top, "vault"), false), n: 100}
			w.Applier = Applier{Git: binary, Vault: w.vault.Dir(), Note: "cairn: test"}
			w.commit()
			w.commit()
			w.git("branch", "mine")
			w.write("file", "stashed")
			w.git("stash", "-q")
			w.write("staged", "staged")
			w.git("add", "staged")
			before, want, files := w.record(), w.look(), w.files()
			w.git("reset", "-q", "--hard", "HEAD~2")
			w.git("stash", "clear")
			w.git("branch", "-q", "-D", "mine")
			w.git("reflog", "expire", "--expire=now", "--all")
			w.git("gc", "-q", "--prune=now")
			after, harmed, left := w.record(), w.look(), w.files()
			if p := w.back(before, after, Parts{}); len(p.Conflicts) > 0 {
				t.Errorf("conflicts %v", p.Conflicts)
			}
			w.putBack(files)
			w.same("back", want)
			w.back(after, w.record(), Parts{})
			w.putBack(left)
			w.same("and forth", harmed)
		})
	}
}

// TestSourceGone: a clone whose alternates have vanished is whole again after its own objects and
// those of the source come out of the vault.
func TestSourceGone(t *testing.T) {
	t.Parallel()
	origin := newWorld(t)
	origin.git("reset", "-q", "--hard")
	w := *origin
	w.dir = filepath.Join(t.TempDir(), "w")
	w.In(origin.dir, "clone", "-q", "--shared", origin.dir, w.dir)
	w.vault = keep.At(filepath.Join(t.TempDir(), "vault"), false)
	w.Vault = w.vault.Dir()
	w.commit()
	before, want := w.record(), w.look()
	w.must(os.RemoveAll(origin.dir))
	w.must(os.RemoveAll(filepath.Join(w.dir, ".git")))
	w.back(before, nil, Parts{})
	w.same("built again", want)
}

func ExampleStashes() {
	log := "0 1111 a <a> 1 +0\tWIP on main\n1111 2222 a <a> 2 +0\tOn main: x\n"
	for _, s := range Stashes([]byte(log)) {
		fmt.Println(s.ID, s.Message)
	}
	// Output:
	// 2222 On main: x
	// 1111 WIP on main
}
