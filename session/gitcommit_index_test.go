package session_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestCommitKeepsFormsOfTheIndex commits beside each kind of index and entry that git knows.
func TestCommitKeepsFormsOfTheIndex(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, c := range map[string]struct {
		prepare func(f *gitFixture)
		listed  string // of ls-files -v, in part
	}{
		"split":            {func(f *gitFixture) { f.run("update-index", "--split-index") }, "H a\n"},
		"version 4":        {func(f *gitFixture) { f.run("update-index", "--index-version", "4") }, "H a\n"},
		"untracked cache":  {func(f *gitFixture) { f.run("update-index", "--force-untracked-cache") }, "H a\n"},
		"assume unchanged": {func(f *gitFixture) { f.run("update-index", "--assume-unchanged", "mine") }, "h mine\n"},
		"skip worktree":    {func(f *gitFixture) { f.run("update-index", "--skip-worktree", "mine") }, "S mine\n"},
		"intent to add":    {func(f *gitFixture) { f.run("add", "-N", "new", "more") }, "H more\n"},
		"renamed":          {func(f *gitFixture) { f.run("mv", "mine", "yours") }, "H yours\n"},
		"removed":          {func(f *gitFixture) { f.run("rm", "-q", "--cached", "mine") }, "H a\n"},
		"a mode":           {func(f *gitFixture) { f.run("update-index", "--chmod=+x", "mine") }, "H mine\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines), "mine": gittest.File("m\n"), "d/b": gittest.File("b\n")})
			f.write("more", "m\n")
			f.turn("s", "m1", "one", func() { f.replace("a", "5\n", "agent\n"); f.write("new", "n\n"); f.remove("d/b") })
			c.prepare(f)
			f.replace("a", "1\n", "user\n")
			cached := f.run("diff", "--cached")
			if _, err := f.commit(session.GitCommitOptions{}); err != nil {
				t.Fatal(err)
			}
			f.want("files", "M\ta\nD\td/b\nA\tnew\n", f.run("show", "--format=", "--name-status", "HEAD"))
			f.want("staged", cached, f.run("diff", "--cached"))
			if got := f.run("ls-files", "-v"); !strings.Contains(got, c.listed) {
				t.Errorf("ls-files -v: %s, want %s", got, c.listed)
			}
			if got := changedLines(f.run("diff", "a")); got != "-1\n+user\n" {
				t.Errorf("the user's lines: %s", got)
			}
		})
	}
}

func TestCommitOutsideASparseCheckout(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"in/a": gittest.File("a\n"), "out/b": gittest.File("b\n"), "far/c": gittest.File("c\n")})
	f.git.NeedVersion(2, 37)
	f.run("sparse-checkout", "set", "--cone", "--sparse-index", "in")
	f.turn("s", "m1", "one", func() { f.write("in/a", "agent\n"); f.write("fresh/new", "n\n") })
	done, err := f.commit(session.GitCommitOptions{})
	if err != nil || len(done.Commits) != 1 {
		t.Fatal(done, err)
	}
	f.want("status", "", f.run("status", "--porcelain"))
	f.want("files", "far/c\nfresh/new\nin/a\nout/b\n", f.run("ls-tree", "-r", "--name-only", "HEAD"))
	f.want("staged", "", f.run("diff", "--cached"))
}

func TestCommitInASHA256Repository(t *testing.T) {
	t.Parallel()
	f := &gitFixture{newFixture(t, gittest.Tree{"a": gittest.File(tenLines)}), gittest.NewOracle(t)}
	f.git.NeedVersion(2, 29)
	f.git.Init(f.root, "--object-format=sha256")
	f.turn("s", "m1", "first", func() { f.write("b", "b\n") })
	f.turn("s", "m2", "second", func() { f.replace("a", "5\n", "agent\n") })
	if _, err := f.commit(session.GitCommitOptions{}, 1); err != nil {
		t.Fatal(err)
	}
	f.run("add", "a")
	f.run("commit", "-q", "-m", "user")
	f.turn("s", "m3", "third", func() { f.replace("a", "9\n", "agent\n") })
	f.replace("a", "1\n", "user\n")
	done, err := f.commit(session.GitCommitOptions{})
	if err != nil || len(done.Commits) != 1 || len(done.Commits[0].ID) != 64 {
		t.Fatal(done, err)
	}
	f.want("subjects", "third\nuser\nfirst\n", f.run("log", "--format=%s"))
	f.want("the user's lines", "-1\n+user\n", changedLines(f.run("diff")))
}

func TestCommitOfFilesInThePlaceOfDirectories(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"d/x": gittest.File("x\n"), "d/y": gittest.File("y\n"), "file": gittest.File("f\n"), "l": gittest.Link("file")})
	f.turn("s", "m1", "one", func() {
		f.remove("d")
		f.write("d", "a file now\n")
		f.remove("file")
		f.write("file/in", "a directory now\n")
		f.remove("l")
		f.write("l", "no link\n")
	})
	f.turn("s", "m2", "two", func() { f.remove("d"); f.write("d/z", "and again\n") })
	if _, err := f.commit(session.GitCommitOptions{}); err != nil {
		t.Fatal(err)
	}
	f.want("status", "", f.run("status", "--porcelain"))
	f.want("files", "d\nfile/in\nl\n", f.run("ls-tree", "-r", "--name-only", "HEAD~1"))
}

// TestCommitAttributesOfTheTurn changes rules and files together: the rules on disk count, as for
// git add.
func TestCommitAttributesOfTheTurn(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"sub/a": gittest.File("a\r\nb\r\n"), ".gitattributes": gittest.File("*.x text\n")})
	f.turn("s", "m1", "one", func() { f.write("sub/.gitattributes", "* text=auto\n"); f.write("sub/b", "1\r\n2\r\n") })
	f.turn("s", "m2", "two", func() { f.write("sub/.gitattributes", "* text\n"); f.write("sub/b", "1\r\n2\r\n3\r\n") })
	if _, err := f.commit(session.GitCommitOptions{}); err != nil {
		t.Fatal(err)
	}
	f.want("sub/b in HEAD", "1\n2\n3\n", f.run("show", "HEAD:sub/b"))
	f.want("rules in HEAD~1", "* text=auto\n", f.run("show", "HEAD~1:sub/.gitattributes"))
	f.want("rules in HEAD", "* text\n", f.run("show", "HEAD:sub/.gitattributes"))
}

func TestCommitWithoutFileModes(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"run": gittest.Exec("1\n"), "a": gittest.File("a\n")})
	f.run("config", "core.fileMode", "false")
	f.turn("s", "m1", "one", func() {
		f.remove("run")
		f.write("run", "2\n")
		gittest.Create(t, f.root, gittest.Tree{"new": gittest.Exec("n\n")})
	})
	if _, err := f.commit(session.GitCommitOptions{}); err != nil {
		t.Fatal(err)
	}
	f.want("status", "", f.run("status", "--porcelain"))
	want := "100644 a\n100644 new\n100755 run\n"
	var got string
	for _, line := range strings.Split(strings.TrimSpace(f.run("ls-tree", "-r", "HEAD")), "\n") {
		got += line[:6] + " " + line[strings.IndexByte(line, '\t')+1:] + "\n"
	}
	f.want("modes", want, got)
}

// TestCommitOfSessionsOnTheSameFile lets two agents change lines of one file by turns.
func TestCommitOfSessionsOnTheSameFile(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines)})
	f.turn("s", "m1", "one", func() { f.replace("a", "2\n", "s2\n") })
	f.turn("other", "o1", "other one", func() { f.replace("a", "6\n", "o6\n") })
	f.replace("a", "10\n", "user\n")
	f.turn("s", "m2", "two", func() { f.replace("a", "4\n", "s4\n") })
	f.turn("other", "o2", "other two", func() { f.replace("a", "s2\n", "o2\n") })
	opt := session.GitCommitOptions{Env: f.env()}
	if _, err := f.CommitTurns(background, "other", nil, opt); err == nil || !strings.Contains(err.Error(), "turn 2 cannot be committed alone: a: ") {
		t.Errorf("a turn that builds on the other session: %v", err)
	}
	if _, err := f.CommitTurns(background, "other", []int{1}, opt); err != nil {
		t.Fatal(err)
	}
	f.want("the other lines", "-2\n+o2\n-4\n+s4\n-10\n+user\n", changedLines(f.run("diff")))
	if done, err := f.commit(session.GitCommitOptions{}); err != nil || len(done.Commits) != 2 {
		t.Fatal(done, err)
	}
	f.want("the other lines", "-s2\n+o2\n-10\n+user\n", changedLines(f.run("diff")))
	if done, err := f.CommitTurns(background, "other", nil, opt); err != nil || len(done.Commits) != 1 {
		t.Fatal(done, err)
	}
	f.want("the user's lines", "-10\n+user\n", changedLines(f.run("diff")))
	f.want("staged", "", f.run("diff", "--cached"))
	f.want("subjects", "other two\ntwo\none\nother one\nfirst\n", f.run("log", "--format=%s"))
}

// numbered is a text of numbered lines, some of which are changed.
func numbered(changed ...map[int]string) string {
	var text strings.Builder
	for i := range 60 {
		line := fmt.Sprintf("line %d\n", i)
		for _, m := range changed {
			if m[i] != "" {
				line = m[i]
			}
		}
		text.WriteString(line)
	}
	return text.String()
}

// TestCommitBesideStagedLines has lines of the agent, staged lines and other lines of the user in
// one file. HEAD, index and work tree afterwards have each exactly what they should.
func TestCommitBesideStagedLines(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for range gittest.Rounds(15) {
		f := newGitFixture(t, gittest.Tree{"a": gittest.File(numbered())})
		agent, staged, user := map[int]string{}, map[int]string{}, map[int]string{}
		places := rng.Perm(20)
		edit := func(m map[int]string, text string) {
			m[3*places[0]+rng.IntN(2)] = text
			places = places[1:]
			f.write("a", numbered(agent, staged, user))
		}
		stage := func() {
			id := strings.TrimSpace(f.git.Feed(f.root, numbered(staged), "hash-object", "-w", "--stdin"))
			f.run("update-index", "--cacheinfo", "100644,"+id+",a")
		}
		for turn := range 3 {
			edit(user, "user\n")
			if edit(staged, "staged\n"); rng.IntN(2) == 0 {
				stage()
			}
			f.turn("s", fmt.Sprint("m", turn), fmt.Sprint("turn ", turn), func() {
				for i := range 1 + rng.IntN(2) {
					edit(agent, fmt.Sprint("agent ", turn, i, "\nmore\n"))
				}
			})
			edit(user, "user again\n")
		}
		stage()
		cached := changedLines(f.run("diff", "--cached"))
		if _, err := f.commit(session.GitCommitOptions{Squash: rng.IntN(2) == 0}); err != nil {
			t.Fatal(err)
		}
		f.want("HEAD", numbered(agent), f.run("show", "HEAD:a"))
		f.want("the index", numbered(agent, staged), f.run("show", ":a"))
		f.want("staged", cached, changedLines(f.run("diff", "--cached")))
	}
}
