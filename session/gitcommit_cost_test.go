package session_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// processes counts the processes of git that f starts. git writes a trace of each.
func (f *gitFixture) processes(do func(env []string)) int {
	f.Helper()
	f.git.NeedVersion(2, 22)
	dir := f.TempDir()
	do(append(f.env(), "GIT_TRACE2_EVENT="+dir))
	list, err := os.ReadDir(dir)
	if err != nil {
		f.Fatal(err)
	}
	return len(list)
}

// commitOfMany counts the processes for turns in which the agent changes files that have lines of
// the user, too.
func commitOfMany(t *testing.T, turns, files, steps int) int {
	t.Helper()
	tree := gittest.Tree{}
	for i := range files {
		tree[fmt.Sprintf("d%d/%d", i%7, i)] = gittest.File(tenLines)
	}
	f := newGitFixture(t, tree)
	for name := range tree {
		f.replace(name, "1\n", "user\n")
	}
	for turn := range turns {
		message := fmt.Sprint("m", turn)
		for step := range steps {
			f.step("s", message, fmt.Sprint(turn, " ", step), func() {
				for name := range tree {
					f.write(name, strings.Replace(f.read(name), "10\n", fmt.Sprint("10\n", turn, " ", step, "\n"), 1))
				}
			})
		}
	}
	count := f.processes(func(env []string) {
		done, err := f.CommitTurns(background, "s", nil, session.GitCommitOptions{Env: env})
		if err != nil || len(done.Commits) != turns || len(done.Commits[0].Files) != files {
			t.Fatal(done, err)
		}
	})
	f.want("the user's lines", strings.Repeat("-1\n+user\n", files), changedLines(f.run("diff")))
	return count
}

func TestCommitCostsNoProcessForAFile(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	few, many, steps := commitOfMany(t, 1, 2, 1), commitOfMany(t, 1, 120, 1), commitOfMany(t, 1, 2, 20)
	if few != many || few != steps {
		t.Errorf("%d processes for 2 files, %d for 120, %d for 20 steps", few, many, steps)
	}
	const most = 26
	if few > most {
		t.Errorf("a commit costs %d processes, more than %d", few, most)
	}
	const each = 14
	six := commitOfMany(t, 6, 3, 1)
	if six > few+5*each {
		t.Errorf("6 commits cost %d processes, one %d", six, few)
	}
}
