package ignore

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// world is a repository as far as ignore rules are concerned.
type world struct {
	fold         bool
	exclude      string            // text of info/exclude
	excludesFile string            // text of the file that core.excludesFile names
	rules        map[string]string // directory -> text of its .gitignore
}

// judge says what the rules make of a path, asked as the walker of a tree asks: from
// the top down, entering only what is not ignored. A path that ends in '/' is a
// directory.
func (w *world) judge(path string) Verdict {
	path, dir := strings.CutSuffix(path, "/")
	c := w.top()
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if c.Ignored(path[:i], true) {
			return Ignore
		}
		c = w.enter(c, path[:i])
	}
	return c.verdict(path, dir)
}

// covers asks Covers of a chain in which all rule files above the path were entered,
// those in ignored directories, too.
func (w *world) covers(path string) bool {
	path, dir := strings.CutSuffix(path, "/")
	c := w.top()
	for i := range len(path) {
		if path[i] == '/' {
			c = w.enter(c, path[:i])
		}
	}
	return c.Covers(path, dir)
}

func (w *world) top() *Chain {
	c := NewChain(Parse([]byte(w.exclude), w.fold), Parse([]byte(w.excludesFile), w.fold))
	return w.enter(c, "")
}

func (w *world) enter(c *Chain, dir string) *Chain {
	text, ok := w.rules[dir]
	if !ok {
		return c
	}
	return c.Enter(dir, Parse([]byte(text), w.fold))
}

// String shows the world in a failed test.
func (w *world) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "fold %v, exclude %q, excludesFile %q", w.fold, w.exclude, w.excludesFile)
	for dir, text := range w.rules {
		fmt.Fprintf(&b, "\n\t%q: %q", dir, text)
	}
	return b.String()
}

// write makes a repository of w in a new directory, with those of the paths that are
// directories: git looks at the disk to tell them from files.
func (w *world) write(t testing.TB, paths []string) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"repo/.git/HEAD":         "ref: refs/heads/main\n",
		"repo/.git/objects/keep": "",
		"repo/.git/refs/keep":    "",
		"repo/.git/info/exclude": w.exclude,
		"excludes":               w.excludesFile,
	}
	for dir, text := range w.rules {
		files["repo/"+dir+"/.gitignore"] = text
	}
	for name, text := range files {
		name = filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must(t, os.WriteFile(name, []byte(text), 0o666))
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "/") {
			must(t, os.MkdirAll(filepath.Join(root, "repo", path), 0o777))
		}
	}
	return filepath.Join(root, "repo")
}

// git runs git on a repository that write made and returns what it prints.
func (w *world) git(t testing.TB, repo, stdin string, args ...string) string {
	t.Helper()
	args = append([]string{
		"-c", fmt.Sprintf("core.ignoreCase=%v", w.fold),
		"-c", "core.excludesFile=" + filepath.Join(filepath.Dir(repo), "excludes"),
	}, args...)
	cmd := exec.Command("git", args...)
	cmd.Dir = repo
	cmd.Env = gitEnv(filepath.Dir(repo))
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	// check-ignore exits with 1 if it found nothing.
	if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 || stderr.Len() > 0) {
		t.Fatalf("git %q: %v\n%s", args, err, &stderr)
	}
	return string(out)
}

func gitEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CEILING_DIRECTORIES=" + home, "HOME=" + home, "LC_ALL=C",
	}
}

// ask returns git's verdicts.
func (w *world) ask(t testing.TB, paths []string) []Verdict {
	t.Helper()
	repo := w.write(t, paths)
	var stdin strings.Builder
	for _, path := range paths {
		if strings.HasPrefix(path, ":") {
			stdin.WriteString("./") // or it would be pathspec magic
		}
		stdin.WriteString(strings.TrimSuffix(path, "/") + "\x00")
	}
	out := w.git(t, repo, stdin.String(), "check-ignore", "--no-index", "-v", "-z", "--stdin", "-n")
	fields := strings.Split(out, "\x00") // source, line, pattern, path; the last is ""
	if len(fields) != 4*len(paths)+1 {
		t.Fatalf("git answered %d fields to %d paths", len(fields), len(paths))
	}
	verdicts := make([]Verdict, len(paths))
	for i := range paths {
		switch source, pattern := fields[4*i], fields[4*i+2]; {
		case source == "":
			verdicts[i] = None
		case strings.HasPrefix(pattern, "!"):
			verdicts[i] = Include
		default:
			verdicts[i] = Ignore
		}
	}
	return verdicts
}

// gitVersion returns the version of the installed git, or skips the test.
var gitVersion = sync.OnceValues(func() ([2]int, error) {
	cmd := exec.Command("git", "version")
	cmd.Env = gitEnv(os.DevNull)
	out, err := cmd.Output()
	if err != nil {
		return [2]int{}, err
	}
	var v [2]int
	_, err = fmt.Sscanf(string(out), "git version %d.%d", &v[0], &v[1])
	return v, err
})

func needGit(t testing.TB) {
	t.Helper()
	if _, err := gitVersion(); err != nil {
		t.Skipf("no git to ask: %v", err)
	}
}

// needAnyName skips tests whose file names not every system allows.
func needAnyName(t testing.TB) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("file names of arbitrary bytes need linux")
	}
}

// gitMisreads reports whether the installed git is older than 2.52 and takes the
// line for another one: two stars right behind a literal were treated as a component
// of their own, so that foo**/bar matched foobar and foo/bar** matched foo/bar/x.
func gitMisreads(line string) bool {
	v, err := gitVersion()
	return err == nil && slices.Compare(v[:], []int{2, 52}) < 0 && starsBehindLiteral(line)
}

func starsBehindLiteral(line string) bool {
	for line := range lines(line) {
		line = strings.TrimSuffix(strings.TrimPrefix(line, "!"), "/")
		if !strings.Contains(line, "/") {
			continue
		}
		line = strings.TrimPrefix(line, "/")
		at := strings.IndexAny(line, `*?[\`)
		if at < 1 || line[at-1] == '/' || !strings.HasPrefix(line[at:], "**") {
			continue
		}
		rest := strings.TrimLeft(line[at:], "*")
		if rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`) {
			return true
		}
	}
	return false
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
