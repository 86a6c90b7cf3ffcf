package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// ErrNoGit: no git program was found. Only cold work needs one.
var ErrNoGit = errors.New("git program not found")

// Binary is a git program. It runs for cold work: on cairn's own store, and on remotes.
type Binary struct {
	path       string
	searchPath string // PATH for it and the programs that it starts
	authSock   string // SSH_AUTH_SOCK, for remotes
}

// LookBinary finds git in PATH, or returns ErrNoGit. LookBinary and NewBinary are the only
// functions of the package that read the environment.
func LookBinary() (*Binary, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	return NewBinary(path), nil
}

// NewBinary names a git program by its path. Programs that it starts itself are
// looked up in the PATH of this process.
func NewBinary(path string) *Binary {
	return &Binary{path: path, searchPath: os.Getenv("PATH"), authSock: os.Getenv("SSH_AUTH_SOCK")}
}

// Path returns the path of the program.
func (b *Binary) Path() string { return b.path }

// waitDelay is how long a process that escaped from the group of a cancelled command may keep the
// output open before the pipes are closed.
const waitDelay = 2 * time.Second

// guard switches off everything that a configuration could make git run on its own.
var guard = []string{
	"--no-pager",
	"-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.fsmonitor=false",
	"-c", "commit.gpgSign=false",
	"-c", "tag.gpgSign=false",
	"-c", "push.gpgSign=false",
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
}

// Command returns a command that runs git in dir. It inherits nothing of the
// environment but PATH: no GIT_* variable, no home directory, no configuration of
// user or machine. It has no input, cannot ask at a terminal, runs no hooks, and
// when ctx ends it is killed together with the processes that it has started.
//
// Output goes nowhere unless the caller sets Stdout and Stderr; the caller may add
// to Env what a remote needs.
func (b *Binary) Command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	return b.inside(ctx, dir, append(guard[:len(guard):len(guard)], args...))
}

// inside returns a command that runs git in dir with next to no environment.
func (b *Binary) inside(ctx context.Context, dir string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.path, args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + b.searchPath,
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
	}
	cmd.WaitDelay = waitDelay
	killGroup(cmd)
	return cmd
}

// There returns a command that works in the repository in dir as a git does that git push has started there: by the
// configuration and the hooks of that repository. It has the environment of Command. It finds no repository above
// dir, and refuses one of another user unless safe names it. dir is a path without symbolic links.
func (b *Binary) There(ctx context.Context, dir string, safe []string, args ...string) *exec.Cmd {
	var head []string
	for _, path := range safe {
		head = append(head, "-c", "safe.directory="+path)
	}
	cmd := b.inside(ctx, dir, append(head, args...))
	cmd.Env = append(cmd.Env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	return cmd
}

// transports are the allowed ways to a remote: those that run no program of the remote's choosing.
var transports = []string{
	"-c", "protocol.allow=never",
	"-c", "protocol.file.allow=always",
	"-c", "protocol.git.allow=always",
	"-c", "protocol.http.allow=always",
	"-c", "protocol.https.allow=always",
	"-c", "protocol.ssh.allow=always",
}

// Remote returns a command that works on the repository gitDir and may speak to a remote. Beyond
// the environment of Command it gets the agent with the user's ssh keys (SSH_AUTH_SOCK) and, unless
// home is "", the home directory, where ssh and curl look for keys and passwords (.ssh, .netrc). It
// does not read git's own configuration there. It never prompts: without a stored password, the
// command fails.
func (b *Binary) Remote(ctx context.Context, gitDir, home string, args ...string) *exec.Cmd {
	head := append(transports[:len(transports):len(transports)], "--git-dir="+gitDir)
	cmd := b.Command(ctx, gitDir, append(head, args...)...)
	cmd.Env = append(cmd.Env, "GIT_SSH_COMMAND=ssh -oBatchMode=yes", "GIT_ASKPASS=", "SSH_ASKPASS=")
	if home != "" {
		cmd.Env = append(cmd.Env, "HOME="+home)
	}
	if b.authSock != "" {
		cmd.Env = append(cmd.Env, "SSH_AUTH_SOCK="+b.authSock)
	}
	return cmd
}
