package transfer

import (
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// A git that this process starts at a remote on this machine refuses a repository of another user, unless the user's
// configuration names it as safe.directory. Git takes that from no other configuration of the user's than this one
// setting, and hands none on to the git that it starts.

// safeDirectories returns what the user's configuration says of directories of other users. A configuration that cannot
// be read names none: git's refusal says what to do.
func safeDirectories(r *history.Store) []string {
	safe, err := git.SafeDirectories(git.UserConfig{Home: r.Opt.Home, ConfigHome: r.Opt.ConfigHome, System: r.Opt.SystemGitConfig})
	if err != nil {
		r.Log.Debug("safe.directory", "error", err)
	}
	return safe
}

// isHere reports whether this process starts the git of the remote itself.
func (m *remote) isHere() bool { return IsLocal(m.url) || strings.HasPrefix(m.url, "file://") }

// gitThere is the beginning of a command of a shell: git, with the user's safe directories.
func (m *remote) gitThere() string {
	command := "git"
	for _, dir := range m.safe {
		command += " -c 'safe.directory=" + strings.ReplaceAll(dir, "'", `'\''`) + "'"
	}
	return command
}

// program returns the option that makes git start another one at the remote with the user's safe directories, "" where
// there are none.
func (m *remote) program(name string) string {
	if len(m.safe) == 0 {
		return ""
	}
	return "--" + name + "=" + m.gitThere() + " " + name
}
