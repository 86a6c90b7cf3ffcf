package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestNamed: a repository that GIT_DIR names is found where git finds it, but for directories to which a
// process may have carried the variable from elsewhere.
func TestNamed(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	o := gittest.NewOracle(t)
	dir := tempDir(t)
	at := func(path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }
	o.In(dir, "init", "-q", "--bare", "bare.git")
	o.In(dir, "init", "-q", "--bare", "work/inside.git")
	o.In(dir, "init", "-q", "--bare", "set.git")
	o.In(at("set.git"), "config", "core.bare", "false")
	o.In(at("set.git"), "config", "core.worktree", "../work")
	o.In(dir, "init", "-q", "--bare", "both.git")
	o.In(at("both.git"), "config", "core.worktree", "../work")
	committed(t, o, at("work/nested"))
	committed(t, o, at("repo"))
	o.In(at("repo"), "worktree", "add", "-q", at("linked"))
	write(t, at("file"), "gitdir: bare.git\n")
	for _, path := range []string{"work/sub", "plain", "repo/sub", "linked/sub"} {
		mkdir(t, at(path))
	}
	work := at("work")
	for name, c := range map[string]struct {
		from     string
		dir      string // GIT_DIR
		tree     string // GIT_WORK_TREE
		top, git string // what is found; "" = nothing
		unlike   bool   // git takes the named repository
	}{
		"work tree":                    {"work", "bare.git", work, "work", "bare.git", false},
		"below it":                     {"work/sub", "bare.git", work, "work", "bare.git", false},
		"file":                         {"work/sub", "file", work, "work", "bare.git", false},
		"core.worktree":                {"work/sub", "set.git", "", "work", "set.git", false},
		"over core.worktree":           {"plain", "set.git", at("plain"), "plain", "set.git", false},
		"bare with core.worktree":      {"work", "both.git", "", "", "", false},
		"inside the work tree":         {"work/sub", "work/inside.git", work, "work", "work/inside.git", false},
		"in place of .git":             {"repo/sub", "bare.git", at("repo"), "repo", "bare.git", false},
		"the same":                     {"repo/sub", "repo/.git", at("repo"), "repo", "repo/.git", false},
		"linked":                       {"linked/sub", "repo/.git/worktrees/linked", at("linked"), "linked", "repo/.git/worktrees/linked", false},
		"of another work tree":         {"repo/sub", "bare.git", work, "repo", "repo/.git", true},
		"of another, without .git":     {"plain", "bare.git", work, "", "", true},
		"of another by core.worktree":  {"repo", "set.git", "", "repo", "repo/.git", true},
		"no work tree is named":        {"plain", "bare.git", "", "", "", false},
		"a .git of another directory":  {"plain", "repo/.git", "", "", "", true},
		"a repository between the two": {"work/nested", "bare.git", work, "work/nested", "work/nested/.git", true},
		"in the named one":             {"work/inside.git/refs", "work/inside.git", work, "", "work/inside.git", true},
		"nothing is named":             {"repo/sub", "absent", at("repo"), "repo", "repo/.git", true},
		"no repository is named":       {"repo/sub", "plain", at("repo"), "repo", "repo/.git", true},
		"no work tree there":           {"plain", "bare.git", at("absent"), "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := FindNamed(at(c.from), Named{Dir: at(c.dir), WorkTree: c.tree})
			if err != nil {
				t.Fatal(err)
			}
			if got == nil {
				got = &Repo{}
			}
			if want := named(dir, c.top); got.Top != want {
				t.Errorf("top %q, want %q", got.Top, want)
			}
			if want := named(dir, c.git); got.GitDir != want {
				t.Errorf("git directory %q, want %q", got.GitDir, want)
			}
			args := []string{"--git-dir=" + at(c.dir)}
			if c.tree != "" {
				args = append(args, "--work-tree="+c.tree)
			}
			says, err := o.Try(at(c.from), append(args, "rev-parse", "--show-toplevel", "--absolute-git-dir")...)
			if err != nil {
				says = ""
			}
			want := ""
			if got.Top != "" {
				want = got.Top + "\n" + got.GitDir + "\n"
			}
			if same := filepath.FromSlash(says) == want; same == c.unlike {
				t.Errorf("git says %q, found %q", says, want)
			}
		})
	}
}

// named is a path below dir, "" for none.
func named(dir, path string) string {
	if path == "" {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}

// TestNamedSettings: the rules of a named repository are those of its configuration, also behind a
// condition about the place that was named.
func TestNamedSettings(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	o := gittest.NewOracle(t)
	dir := tempDir(t)
	o.In(dir, "init", "-q", "--bare", "bare.git")
	work, home := mkdir(t, filepath.Join(dir, "work")), mkdir(t, filepath.Join(dir, "home"))
	symlink(t, "bare.git", filepath.Join(dir, "link"))
	write(t, filepath.Join(home, ".gitconfig"), "[includeIf \"gitdir:"+filepath.ToSlash(dir)+"/link\"]\npath = more\n")
	write(t, filepath.Join(home, "more"), "[core]\nexcludesFile = /of/the/link\n")
	r, err := FindNamed(work, Named{Dir: filepath.Join(dir, "link"), WorkTree: work})
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	s, err := r.IgnoreSettings(UserConfig{Home: home})
	want := IgnoreSettings{InfoExclude: filepath.Join(dir, "bare.git", "info", "exclude"), ExcludesFile: "/of/the/link"}
	if err != nil || s != want {
		t.Errorf("settings %+v, %v, want %+v", s, err, want)
	}
	if _, err := os.Stat(s.InfoExclude); err != nil {
		t.Error(err)
	}
	says := o.In(work, "-c", "include.path="+filepath.Join(home, ".gitconfig"), "--git-dir="+filepath.Join(dir, "link"), "config", "core.excludesFile")
	if strings.TrimSpace(says) != s.ExcludesFile {
		t.Errorf("git says %q", says)
	}
}
