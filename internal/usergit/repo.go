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

// ErrNoRepository: no work tree of git encloses the directory.
var ErrNoRepository = errors.New("no git repository with a work tree")

// Repo is the user's repository as the user's git sees it.
type Repo struct {
	program string
	env     []string

	Top, GitDir string // absolute
	Prefix      string // of the directory below Top, "" or with '/' at its end
	common      string // the git directory of the main work tree
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
	return open(ctx, program.Path(), dir, env)
}

func open(ctx context.Context, program, dir string, env []string) (*Repo, error) {
	dir, err := filepath.EvalSymlinks(dir) // git answers relative to the real directory
	if err != nil {
		return nil, err
	}
	r := &Repo{program: program, Top: dir}
	other := ""
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if !slices.Contains(located, name) {
			r.env = append(r.env, entry)
		} else if name == "GIT_DIR" {
			other = value
		}
	}
	// git before 2.31 has no --path-format.
	out, err := r.output(ctx, call{args: []string{"rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-prefix"}, env: []string{"LC_ALL=C"}})
	lines := strings.Split(string(out), "\n")
	switch {
	case err != nil:
		return nil, noRepository(dir, other, err)
	case len(lines) != 5:
		return nil, fmt.Errorf("%w encloses %s: a directory has a line break in its name", ErrNoRepository, dir)
	}
	r.Top, r.GitDir, r.common, r.Prefix = filepath.FromSlash(lines[0]), filepath.FromSlash(lines[1]), filepath.FromSlash(lines[2]), lines[3]
	if !filepath.IsAbs(r.common) {
		r.common = filepath.Join(dir, r.common)
	}
	return r, nil
}

// noRepository says why git finds no work tree. other is what GIT_DIR names.
func noRepository(dir, other string, err error) error {
	switch {
	case strings.Contains(err.Error(), "must be run in a work tree"):
		return fmt.Errorf("%w encloses %s: the repository is bare", ErrNoRepository, dir)
	case !strings.Contains(err.Error(), "not a git repository"):
		return fmt.Errorf("%w encloses %s: %w", ErrNoRepository, dir, err)
	case other != "":
		return fmt.Errorf("%w encloses %s, and the one that GIT_DIR names, %s, is not used", ErrNoRepository, dir, other)
	}
	return fmt.Errorf("%w encloses %s; git init makes one", ErrNoRepository, dir)
}

func (r *Repo) objects() string { return filepath.Join(r.common, "objects") }

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

// output runs git and returns what it printed. The error has git's own message. Hooks of the user
// are for the commit alone, not for what prepares it.
func (r *Repo) output(ctx context.Context, c call) ([]byte, error) {
	c.args = append([]string{"-c", "core.hooksPath=" + os.DevNull}, c.args...)
	cmd := r.command(ctx, c)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, &failure{c.verb(), strings.Join(strings.Fields(complaint.String()), " "), err, ctx.Err()}
	}
	return out.Bytes(), nil
}

// failure is a git that failed. What it said tells more than its exit status.
type failure struct {
	verb, said string
	err        error
	ended      error // of the context that has ended git, nil for none
}

func (f *failure) Error() string {
	said := f.said
	var exit *exec.ExitError
	switch {
	case errors.As(f.err, &exit) && exit.ExitCode() < 0, said == "" && exit == nil:
		said = strings.TrimSuffix(f.err.Error()+": "+said, ": ") // a signal ended it, or it did not start
	case said == "":
		said = "failed"
	}
	return "git " + f.verb + ": " + said
}

func (f *failure) Unwrap() error { return f.err }

// Is makes errors.Is find the context's error, too.
func (f *failure) Is(target error) bool { return f.ended != nil && errors.Is(f.ended, target) }
