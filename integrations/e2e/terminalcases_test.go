//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// keepsRedo: a turn that changes nothing, as a question, leaves redo alone.
func (a *typist) keepsRedo() {
	a.t.Helper()
	a.turn("asked.txt")
	after := a.state()
	a.commands(func() { a.says("cairn undo", `took back 1 turn: 1 deleted deleted asked\.txt`) })
	a.plays(script{"it is forty two"})
	a.commands(func() {
		a.says("cairn redo", `brought back 1 turn: 1 restored restored asked\.txt`)
		a.is("after a question and redo", after)
	})
}

// tellsWhatGitDid: a turn moves to another branch. Undo brings the files back and says
// what git keeps, with the command that takes it back.
func (a *typist) tellsWhatGitDid() {
	a.t.Helper()
	a.git("-c", "user.name=dev", "-c", "user.email=dev@example.com", "commit", "-q", "--allow-empty", "-m", "begin")
	branch := a.git("symbolic-ref", "--short", "HEAD")
	before := a.state()
	a.plays(script{shell("git checkout -q -b other; echo x > branched.txt"), "done with branched"})
	a.commands(func() {
		a.says("cairn undo", `took back 1 turn: 1 deleted deleted branched\.txt.*HEAD was on `+branch+` and is on other.*this takes it back: git symbolic-ref HEAD`)
		a.is("after undo of a turn that changed the branch", before)
	})
	a.git("symbolic-ref", "HEAD", "refs/heads/"+branch)
}

// git runs git in the project and returns its line of output.
func (a *typist) git(args ...string) string {
	a.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = a.project
	out, err := cmd.CombinedOutput()
	if err != nil {
		a.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// meetsDamage: the packs of the store are damaged. The answer is one line with the next
// step, and no file changes.
func (a *typist) meetsDamage() {
	a.t.Helper()
	a.turn("damaged.txt")
	after := a.state()
	undamage := a.damagesPacks()
	a.commands(func() {
		if screen := a.says("cairn undo", `cairn doctor --fix`); strings.Contains(screen, "nothing to take back") {
			a.t.Errorf("that nothing is there to take back is not true:\n%s", screen)
		}
		a.is("after undo with a damaged store", after)
	})
	undamage()
}

// damagesPacks cuts the packs of all stores, and returns what brings them back.
func (a *typist) damagesPacks() (undamage func()) {
	a.t.Helper()
	whole := make(map[string][]byte)
	err := filepath.WalkDir(filepath.Join(a.home, ".local/share/cairn"), func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".pack" {
			return err
		}
		if whole[path], err = os.ReadFile(path); err == nil {
			err = os.Truncate(path, int64(len(whole[path])/2))
		}
		return err
	})
	if err != nil || len(whole) == 0 {
		a.t.Fatalf("%d packs: %v", len(whole), err)
	}
	return func() {
		for path, data := range whole {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				a.t.Fatal(err)
			}
		}
	}
}
