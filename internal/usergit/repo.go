package usergit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// Errors of this package.
var (
	ErrNoRepository = errors.New("no git repository with a work tree")
	ErrUnderWay     = errors.New("git is in the middle of something")
)

// Repo is the user's repository as the user's git sees it.
type Repo struct {
	program string
	env     []string

	Top, GitDir string // absolute
	Prefix      string // of the directory below Top, "" or with '/' at its end
	objects     string
	index       string
}

// Head is what HEAD names.
type Head struct {
	Commit string // "" before the first commit
	Branch string // "" = detached
}

// located lists the variables that name a repository. git sets them for its hooks, where they may
// name another one.
var located = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR",
	"GIT_PREFIX", "GIT_NAMESPACE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_QUARANTINE_PATH",
	"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
}

// Open finds the repository whose work tree encloses dir. env is the environment of the user.
func Open(ctx context.Context, dir string, env []string) (*Repo, error) {
	program, err := git.LookBinary()
	if err != nil {
		return nil, err
	}
	r := &Repo{program: program.Path(), Top: dir}
	for _, entry := range env {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(located, name) {
			r.env = append(r.env, entry)
		}
	}
	out, err := r.output(ctx, call{args: []string{"rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir",
		"--git-path", "objects", "--git-path", "index", "--show-prefix"}})
	lines := strings.Split(string(out), "\n")
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w encloses %s: %w", ErrNoRepository, dir, err)
	case len(lines) != 6:
		return nil, fmt.Errorf("%w encloses %s: a directory has a line break in its name", ErrNoRepository, dir)
	}
	r.Top, r.GitDir, r.objects, r.index, r.Prefix = filepath.FromSlash(lines[0]), lines[1], lines[2], lines[3], lines[4]
	return r, nil
}

// call is one run of git.
type call struct {
	args  []string
	env   []string
	stdin io.Reader
}

// verb is the command of git that the call runs.
func (c call) verb() string {
	for i := 0; i < len(c.args); i++ {
		switch c.args[i] {
		case "-c", "-C":
			i++
		default:
			return c.args[i]
		}
	}
	return ""
}

// graceful is how long git may take to remove its locks once it is told to end.
const graceful = 5 * time.Second

func (r *Repo) command(ctx context.Context, c call) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.program, c.args...)
	cmd.Dir, cmd.Stdin = r.Top, c.stdin
	cmd.Env = append(slices.Clip(r.env), c.env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = graceful
	return cmd
}

// output runs git and returns what it printed. The error has git's own message.
func (r *Repo) output(ctx context.Context, c call) ([]byte, error) {
	cmd := r.command(ctx, c)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", c.verb(), err, bytes.TrimSpace(complaint.Bytes()))
	}
	return out.Bytes(), nil
}

// Head reads what HEAD names.
func (r *Repo) Head(ctx context.Context) (h Head) {
	if out, err := r.output(ctx, call{args: []string{"rev-parse", "-q", "--verify", "HEAD^{commit}"}}); err == nil {
		h.Commit = strings.TrimSpace(string(out))
	}
	if out, err := r.output(ctx, call{args: []string{"symbolic-ref", "-q", "--short", "HEAD"}}); err == nil {
		h.Branch = strings.TrimSpace(string(out))
	}
	return h
}

// IsAncestor reports whether a commit is part of HEAD's history.
func (r *Repo) IsAncestor(ctx context.Context, commit string) bool {
	_, err := r.output(ctx, call{args: []string{"merge-base", "--is-ancestor", commit, "HEAD"}})
	return err == nil
}

// underWay lists the files that show what git is in the middle of.
var underWay = []struct{ file, what string }{
	{"MERGE_HEAD", "a merge"}, {"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase or git am"}, {"CHERRY_PICK_HEAD", "a cherry-pick"},
	{"REVERT_HEAD", "a revert"}, {"sequencer", "a cherry-pick or revert"}, {"BISECT_LOG", "a bisect"},
}

// Ready refuses a repository in which a commit would become part of something else.
func (r *Repo) Ready(ctx context.Context) error {
	for _, u := range underWay {
		if _, err := os.Lstat(filepath.Join(r.GitDir, u.file)); err == nil {
			return fmt.Errorf("%w: %s is under way", ErrUnderWay, u.what)
		}
	}
	out, err := r.output(ctx, call{args: []string{"ls-files", "-u", "-z"}})
	if err == nil && len(out) > 0 {
		err = fmt.Errorf("%w: the index has unmerged paths", ErrUnderWay)
	}
	return err
}

// Entry is a path's entry in a tree or index. The zero Entry means that there is none.
type Entry struct{ Mode, ID string }

// Modes of entries.
const (
	ModeFile    = "100644"
	ModeExec    = "100755"
	ModeSymlink = "120000"
	ModeGitlink = "160000"
)

// IsFile reports whether an entry is a regular file.
func (e Entry) IsFile() bool { return e.Mode == ModeFile || e.Mode == ModeExec }

// Index lists the index.
func (r *Repo) Index(ctx context.Context) (map[string]Entry, error) { return r.list(ctx, nil) }

func (r *Repo) list(ctx context.Context, env []string) (map[string]Entry, error) {
	out, err := r.output(ctx, call{args: []string{"ls-files", "-s", "-z"}, env: env})
	return entries(out, 1), err
}

// Tree lists the tree of a commit, nothing for "".
func (r *Repo) Tree(ctx context.Context, commit string) (map[string]Entry, error) {
	if commit == "" {
		return map[string]Entry{}, nil
	}
	out, err := r.output(ctx, call{args: []string{"ls-tree", "-r", "-z", "--full-tree", commit}})
	return entries(out, 2), err
}

// entries parses "mode ... id ...\tpath" records; id is the number of the field.
func entries(out []byte, id int) map[string]Entry {
	list := make(map[string]Entry)
	for record := range strings.SplitSeq(string(out), "\x00") {
		head, path, ok := strings.Cut(record, "\t")
		if fields := strings.Fields(head); ok && len(fields) > id {
			list[path] = Entry{fields[0], fields[id]}
		}
	}
	return list
}

// Ignored returns the paths that git ignores and does not track.
func (r *Repo) Ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	out, err := r.output(ctx, call{args: []string{"check-ignore", "-z", "--stdin"}, stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00")})
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // none
		return nil, nil
	}
	ignored := make(map[string]bool)
	for path := range strings.SplitSeq(string(out), "\x00") {
		ignored[path] = true
	}
	return ignored, err
}
