package cli

import (
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// WantRemote names the argument in an error of usage.
const WantRemote = "a REMOTE, which is a URL or a path"

// WithRemote opens the project for work with the remote that is the first argument, else with the one
// that the store pushes to.
func (c *Program) WithRemote(args []string, f func(repo *cairn.Repo, remote string) error) error {
	return c.withRemote(args, "push", (*cairn.Repo).Remote, f)
}

// WithSource opens the project for a fetch from the remote that is the first argument, else from the one that the
// store pushes to, else from the one from which something was fetched last.
func (c *Program) WithSource(args []string, f func(repo *cairn.Repo, remote string) error) error {
	source := func(repo *cairn.Repo) (string, error) { return access.Source(repo) }
	return c.withRemote(args, "fetch", source, f)
}

// withRemote asks known for the remote where no argument is one. verb is the command that makes it known.
func (c *Program) withRemote(args []string, verb string, known func(*cairn.Repo) (string, error), f func(*cairn.Repo, string) error) (err error) {
	remote := ""
	if len(args) > 0 {
		if remote, err = c.remote(args[0]); err != nil {
			return err
		}
	}
	return c.WithRepo(func(repo *cairn.Repo) error {
		if remote == "" {
			switch remote, err = known(repo); {
			case err != nil:
				return err
			case remote == "":
				return c.Usage("wants %s: none is remembered (cairn %s REMOTE does that)", WantRemote, verb)
			}
			c.TellRemote(remote)
		}
		return f(repo, remote)
	})
}

// TellRemote names the remote of a command that was given none.
func (c *Program) TellRemote(remote string) {
	c.Console.Remark("the remote is %s", wording.Printable(transfer.Redacted(remote)))
}

// remote makes a path absolute, from the current directory. As in git, a text is a path
// unless it is a URL or host:path.
func (c *Program) remote(where string) (string, error) {
	colon, slash := strings.IndexByte(where, ':'), strings.IndexByte(where, '/')
	switch {
	case where == "" || where[0] == '-':
		return "", c.Usage("cannot use %s: want a URL or a path", wording.ShellWord(where))
	case filepath.IsAbs(where) || colon >= 0 && (slash < 0 || colon < slash):
		return where, nil
	}
	dir, err := c.WorkDir()
	return AbsolutePath(dir, where), err
}

// PrintLines prints the names of lines, or the remark nothing for none.
func (c *Program) PrintLines(lines []string, nothing string) error {
	if c.Global.JSON {
		return c.WriteJSON(struct {
			Lines cairn.Paths `json:"lines"`
		}{lines})
	}
	for _, line := range lines {
		c.AnswerLine(pathtext.Quote(line))
	}
	if len(lines) == 0 {
		c.Console.Remark("%s", nothing)
	}
	return nil
}
