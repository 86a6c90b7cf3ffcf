package gittest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Oracle is the installed git, asked in a scrubbed environment: no configuration of
// user or machine, no GIT_* variable, no home directory, the C locale, a fixed
// author.
type Oracle struct {
	// ExcludesFile is core.excludesFile for WriteTree, "" for none.
	ExcludesFile string
	// IgnoreCase is core.ignoreCase for WriteTree. git then also takes names that
	// differ in case for one file, so a tree should not hold such names.
	IgnoreCase bool

	t     testing.TB
	mu    *sync.Mutex // held by WriteTree, which has one place for exclude patterns and index
	path  string      // of the program
	dir   string      // the oracle's own directory
	store string      // a repository in it, for WriteTree
	made  *sync.Once  // of store: most oracles are asked about other repositories alone
}

// attributesOff takes precedence over every .gitattributes file: it leaves each
// attribute that changes contents unset or unspecified, also where a macro sets it.
const attributesOff = "* -text -crlf !eol !filter !ident !working-tree-encoding !diff !merge\n"

// NewOracle returns an oracle, or skips the test where there is no git.
func NewOracle(t testing.TB) *Oracle {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: its answers cannot be compared")
	}
	o := &Oracle{t: t, mu: new(sync.Mutex), path: path, dir: t.TempDir(), made: new(sync.Once)}
	o.store = filepath.Join(o.dir, "store.git")
	return o
}

// makeStore makes the repository that WriteTree writes to, with all attributes off.
func (o *Oracle) makeStore() {
	o.t.Helper()
	o.run(o.dir, nil, "", "init", "-q", "--bare", "--template=", "-b", "main", o.store)
	info := filepath.Join(o.store, "info")
	if err := os.MkdirAll(info, 0o755); err != nil {
		o.t.Fatal(err)
	}
	o.write(filepath.Join(info, "attributes"), attributesOff)
}

// For returns the same oracle for a subtest, which may run in parallel to others.
// It shares the repository of o.
func (o *Oracle) For(t testing.TB) *Oracle {
	other := *o
	other.t = t
	return &other
}

// AtLeast reports whether the git that is asked is of this version or a later one.
func (o *Oracle) AtLeast(major, minor int) bool {
	o.t.Helper()
	var m, n int
	out := o.run(o.dir, nil, "", "version")
	if _, err := fmt.Sscanf(out, "git version %d.%d", &m, &n); err != nil {
		o.t.Fatalf("cannot read %q: %v", out, err)
	}
	return m > major || m == major && n >= minor
}

// NeedVersion skips the test unless git is of this version or a later one.
func (o *Oracle) NeedVersion(major, minor int) {
	o.t.Helper()
	if !o.AtLeast(major, minor) {
		o.t.Skipf("git is older than %d.%d", major, minor)
	}
}

// WriteTree returns the id of the tree that git would write of everything below
// root: git add -A . && git write-tree with all attributes off, in a repository of
// the oracle's own. Ignored are what .gitignore files, ExcludesFile, and the
// info/exclude of the user's repository in root (if there is one) say. The objects
// stay in the oracle's repository for CatFile and the like.
func (o *Oracle) WriteTree(root string) string {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	store := o.Store()
	o.copyExclude(root)
	index := filepath.Join(o.dir, "index")
	if err := os.RemoveAll(index); err != nil {
		o.t.Fatal(err)
	}
	env := []string{"GIT_DIR=" + store, "GIT_WORK_TREE=" + root, "GIT_INDEX_FILE=" + index}
	config := []string{
		"-c", "core.autocrlf=false", "-c", "core.safecrlf=false",
		"-c", "core.fileMode=true", "-c", "core.symlinks=true",
		"-c", "core.precomposeUnicode=false",
		"-c", "core.attributesFile=" + os.DevNull,
		"-c", "core.excludesFile=" + o.ExcludesFile,
		"-c", fmt.Sprintf("core.ignoreCase=%v", o.IgnoreCase),
		"-c", "core.looseCompression=0",
		"-c", "advice.addEmbeddedRepo=false", "-c", "advice.addEmptyPathspec=false",
	}
	o.run(root, env, "", append(config, "add", "-A", ".")...)
	return strings.TrimSpace(o.run(root, env, "", append(config, "write-tree")...))
}

// copyExclude gives the oracle's repository the info/exclude of root's.
func (o *Oracle) copyExclude(root string) {
	o.t.Helper()
	var patterns []byte
	if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil {
		path := strings.TrimSuffix(o.In(root, "rev-parse", "--git-path", "info/exclude"), "\n")
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		if patterns, err = os.ReadFile(path); err != nil && !os.IsNotExist(err) {
			o.t.Fatal(err)
		}
	}
	o.write(filepath.Join(o.store, "info", "exclude"), string(patterns))
}

// Git runs git in the repository that WriteTree writes to and returns its output;
// failing fails the test.
func (o *Oracle) Git(args ...string) string {
	o.t.Helper()
	return o.In(o.Store(), args...)
}

// In runs git in dir, which must be (not merely lie in) a work tree or a bare
// repository, and returns its output; failing fails the test.
func (o *Oracle) In(dir string, args ...string) string {
	o.t.Helper()
	return o.run(dir, ceiling(dir), "", args...)
}

// Feed is In with something to read on standard input.
func (o *Oracle) Feed(dir, stdin string, args ...string) string {
	o.t.Helper()
	return o.run(dir, ceiling(dir), stdin, args...)
}

// Try is In for commands that may fail.
func (o *Oracle) Try(dir string, args ...string) (output string, err error) {
	o.t.Helper()
	out, complaint, err := o.exec(dir, ceiling(dir), "", args...)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(complaint))
	}
	return out, err
}

// ceiling keeps git from looking above dir for a repository.
func ceiling(dir string) []string {
	return []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)}
}

// Init makes a repository with the work tree dir, which is created if need be, and
// returns dir. The branch is main. Of git's template there is an empty info/exclude alone:
// the sample hooks would be most of the files of a small repository.
func (o *Oracle) Init(dir string, args ...string) string {
	o.t.Helper()
	if err := makeDirs(dir); err != nil {
		o.t.Fatal(err)
	}
	o.In(dir, append([]string{"-c", "init.defaultBranch=main", "init", "-q", "--template="}, args...)...) // git before 2.28 has no -b
	git := filepath.Join(dir, ".git")
	if fi, err := os.Stat(git); err == nil && fi.IsDir() { // else it is bare, or lies elsewhere
		info := filepath.Join(git, "info")
		if err := makeDirs(info); err != nil {
			o.t.Fatal(err)
		}
		o.write(filepath.Join(info, "exclude"), "")
	}
	return dir
}

// Commit records everything that is not ignored in the work tree dir and returns
// the id of the commit.
func (o *Oracle) Commit(dir, message string) string {
	o.t.Helper()
	o.In(dir, "add", "-A", ".")
	o.In(dir, "commit", "-q", "--allow-empty", "-m", message)
	return strings.TrimSpace(o.In(dir, "rev-parse", "HEAD"))
}

// Fsck fails the test unless git fsck finds nothing to say about the repository dir.
// Objects that nothing refers to are not worth a word.
func (o *Oracle) Fsck(dir string) {
	o.t.Helper()
	out, complaint, err := o.exec(dir, ceiling(dir), "", "fsck", "--strict", "--full", "--no-dangling", "--no-progress")
	for line := range strings.Lines(out + complaint) {
		// Notices are about an unborn branch and no refs at all, hints about what makes git slow.
		if !strings.HasPrefix(line, "notice: ") && !strings.HasPrefix(line, "hint: ") {
			o.t.Errorf("git fsck %s: %s", dir, strings.TrimSpace(line))
		}
	}
	if err != nil {
		o.t.Errorf("git fsck %s: %v", dir, err)
	}
}

// DiffTree returns what git diff-tree prints about two trees of the repository dir,
// recursively. Attributes are off only in the oracle's own repository.
func (o *Oracle) DiffTree(dir, a, b string, flags ...string) string {
	o.t.Helper()
	return o.In(dir, append(append([]string{"diff-tree", "-r"}, flags...), a, b)...)
}

// CatFile returns the contents of an object of the repository dir: of a tree, what
// git cat-file -p prints.
func (o *Oracle) CatFile(dir, id string) string {
	o.t.Helper()
	return o.In(dir, "cat-file", "-p", id)
}

// LsTree lists all files of a tree of the repository dir: mode, kind and id by
// path.
func (o *Oracle) LsTree(dir, tree string) map[string]string {
	o.t.Helper()
	list := map[string]string{}
	for line := range strings.SplitSeq(o.In(dir, "ls-tree", "-r", "-z", "--full-tree", tree), "\x00") {
		if what, path, ok := strings.Cut(line, "\t"); ok {
			list[path] = what
		}
	}
	return list
}

// Store is the repository that WriteTree writes to. The first call makes it.
func (o *Oracle) Store() string {
	o.t.Helper()
	o.made.Do(o.makeStore)
	return o.store
}

func (o *Oracle) write(path, content string) {
	o.t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		o.t.Fatal(err)
	}
}

// run runs git in dir; failing fails the test.
func (o *Oracle) run(dir string, env []string, stdin string, args ...string) string {
	o.t.Helper()
	out, complaint, err := o.exec(dir, env, stdin, args...)
	if err != nil {
		o.t.Fatalf("git %q: %v\n%s", args, err, complaint)
	}
	return out
}

func (o *Oracle) exec(dir string, env []string, stdin string, args ...string) (out, complaint string, err error) {
	cmd := exec.Command(o.path, args...)
	cmd.Dir = dir
	cmd.Env = append(o.Env(), env...)
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// Env is the whole environment that git is given.
func (o *Oracle) Env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(o.dir, "home"), // does not exist
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=1500000000 +0000",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_COMMITTER_DATE=1500000000 +0000",
	}
}
