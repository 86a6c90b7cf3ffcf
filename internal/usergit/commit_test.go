package usergit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/process"
)

func TestReplaceIndex(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	from := f.base().Index
	to := from
	to.data = bytes.Repeat([]byte("x"), 100)
	other := from
	other.data = []byte("other")
	if err := f.replaceIndex(&other, &to); !errors.Is(err, ErrMoved) {
		t.Errorf("an index that is not the expected one: %v", err)
	}
	f.must(f.replaceIndex(&from, &to))
	f.must(f.replaceIndex(&to, &from))
	to.info = 0o600 // of the copy
	back := f.base().Index
	if !back.same(&from) || back.info != from.info || !back.mtime.Equal(from.mtime) {
		t.Error("the index did not come back as it was")
	}
	f.must(f.replaceIndex(&from, &IndexFile{}))
	if f.base().Index.there {
		t.Error("there is an index")
	}
	f.must(f.replaceIndex(&IndexFile{}, &from))
	if _, err := os.Lstat(f.indexPath() + ".lock"); err == nil {
		t.Error("a lock is left")
	}
	f.want("status", "", f.run("status", "--porcelain"))
}

func TestCommitMakesTheEntries(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n"), "b": gittest.File("b\n")})
	s, base := f.scratch(), f.base()
	w := f.wanted(s, map[string]string{"a": "agent\n", "d/new": "n\n"})
	w.Entries["b"] = Entry{}
	made, err := s.Commit(background, base, w)
	f.must(err)
	if !made.AsPlanned || made.Next.Head != f.base().Head || made.Next.Head.Parents != base.Head.Commit {
		t.Errorf("%+v", made)
	}
	f.want("files", "M\ta\nD\tb\nA\td/new\n", f.run("show", "--format=", "--name-status", "HEAD"))
	f.want("staged", "", f.run("diff", "--cached"))
	if _, err := s.Commit(background, base, w); !errors.Is(err, ErrMoved) {
		t.Errorf("a base that is no more: %v", err)
	}
	f.git.Fsck(f.dir)
}

// commitBetween is a git that makes another commit when it is to make one.
const commitBetween = `#!/bin/sh
case $1 in
commit) test -e "$BETWEEN" || { touch "$BETWEEN"; env -u GIT_INDEX_FILE GIT_INDEX_FILE="$BETWEEN.index" sh -c '"$REAL" read-tree HEAD && "$REAL" update-index --add --cacheinfo "100644,$BLOB,theirs" && "$REAL" commit -q -m theirs'; } ;;
esac
exec "$REAL" "$@"
`

// TestCommitAfterAnotherOne lets another commit be made after HEAD was read and before git reads it.
// A commit of the planned tree would undo it.
func TestCommitAfterAnotherOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	real, err := exec.LookPath("git")
	f.must(err)
	program := filepath.Join(t.TempDir(), "git")
	gittest.Program(t, program, []byte(commitBetween))
	blob := strings.TrimSpace(f.git.Feed(f.dir, "theirs\n", "hash-object", "-w", "--stdin"))
	s, base := f.scratch(), f.base()
	f.Repo.program = program
	f.Repo.env = append(f.Repo.env, "REAL="+real, "BLOB="+blob, "BETWEEN="+filepath.Join(t.TempDir(), "between"))
	index := base.Index
	w := f.wanted(s, map[string]string{"a": "agent\n"})
	if made, err := s.Commit(background, base, w); !errors.Is(err, ErrMoved) || made.Commit != "" {
		t.Fatalf("got %+v, %v", made, err)
	}
	f.want("subjects", "theirs\nfirst\n", f.run("log", "--format=%s"))
	if now := f.base().Index; !now.same(&index) {
		t.Error("the index has changed")
	}
	_, err = s.Commit(background, f.base(), w)
	f.must(err)
	f.want("files", "a\ntheirs\n", f.run("ls-tree", "--name-only", "HEAD"))
	f.want("a", "agent\n", f.run("show", "HEAD:a"))
}

func TestCommitThatIsToldToEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	f.must(os.MkdirAll(filepath.Join(f.GitDir, "hooks"), 0o755))
	ctx, cancel := context.WithCancel(background)
	running := filepath.Join(t.TempDir(), "running")
	if err := exec.Command("mkfifo", running).Run(); err != nil {
		t.Skip("mkfifo is needed:", err)
	}
	hook := "#!/bin/sh\necho >'" + running + "'\nexec >/dev/null 2>&1\nwhile test -e '" + running + "'; do sleep 0.02; done\n"
	gittest.Program(t, filepath.Join(f.GitDir, "hooks", "pre-commit"), []byte(hook))
	go func() {
		os.ReadFile(running)
		cancel()
	}()
	defer os.Remove(running)
	s, base := f.scratch(), f.base()
	if made, err := s.Commit(ctx, base, f.wanted(s, map[string]string{"a": "agent\n"})); err == nil || made.Commit != "" {
		t.Errorf("got %+v, %v", made, err)
	}
	if now := f.base(); now.Head != base.Head || !now.Index.same(&base.Index) {
		t.Error("HEAD or the index has changed")
	}
}

// TestRecover finds what a process has left that died with the index changed.
func TestRecover(t *testing.T) {
	t.Parallel()
	dead, err := os.StartProcess(os.Args[0], []string{os.Args[0], "-test.run=^$"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	owner, known := process.Of(dead.Pid)
	if _, err := dead.Wait(); err != nil || !known || owner.State() != process.Dead {
		t.Skipf("what process %v was is not known here: %v", owner, err)
	}
	for name, c := range map[string]struct {
		owner process.ID
		do    func(f *fixture)
		back  bool
	}{
		"dead":            {owner, func(*fixture) {}, true},
		"alive":           {owner: func() process.ID { self, _ := process.Self(); return self }(), do: func(*fixture) {}},
		"HEAD has moved":  {owner, func(f *fixture) { f.run("commit", "-q", "-m", "by the user") }, false},
		"index has moved": {owner, func(f *fixture) { f.run("update-index", "--force-remove", "b") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("a\n"), "b": gittest.File("b\n")})
			within := t.TempDir()
			base := f.base()
			s, err := f.NewScratch(within, base.Head)
			f.must(err)
			w := f.wanted(s, map[string]string{"a": "agent\n"})
			f.must(s.publish(background, &w))
			staged, err := s.staged(background, &base.Index, w.Staged)
			f.must(err)
			f.must(s.noteIndex(&base))
			f.must(f.replaceIndex(&base.Index, &staged))
			text, err := json.Marshal(note{c.owner, f.GitDir, base.Head})
			f.must(err)
			f.must(os.WriteFile(filepath.Join(s.dir, noteFile), text, 0o600))
			c.do(f)
			before := f.base().Index
			f.must(f.Recover(background, within))
			now := f.base().Index
			if c.back && !now.same(&base.Index) || !c.back && !now.same(&before) {
				t.Errorf("the index was put back: %v, want %v", !now.same(&before), c.back)
			}
			if c.back && (now.info != base.Index.info || !now.mtime.Equal(base.Index.mtime)) {
				t.Error("the index came back with other bits or another time")
			}
			if _, err := os.Stat(s.dir); (err == nil) != (name == "alive") {
				t.Errorf("the directory: %v", err)
			}
			f.must(s.Close())
		})
	}
}

func TestRecoverRemovesOldDirectories(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	within := t.TempDir()
	old := time.Now().Add(-2 * unnoted)
	for name, at := range map[string]time.Time{"commit-old": old, "commit-new": time.Now(), "another": old} {
		f.must(os.Mkdir(filepath.Join(within, name), 0o700))
		f.must(os.Chtimes(filepath.Join(within, name), at, at))
	}
	f.must(f.Recover(background, within))
	f.must(f.Recover(background, filepath.Join(within, "none")))
	list, err := os.ReadDir(within)
	f.must(err)
	if len(list) != 2 || list[0].Name() != "another" || list[1].Name() != "commit-new" {
		t.Errorf("left: %v", list)
	}
}
