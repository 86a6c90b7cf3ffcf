package interfaces

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/mcptools"
)

const mcpManual = `cairn mcp offers checkpoints and undo to a model, as an MCP server on stdin and
stdout.

Usage:
    cairn mcp

A client of the Model Context Protocol starts it, in the directory that it is
about, and ends it by closing stdin. The tools:
    checkpoints, operations   what there is
    diff                      what changed
    blame, log, grep, show    who wrote a line, searches, one checkpoint or turn
    tests                     results of cairn test and cairn bisect
    verify                    whether the history is whole
    track                     take a checkpoint
    preview                   what going back would do, with a plan id
    restore, revert           go back; with a plan id exactly that or nothing
    compare, merge            what other directories changed, and bringing it in
    checkout                  a checkpoint in a new directory
    fork, forks, fork_remove  a second directory that goes on from here, what
                              each changed, removing one without loss
    undo, redo                take that back
    sessions, session_undo,   what agents did here; take back a turn of one, and
    session_redo              bring it back
    session_hunks,            the changed places of a session, with names; take
    session_revert            some of them back, or one turn
    session_unrevert          bring back what was taken back of it, or some
    remote, push, fetch,      the remote of the last cairn push, or of the
    resume                    setting sync; go on with a session of another
                              machine

Those that change files are marked as destructive, so that the client can ask
before, and whatever they overwrite or delete is saved first. Undo and redo take
git along with "git" and the plan id of a preview, and else say what has moved
there. Checkpoints
(cairn://checkpoint/HASH) and files (cairn://file/HASH/PATH) can also be read as
resources. A path in them is percent-encoded; else paths are as in --json.

Answers have limits: 200 checkpoints or operations, 2,000 lines, 500 paths of a
kind, 4 MiB of patches, files of 8 MiB. What is left out is counted or told.

Examples:
    claude mcp add cairn -- cairn mcp
    codex mcp add cairn -- cairn mcp
`

func (c *commands) mcpCommand() *cobra.Command {
	return c.Command(cli.Command{
		Use: "mcp", Short: "offer checkpoints and undo to a model", Manual: mcpManual,
		Args: cli.ArgCount(0, 0, "no arguments"), Complete: cobra.NoFileCompletions,
		Run: func(ctx context.Context, _ *cobra.Command, _ []string) error {
			if c.Global.JSON {
				return c.Usage("has no --json form: it speaks a protocol of its own")
			}
			c.Stay()
			return c.WithRepo(func(repo *cairn.Repo) error {
				opt := mcptools.Options{Repo: repo, Version: cli.ThisBuild().Version, Settings: c.settingsNow, OpenDir: func(dir string) (*cairn.Repo, error) {
					there := *c.Program // calls run at the same time
					from, err := there.OtherDir(dir)
					return from.Repo, err
				}}
				return mcptools.Serve(ctx, opt, cli.InterruptibleReader(ctx, c.Stdin), flushing{c})
			})
		},
	})
}

// settingsNow reads the options again. What it would complain of was said at the start.
func (c *commands) settingsNow() (cairn.Options, error) {
	there := *c.Program
	there.ForgetPlace()
	there.Config, there.Console = nil, cli.NewConsole(io.Discard)
	opt, err := there.Options()
	opt.Logger, opt.Progress = c.LastOptions.Logger, c.LastOptions.Progress
	return opt, err
}

// flushing writes answers at once.
type flushing struct{ c *commands }

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.c.Out.Write(p)
	if err == nil {
		err = f.c.Out.Flush()
	}
	return n, err
}
