package usergit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestCommitLeavesTheFilesThatGitLeaves compares with git commit: which files of the git directory go with a
// commit, those of a squash and of a merge that has ended for instance.
func TestCommitLeavesTheFilesThatGitLeaves(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(f *fixture){
		"merge --squash": func(f *fixture) { f.run("merge", "-q", "--squash", "side") },
		"leftovers": func(f *fixture) {
			for _, name := range []string{"MERGE_MSG", "SQUASH_MSG", "MERGE_MODE", "AUTO_MERGE", "REBASE_HEAD", "ORIG_HEAD"} {
				f.must(os.WriteFile(filepath.Join(f.GitDir, name), []byte(f.base().Head.Commit+"\n"), 0o644))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lists [2]string
			for i := range lists {
				f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
				f.run("branch", "-M", "main")
				f.run("checkout", "-q", "-b", "side")
				f.write("b", "b\n")
				f.run("add", "b")
				f.git.Commit(f.dir, "side")
				f.run("checkout", "-q", "main")
				begin(f)
				before := f.files()
				if i == 0 {
					f.write("a", "agent\n")
					f.git.Commit(f.dir, "by git")
				} else {
					s := f.scratch()
					_, err := s.Commit(background, f.base(), f.wanted(s, map[string]string{"a": "agent\n"}))
					f.must(err)
				}
				lists[i] = f.files()
				if before == lists[0] {
					t.Error("git has removed nothing")
				}
			}
			if lists[0] != lists[1] {
				t.Errorf("after git commit: %s\nafter this one: %s", lists[0], lists[1])
			}
		})
	}
}

// files lists the files of the git directory itself.
func (f *fixture) files() string {
	f.Helper()
	list, err := os.ReadDir(f.GitDir)
	f.must(err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
