//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// undoesInAShell: cairn undo in a shell takes the agent's turn back and names its prompt. (V52)
func (a *typist) undoesInAShell() {
	a.t.Helper()
	before := a.state()
	a.turn("shell.txt")
	a.namedInAShell("took back", "undo")
	a.is("after undo in a shell", before)
}

// namedInAShell runs cairn, which names the newest turn by its prompt.
func (a *typist) namedInAShell(did string, args ...string) {
	a.t.Helper()
	out := a.run("", append([]string{cairnProgram}, args...)...)
	named := regexp.MustCompile(did + `: the turn "please play ACT_\d+ now" of .* \(1 file: shell\.txt\)`)
	if out.status != 0 || !named.MatchString(words(out.stderr)) {
		a.t.Fatalf("cairn undo in a shell: status %d\n%s%s", out.status, out.stdout, out.stderr)
	}
}

// undoesLate: another process has the store, so undo takes long. It ends in one answer: that
// of the undo, or that the store is not free. (V47)
func (a *typist) undoesLate() {
	a.t.Helper()
	before := a.state()
	a.turn("late.txt")
	after := a.state()
	claims := a.claims()
	a.commands(func() {
		waited, release := a.holdsStore()
		a.until("cairn undo", "a hook that waits for the store", waited)
		a.is("while undo waits for the store", after)
		release()
		a.sees(`took back 1 turn: 1 deleted deleted late\.txt`)
		a.is("after an undo that took long", before)
		if n := a.claims(); n > claims {
			a.t.Errorf("more than one answer:\n%s", a.screen())
		}
	})
	if holdsOn() {
		a.undoesInVain()
	}
}

// holdsOn reports whether a store is held until undo gives up: that takes half a minute.
func holdsOn() bool { return os.Getenv("CAIRN_E2E") >= "2" }

// inVain is the answer while another process has the store.
const inVain = `: not in time: store is locked .*in a shell it has all the time it needs: cairn session undo \S+`

func (a *typist) undoesInVain() {
	a.t.Helper()
	before := a.state()
	a.turn("vain.txt")
	after := a.state()
	a.commands(func() {
		_, release := a.holdsStore()
		if screen := a.says("cairn undo", "cairn: undo"+inVain); strings.Contains(screen, "nothing to take back") {
			a.t.Errorf("that nothing is there to take back is not true:\n%s", screen)
		}
		a.is("after an undo in vain", after)
		release()
		a.says("cairn undo", `took back 1 turn: 1 deleted deleted vain\.txt`)
		a.is("after undo with a store that is free", before)
	})
}

// claims counts the answers on the screen that say that an undo did nothing.
func (a *typist) claims() int {
	return len(regexp.MustCompile(`nothing to take back|not in time|nothing was done`).FindAllString(words(a.screen()), -1))
}

// holdsStore takes the locks of all stores. waited reports whether a process waits for one.
func (a *typist) holdsStore() (waited func() bool, release func()) {
	a.t.Helper()
	list, err := filepath.Glob(filepath.Join(a.home, ".local/share/cairn/snapshot/*/cairn/lock"))
	if err != nil || len(list) == 0 {
		a.t.Fatalf("no store: %v", err)
	}
	var locks []*flock.Flock
	release = func() {
		for _, l := range locks {
			l.Close()
		}
	}
	a.t.Cleanup(release)
	for _, path := range list {
		l := flock.New(path)
		if ok, err := l.TryLockContext(a.t.Context(), lookPause); !ok || err != nil {
			a.t.Fatalf("lock %s: %v", path, err)
		}
		locks = append(locks, l)
	}
	return func() bool {
		for _, path := range list {
			if taken(path + ".wait") {
				return true
			}
		}
		return false
	}, release
}

// taken reports whether a process has a lock on a file.
func taken(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	l := flock.New(path, flock.SetFlag(os.O_RDWR))
	defer l.Close()
	free, err := l.TryLock()
	return err == nil && !free
}

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

// onAFullDisk ends the agent and opens it again with a store that has no room.
func (a *typist) onAFullDisk(opens func()) {
	a.t.Helper()
	a.tmux("kill-server")
	a.endAll() // Codex calls hooks from a server that keeps its environment
	full := gittest.SmallDisk(a.t, 1<<20)
	if err := os.WriteFile(filepath.Join(full, "fill"), make([]byte, 2<<20), 0o600); err == nil {
		a.t.Fatal("the small disk is not full")
	}
	a.env = append(a.env, "CAIRN_DATA_DIR="+full)
	opens()
}

// cannotBeProtected: the store's disk is full. No answer claims that there was nothing.
func (a *typist) cannotBeProtected() {
	a.t.Helper()
	a.onAFullDisk(a.opens)
	a.turn("unsaved.txt")
	a.sees(`cairn cannot protect this session, so its changes cannot be taken back: .*no space left`)
	after := a.state()
	a.commands(func() {
		if screen := a.says("cairn undo", `cairn: undo: .*no space left|nothing was done: .*no space left`); strings.Contains(screen, "nothing to take back") {
			a.t.Errorf("that nothing is there to take back is not true:\n%s", screen)
		}
		a.says("cairn log", `log: .*no space left|was captured: .*no space left`)
		a.is("after undo on a full disk", after)
	})
}
