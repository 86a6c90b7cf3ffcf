package git

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// version0 begins the configuration of every repository.
const version0 = "[core]\nrepositoryFormatVersion = 0\n"

// world is a machine with its configuration files: what the user's own git sees.
type world struct {
	o     *gittest.Oracle
	dir   string
	user  UserConfig
	top   string
	extra []string // environment
}

func newWorld(t *testing.T) *world {
	t.Helper()
	o := gittest.NewOracle(t)
	w := &world{o: o, dir: tempDir(t)}
	w.user = UserConfig{Home: mkdir(t, filepath.Join(w.dir, "home")), System: []string{filepath.Join(w.dir, "etc", "gitconfig")}}
	w.top = o.Init(filepath.Join(w.dir, "home", "desk", "w"))
	write(t, filepath.Join(w.top, ".git", "config"), version0)
	return w
}

// git runs git as the user would.
func (w *world) git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + w.user.Home, "GIT_CONFIG_SYSTEM=" + w.user.System[0],
		"PWD=" + dir, "GIT_CEILING_DIRECTORIES=" + w.dir,
	}, w.extra...)
	if w.user.ConfigHome != "" {
		cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+w.user.ConfigHome)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	return string(out), err
}

// compare asks git for the settings that apply in dir.
func (w *world) compare(t *testing.T, dir string) {
	t.Helper()
	r, err := Find(dir)
	if err != nil || r == nil {
		t.Fatalf("%s: %v, %v", dir, r, err)
	}
	got, err := r.IgnoreSettings(w.user)
	if err != nil {
		t.Errorf("settings of %s: %v", dir, err)
	}
	want := IgnoreSettings{InfoExclude: got.InfoExclude}
	path, err := w.git(r.Top, "config", "--get", "--type=path", "core.excludesFile")
	switch path = strings.TrimSuffix(path, "\n"); {
	case err != nil && w.user.ConfigHome != "":
		want.ExcludesFile = filepath.Join(w.user.ConfigHome, "git", "ignore")
	case err != nil:
		want.ExcludesFile = filepath.Join(w.user.Home, ".config", "git", "ignore")
	case path != "" && !filepath.IsAbs(path):
		want.ExcludesFile = filepath.Join(r.Top, path)
	case path != "":
		want.ExcludesFile = filepath.Clean(path)
	}
	fold, _ := w.git(r.Top, "config", "--get", "--type=bool", "core.ignoreCase")
	want.IgnoreCase = fold == "true\n"
	if got.ExcludesFile != "" {
		got.ExcludesFile = filepath.Clean(got.ExcludesFile)
	}
	if got != want {
		all, err := w.git(r.Top, "config", "--list", "--show-origin")
		t.Errorf("settings of %s:\n%+v, git says\n%+v\n%s%v", dir, got, want, all, err)
	}
}

func TestIgnoreSettingsLevels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.compare(t, w.top) // nothing at all
	levels := []string{
		w.user.System[0],
		filepath.Join(w.user.Home, ".config", "git", "config"),
		filepath.Join(w.user.Home, ".gitconfig"),
		filepath.Join(w.top, ".git", "config"),
		filepath.Join(w.top, ".git", "config.worktree"),
	}
	for i, path := range levels {
		write(t, path, fmt.Sprintf(version0+"\n\texcludesFile = ~/from/%d\n\tignoreCase = %v\n", i, i%2 == 0))
		w.compare(t, w.top)
	}
	write(t, levels[3], version0+"excludesfile=relative/path\n[extensions]\nworktreeConfig\n")
	w.compare(t, w.top)
	write(t, levels[4], "[core]\nexcludesFile = relative/too\n")
	w.compare(t, w.top)
	write(t, levels[4], "[core]\nexcludesFile =\n")
	w.compare(t, w.top)
	w.user.ConfigHome = filepath.Join(w.dir, "xdg")
	write(t, filepath.Join(w.user.ConfigHome, "git", "config"), "[core]\nignorecase=no\nexcludesfile=/abs\n")
	for _, path := range levels[2:] {
		write(t, path, version0)
		w.compare(t, w.top)
	}
	if err := os.Remove(filepath.Join(w.user.ConfigHome, "git", "config")); err != nil {
		t.Fatal(err)
	}
	w.compare(t, w.top)
}

func TestIgnoreSettingsLinkedWorktree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write(t, filepath.Join(w.top, "f"), "x")
	w.o.Commit(w.top, "one")
	linked := filepath.Join(w.dir, "home", "linked")
	w.o.In(w.top, "worktree", "add", "-q", linked)
	w.o.In(w.top, "config", "core.excludesFile", "here")
	w.compare(t, linked)
	w.o.In(w.top, "config", "extensions.worktreeConfig", "true")
	w.o.In(linked, "config", "--worktree", "core.excludesFile", "there")
	w.compare(t, linked)
	w.compare(t, w.top)
}

// A relative core.excludesFile counts from the top, wherever git is started.
func TestRelativeExcludesFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write(t, filepath.Join(w.user.Home, ".gitconfig"), "[core]\nexcludesFile = my/excludes\n")
	sub := mkdir(t, filepath.Join(w.top, "sub"))
	write(t, filepath.Join(w.top, "my", "excludes"), "*.top\n")
	write(t, filepath.Join(sub, "my", "excludes"), "*.sub\n")
	r, err := Find(sub)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.IgnoreSettings(w.user)
	if err != nil || s.ExcludesFile != filepath.Join(w.top, "my", "excludes") {
		t.Errorf("excludes file %s, %v", s.ExcludesFile, err)
	}
	if out, err := w.git(sub, "check-ignore", "x.top", "x.sub"); err != nil || out != "x.top\n" {
		t.Errorf("git ignores %q, %v, want x.top", out, err)
	}
}

func TestIncludes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	home := w.user.Home
	config := filepath.Join(home, ".gitconfig")
	set := func(value string) string { return "[core]\nexcludesFile = " + value + "\n" }
	write(t, filepath.Join(home, "inc"), set("/from/inc"))
	write(t, filepath.Join(home, "d", "one"), "[include]\npath = two\n"+set("/from/one"))
	write(t, filepath.Join(home, "d", "two"), set("/from/two")+"[core]\nignorecase\n")
	write(t, filepath.Join(home, "d", "up"), "[include]\npath = ../inc\n")
	for name, text := range map[string]string{
		"relative":           "[include]\npath = inc\n",
		"home":               set("/before") + "[include]\npath = ~/inc\n",
		"overridden after":   "[include]\npath = inc\n" + set("/after"),
		"absolute":           "[include]\npath = " + filepath.Join(home, "inc") + "\n",
		"missing":            set("/stays") + "[include]\npath = nothing/here\n",
		"nested":             "[include]\npath = d/one\n",
		"up":                 "[include]\npath = d/up\n",
		"several":            "[include]\npath = inc\npath = d/two\n",
		"twice":              "[include]\npath = inc\n" + set("/x") + "[include]\npath = inc\n",
		"in a subsection":    "[include \"x\"]\npath = inc\n",
		"upper case":         "[INCLUDE]\nPath = inc\n",
		"unknown condition":  "[includeIf \"moon:full\"]\npath = inc\n",
		"no condition":       "[includeIf]\npath = inc\n",
		"empty condition":    "[includeIf \"\"]\npath = inc\n",
		"branch":             "[includeIf \"onbranch:main\"]\npath = inc\n",
		"other branch":       "[includeIf \"onbranch:mai\"]\npath = inc\n",
		"git directory":      "[includeIf \"gitdir:~/desk/\"]\npath = inc\n",
		"two conditions":     "[includeIf \"gitdir:~/nodesk/\"]\npath = inc\n[includeIf \"gitdir:W/.GIT\"]\npath=d/two\n[includeIf \"gitdir/i:W/.GIT\"]\npath = d/two\n",
		"null device":        "[include]\npath = /dev/null\n" + set("/stays"),
		"fuller than its if": "[includeIf \"gitdir:**\"]\nother = inc\n",
	} {
		write(t, config, text)
		t.Run(name, func(t *testing.T) { w.compare(t, w.top) })
	}
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	// In the repository's own configuration paths are relative to .git.
	write(t, filepath.Join(w.top, ".git", "config"), version0+"[include]\npath = ../shared\n[includeIf \"gitdir:./\"]\npath=../no\n[includeIf \"gitdir:.\"]\npath=../no\n")
	write(t, filepath.Join(w.top, "shared"), set("/from/shared"))
	write(t, filepath.Join(w.top, "no"), set("/from/no"))
	w.compare(t, w.top)
}

// A symbolic link on the way counts by both of its names.
func TestIncludeIfBySpelling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write(t, filepath.Join(w.user.Home, "inc"), "[core]\nexcludesFile = /included\n")
	symlink(t, filepath.Join("home", "desk"), filepath.Join(w.dir, "alias"))
	mkdir(t, filepath.Join(w.top, "sub"))
	for _, pattern := range []string{"alias/w/.git", "desk/w/.git", filepath.Join(w.dir, "alias") + "/", "alias/"} {
		for _, dir := range []string{"alias/w", "home/desk/w"} {
			write(t, filepath.Join(w.user.Home, ".gitconfig"), "[includeIf \"gitdir:"+pattern+"\"]\npath = inc\n")
			from := filepath.Join(w.dir, dir)
			r, err := Find(from)
			if err != nil || r == nil {
				t.Fatal(r, err)
			}
			s, err := r.IgnoreSettings(w.user)
			if err != nil {
				t.Fatal(err)
			}
			out, _ := w.git(from, "config", "core.excludesFile")
			if got, want := s.ExcludesFile == "/included", out == "/included\n"; got != want {
				t.Errorf("gitdir:%s from %s: met %v, git says %v", pattern, dir, got, want)
			}
		}
	}
	// From below the top too, where git has lost the spelling.
	write(t, filepath.Join(w.user.Home, ".gitconfig"), "[includeIf \"gitdir:alias/\"]\npath = inc\n")
	r, err := Find(filepath.Join(w.dir, "alias", "w", "sub"))
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	if s, err := r.IgnoreSettings(w.user); err != nil || s.ExcludesFile != "/included" {
		t.Errorf("from below: %+v, %v", s, err)
	}
}

// conditions writes a configuration with one includeIf per condition and returns
// which are met: by git, and by this package.
func (w *world) conditions(t *testing.T, from string, conditions []string) (want, got []string) {
	t.Helper()
	var text strings.Builder
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for i, c := range conditions {
		fmt.Fprintf(&text, "[includeIf \"%s\"]\npath = inc/%d\n", quote.Replace(c), i)
		path := filepath.Join(w.user.Home, "inc", fmt.Sprint(i))
		if _, err := os.Stat(path); err != nil {
			write(t, path, fmt.Sprintf("[met]\ni%d\n", i))
		}
	}
	write(t, filepath.Join(w.user.Home, ".gitconfig"), text.String())
	out, err := w.git(from, "config", "--list", "--name-only", "-z")
	if err != nil {
		t.Fatal(err)
	}
	name := func(line string) (string, bool) {
		n, ok := strings.CutPrefix(line, "met.i")
		var i int
		if ok {
			_, err := fmt.Sscan(n, &i)
			ok = err == nil
		}
		if !ok {
			return "", false
		}
		return conditions[i], true
	}
	for line := range strings.SplitSeq(out, "\x00") {
		if c, ok := name(line); ok {
			want = append(want, c)
		}
	}
	repo, err := Find(from)
	if err != nil {
		t.Fatal(err)
	}
	r := &configReader{home: w.user.Home, repo: repo, sources: w.user.files()}
	if repo != nil {
		r.sources = append(r.sources, filepath.Join(repo.CommonDir, "config"))
	}
	r.visit = func(s setting) error {
		if c, ok := name(s.name); ok {
			got = append(got, c)
		}
		return nil
	}
	r.readAll()
	if len(r.errs) > 0 {
		t.Errorf("errors: %v", r.errs)
	}
	return want, got
}

func (w *world) compareConditions(t *testing.T, from string, conditions []string) (met int) {
	t.Helper()
	want, got := w.conditions(t, from, conditions)
	for _, c := range want {
		if !slices.Contains(got, c) {
			t.Errorf("from %s: %q is met, says git", from, c)
		}
	}
	for _, c := range got {
		if !slices.Contains(want, c) {
			t.Errorf("from %s: %q is not met, says git", from, c)
		}
	}
	return len(want)
}

func TestConditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write(t, filepath.Join(w.top, "f"), "x")
	w.o.Commit(w.top, "one")
	w.o.In(w.top, "checkout", "-q", "-b", "feature/Deep/x")
	w.o.In(w.top, "remote", "add", "origin", "https://example.com/org/repo.git")
	w.o.In(w.top, "remote", "add", "other", "git@host:a/b")
	linked := filepath.Join(w.dir, "home", "desk", "linked")
	w.o.In(w.top, "worktree", "add", "-q", linked)
	top := filepath.ToSlash(w.top)
	conditions := []string{
		"gitdir:" + top + "/.git", "gitdir:" + top, "gitdir:" + top + "/", "gitdir:" + top + "/.git/", "gitdir:" + top + "/*", "gitdir:" + top + "/**",
		"gitdir:~/", "gitdir:~/desk/w/.git", "gitdir:~/desk/*/.git", "gitdir:~/desk/", "gitdir:~/DESK/", "gitdir/i:~/DESK/", "gitdir:~", "gitdir:~/**/.git", "gitdir:~*",
		"gitdir:.git", "gitdir:w/.git", "gitdir:w", "gitdir:w/", "gitdir:desk/", "gitdir:ork/", "gitdir:*/.git", "gitdir:**/w/*", "gitdir:w/**", "gitdir:**",
		"gitdir:*", "gitdir:/", "gitdir:", "gitdir:/**", "gitdir:/**/w/.git", "gitdir:/*", "gitdir:./", "gitdir:./desk/w/.git", "gitdir:.", "gitdir:..", "gitdir:../",
		"gitdir:?/.git", "gitdir:[w]/.git", "gitdir:[!a]/.git", "gitdir:[^w]/.git", "gitdir:[a-z]/.git", "gitdir:[[:alpha:]]/.git", "gitdir:[[:digit:]]/.git", "gitdir:[[:nope:]]/.git",
		"gitdir:[w/.git", "gitdir:[]w]/.git", "gitdir:[w-]/.git", "gitdir:[-w]/.git", `gitdir:\w/.git`, `gitdir:w/.git\`, `gitdir:w\/.git`, "gitdir:w?.git", "gitdir:w[/].git", "gitdir:[[:graph:]]/.git", "gitdir:[[:lower:]]/.git", "gitdir:[[:upper:]]/.git", "gitdir:[[:punct:]]git", "gitdir:[![:space:][:cntrl:][:blank:]]/.git",
		"gitdir:[[:alnum:]]/[[:print:]][[:xdigit:]g]it", `gitdir:[\w]/.git`, `gitdir:[a\-z]/.git`, `gitdir:[\a-\z]/.git`, `gitdir:[w\`, `gitdir:[w-\`, "gitdir:[z-a]/.git", "gitdir:[", "gitdir:[!", "gitdir:[[:alpha:", "gitdir:w**.git",
		"gitdir/i:W/.GIT", "gitdir/I:w/.git", "GITDIR:w/.git", "gitdir :w/.git", "gitdir:W/.git", "gitdir/i:/**/W/", "gitdir:worktrees/", "gitdir:linked", "gitdir:desk/**/.git", "gitdir:desk***/",
		"onbranch:main", "onbranch:feature/Deep/x", "onbranch:feature/", "onbranch:feature/*", "onbranch:feature/**", "onbranch:**", "onbranch:*", "onbranch:**/x", "onbranch:feature/**/x",
		"onbranch:feature/*/x", "onbranch:Feature/", "onbranch:", "onbranch:/", "onbranch:x", "onbranch:linked", "onbranch:l*",
		"hasconfig:remote.*.url:https://example.com/**", "hasconfig:remote.*.url:https://example.com/*", "hasconfig:remote.*.url:git@host:*/*", "hasconfig:remote.*.url:**", "hasconfig:remote.*.url:",
		"hasconfig:remote.*.url:https://example.com/org/repo.git", "hasconfig:remote.origin.url:**", "hasconfig:remote.*.url:https://*/**", "hasconfig:user.*:x", "hasconfig:remote.*.url:ssh://**",
	}
	outside := mkdir(t, filepath.Join(w.dir, "outside"))
	for _, from := range []string{w.top, linked, outside} {
		w.compareConditions(t, from, conditions)
	}
}

func TestRandomConditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deep := w.o.Init(filepath.Join(w.dir, "home", "a.b", "[x]", "aab"))
	write(t, filepath.Join(w.top, "f"), "x")
	rng := rand.New(rand.NewPCG(3, 9))
	pieces := []string{"home", "a.b", "[x]", `\[x]`, "aab", ".git", "desk", "w", "*", "**", "?", "a*", "*b", "a*b", "*a*b*", "?ab", "[a-c]ab", "[!x]", "a[a]b", "**", "w*", "*.b", "a?b", "***", "[.]git", "a**b", `\a\a\b`, "[[:lower:]]"}
	met := 0
	for range 6 {
		var conditions []string
		for range gittest.Rounds(300) {
			n := 1 + rng.IntN(4)
			parts := make([]string, n)
			for i := range parts {
				parts[i] = pieces[rng.IntN(len(pieces))]
			}
			c := strings.Join(parts, "/") + []string{"", "", "/"}[rng.IntN(3)]
			conditions = append(conditions, []string{"gitdir:", "gitdir:~/", "gitdir:/**/", "gitdir:./", "gitdir/i:"}[rng.IntN(5)]+c)
		}
		for _, from := range []string{w.top, deep} {
			met += w.compareConditions(t, from, conditions)
		}
	}
	if all := 12 * gittest.Rounds(300); met < all/24 {
		t.Errorf("only %d of %d conditions are met: the test does not tell much", met, all)
	}
}

// A setting that cannot be used is reported and left out; the rest counts.
func TestIgnoreSettingsDegrade(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config  string
		want    string // excludes file, relative to home
		fold    bool
		problem string
	}{
		"mistake after":     {"[core]\nexcludesFile = ~/x\nignoreCase\n}\nexcludesFile = ~/y\n", "x", true, ".gitconfig:4: "},
		"mistake before":    {"[core\nexcludesFile = ~/x\n", ".config/git/ignore", false, ".gitconfig:1: "},
		"no value":          {"[core]\nexcludesFile = ~/x\nexcludesFile\n", "x", false, ".gitconfig:3: core.excludesfile has no value"},
		"another user":      {"[core]\nexcludesFile = ~root/x\n", ".config/git/ignore", false, "only ~/ is expanded"},
		"prefix":            {"[core]\nexcludesFile = %(prefix)/x\n", ".config/git/ignore", false, "only ~/ is expanded"},
		"not boolean":       {"[core]\nignoreCase\nignoreCase = maybe\nexcludesFile = ~/x\n", "x", true, "not a boolean"},
		"include no value":  {"[include]\npath\n[core]\nexcludesFile = ~/x\n", "x", false, "include.path has no value"},
		"include broken":    {"[core]\nexcludesFile = ~/x\n[include]\npath = broken\n[core]\nignoreCase\n", "early", true, "broken:3: "},
		"include directory": {"[core]\nexcludesFile = ~/x\n[include]\npath = .\n", "x", false, "not a regular file"},
		"include FIFO":      {"[include]\npath = pipe\n[core]\nexcludesFile = ~/x\n", "x", false, "not a regular file"},
		"include too large": {"[include]\npath = large\n[core]\nexcludesFile = ~/x\n", "x", false, "larger than"},
		"circle":            {"[include]\npath = .gitconfig\npath = circle\n[core]\nexcludesFile = ~/x\n", "x", true, ""},
		"too deep":          {"[include]\npath = deep0\n", "deep9", false, "too deeply"},
		"too many":          {"[include]\npath = many0\n[core]\nexcludesFile = ~/x\n", "x", false, "too many"},
		"optional, missing": {"[core]\nexcludesFile = ~/x\nexcludesFile = :(optional)~/missing\n", "x", false, ""},
		"optional, there":   {"[core]\nexcludesFile = :(optional)~/broken\n", "broken", false, ""},
		"include optional":  {"[include]\npath = :(optional)missing\npath = :(optional)circle\n", ".config/git/ignore", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := tempDir(t)
			tree := gittest.Tree{
				".gitconfig": gittest.File(test.config),
				"broken":     gittest.File("[core]\nexcludesFile = ~/early\t\nexcludesFile = \"~/x\n"),
				"circle":     gittest.File("[core]\nignoreCase = yes\n[include]\npath = .gitconfig\n"),
				"pipe":       gittest.FIFO(),
			}
			for i := range 12 {
				tree[fmt.Sprintf("deep%d", i)] = gittest.File(fmt.Sprintf("[core]\nexcludesFile=~/deep%d\n[include]\npath=deep%d\n", i, i+1))
				tree[fmt.Sprintf("many%d", i)] = gittest.File(strings.Repeat(fmt.Sprintf("[include]\npath=many%d\n", i+1), 10))
			}
			gittest.Create(t, home, tree)
			if name == "include too large" {
				if err := os.Truncate(filepath.Join(home, "broken"), maxConfig+1); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(filepath.Join(home, "broken"), filepath.Join(home, "large")); err != nil {
					t.Fatal(err)
				}
			}
			got, err := UserIgnoreSettings(UserConfig{Home: home}, home)
			if got.ExcludesFile != filepath.Join(home, test.want) || got.IgnoreCase != test.fold || got.InfoExclude != "" {
				t.Errorf("settings %+v, want %s, %v", got, test.want, test.fold)
			}
			switch {
			case test.problem == "" && err != nil:
				t.Errorf("error %v", err)
			case test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)):
				t.Errorf("error %v, want one with %q", err, test.problem)
			case err != nil && strings.Count(err.Error(), "\n") > 20:
				t.Errorf("%d lines of errors", strings.Count(err.Error(), "\n"))
			}
		})
	}
}

func TestUserIgnoreSettings(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	if s, err := UserIgnoreSettings(UserConfig{}, dir); s != (IgnoreSettings{}) || err != nil {
		t.Errorf("without any configuration: %+v, %v", s, err)
	}
	config := filepath.Join(dir, "c", "git", "config")
	write(t, config, "[core]\nexcludesFile = rel\n[includeIf \"gitdir:**\"]\npath = "+config+"2\n")
	write(t, config+"2", "[core]\nignoreCase\n")
	s, err := UserIgnoreSettings(UserConfig{ConfigHome: filepath.Join(dir, "c")}, dir)
	if want := (IgnoreSettings{ExcludesFile: filepath.Join(dir, "rel")}); s != want || err != nil {
		t.Errorf("settings %+v, %v, want %+v", s, err, want)
	}
	s, err = UserIgnoreSettings(UserConfig{ConfigHome: filepath.Join(dir, "c")}, "")
	if s.ExcludesFile != filepath.Join(dir, "c", "git", "ignore") || err == nil {
		t.Errorf("relative to nothing: %+v, %v", s, err)
	}
	write(t, config, "[core]\nexcludesFile = ~/x\n")
	if _, err := UserIgnoreSettings(UserConfig{ConfigHome: filepath.Join(dir, "c")}, dir); err == nil || !strings.Contains(err.Error(), "home directory is not known") {
		t.Errorf("without a home: %v", err)
	}
	// A file in the place of a directory is as good as nothing.
	if s, err := UserIgnoreSettings(UserConfig{Home: config}, dir); err != nil || s.IgnoreCase {
		t.Errorf("home is a file: %+v, %v", s, err)
	}
}

// The user's own settings do not come from the environment of this process.
func TestNoEnvironment(t *testing.T) {
	home := tempDir(t)
	write(t, filepath.Join(home, ".gitconfig"), "[core]\nignoreCase\nexcludesFile = /from/home\n")
	o := gittest.NewOracle(t)
	top := o.Init(filepath.Join(tempDir(t), "w"))
	other := o.Init(filepath.Join(tempDir(t), "other"))
	for key, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_DIR": filepath.Join(other, ".git"), "GIT_WORK_TREE": other, "GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"),
		"GIT_COMMON_DIR": filepath.Join(other, ".git"), "GIT_INDEX_FILE": "/nowhere", "GIT_CEILING_DIRECTORIES": top, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.ignoreCase", "GIT_CONFIG_VALUE_0": "true",
	} {
		t.Setenv(key, value)
	}
	r, err := Find(mkdir(t, filepath.Join(top, "sub")))
	if err != nil || r == nil || r.Top != top {
		t.Fatalf("found %+v, %v, want %s", r, err, top)
	}
	s, err := r.IgnoreSettings(UserConfig{})
	if want := (IgnoreSettings{InfoExclude: filepath.Join(top, ".git", "info", "exclude")}); s != want || err != nil {
		t.Errorf("settings %+v, %v, want %+v", s, err, want)
	}
}

// A pattern made to be slow is not.
func TestGlobIsLinear(t *testing.T) {
	t.Parallel()
	if matchGlob(strings.Repeat("a*", 2000)+"b", strings.Repeat("a", 2000), false) {
		t.Error("matches")
	}
	if !matchGlob(strings.Repeat("**/", 500)+"x", strings.Repeat("y/", 700)+"x", false) {
		t.Error("does not match")
	}
	r := &configReader{}
	long := strings.Repeat("a*", 1<<14)
	for range 10 {
		r.glob(long, long, false)
	}
	if r.work <= maxGlobWork || r.glob("a", "a", false) {
		t.Error("conditions are not limited")
	}
}
