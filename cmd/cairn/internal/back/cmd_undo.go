package back

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/goback"
	"github.com/seed-fb9cbc17/cairn/internal/lastdone"
	"github.com/seed-fb9cbc17/cairn/session"
)

const undoManual = `cairn undo takes back what was done last: the newest turn of an agent, or the
newest restore, revert or redo.

Usage:
    cairn undo [--turn | --session S | --operation] [--end-open]
               [--dry-run | --plan ID] [--on-conflict POLICY] [PATH...]
               [--conversation] [--this-root] [--outside]
    cairn undo --git [--yes] [the options above, and no PATH]

What is newest is taken back, and named with its prompt and its files. Again it
takes back what was done before, and so on. cairn redo brings it back. Typed as
a prompt in an agent, cairn undo means the same, with the turns of that session.

A turn counts if it is in effect and changed files; one that is running cannot
be taken back. A turn that was taken back does not count any more, and taking it
back is no operation: cairn redo, not a further undo, brings it back. It is one
only where its session has gone on since, and nothing else is left. In an
agent's shell the turns of this agent count and no others.

Two things can make the answer ambiguous: an operation that is newer than the
newest turn, and turns of other sessions whose agents are at work. On a terminal
cairn undo then asks. Elsewhere it takes the newest and says so in one line.

It touches only what the turn or the operation touched, and brings back what an
operation overwrote or deleted, ignored and oversized files included. Changes of
others in these files are merged, or kept as a conflict. Paths outside the
root and ignored files stay; they are listed where they are known.

With --outside files outside the root go back, too, to how they were before the
first tool that named them: an edit tool, or a command of the shell that writes
to a path among its words. They were saved then, up to 1 MiB each (the setting
outside). Keys and other credentials are never saved. A file that has changed
since is a conflict and stays; --on-conflict overwrite saves and drops the later
change. Nothing is merged there, and no directory is made or removed. A turn or
an operation that changed nothing else counts with --outside only. cairn redo
--outside brings it again.

A turn of a session that works in several directories (cairn help session) goes
back in all of them or in none. The answer lists the paths of the others in
full, and says in how many directories something changed. --git then goes with
--this-root only. After an undo with --this-root the next one without it brings
all directories to the same turn: elsewhere more than one may go.

With --git the git repository goes back, too: HEAD, refs, stashes, index and a
merge or rebase in progress, as far as the turn or the operation has moved them.
A turn that moved only git counts then. What has moved again since stays and is
listed as a conflict, and so does a branch that another work tree has checked
out. Git is changed by a plan: on a terminal cairn undo shows it and asks;
elsewhere it lists the plan and the line that carries it out, unless --yes says
so at once. No hook runs. cairn undo --git and cairn redo --git take that back.

With PATH only operations count, the newest of all: these paths, and everything
below them, are taken back, and the next undo goes on with the rest. An undo
of an operation that ends in conflict on every path changes nothing and counts
for nothing: the next one tries the same again. With --on-conflict keep it
counts, and the next one goes on with what was done before. A turn of which
nothing goes back stays the newest one even then; the answer names the command
that insists.

Options:
    --turn                the newest turn, whatever operation came later
    --session S           the newest turn of this session
    --operation           the newest operation of all, a session's way back
                          included, whatever turn came later
    --git                 git goes back, too, by a plan
    --yes                 with --git: carry the plan out without a question
    --conversation        of a turn, not with --operation or PATH: the
                          conversation of its agent goes back, too, where a
                          program can do that: with Codex, while it does not
                          run. Otherwise the answer names the way, and the exit
                          status is 3
    --outside             files outside the root go back, too
    --this-root           only in this directory, where a turn or an operation
                          went over several
    --end-open            end a step that is still running, for instance that of
                          a command under cairn run, or of an agent that is gone
    --on-conflict POLICY  what becomes of a path that was changed since:
                          merge (the default) brings both changes together, or
                          lets the path stay where they overlap: a conflict;
                          overwrite saves and drops the later change; keep lets
                          the path stay; fail does nothing at all, with exit
                          status 1
    --dry-run             only list what would be done, and give the plan an id
    --plan ID             carry out the plan of a dry run with the same
                          arguments, or nothing if it would be another one now

The answer and the exit status are those of cairn restore; the status is 4 if
there is nothing to undo, with PATH: nothing in these paths. With --json the
answer has "did", too: "turn" with "sessionID", "messageID", "agent" and
"prompt", or "operation" with "undoes", the id of that operation, and "kind".
With --git it has "git": {"changes": [], "conflicts": [{"ref", "reason"}]}, with
--outside "outside": {"restored", "deleted", "kept", "conflicts"}, of absolute
paths. After a turn of a known agent undo has "conversation": {"back", "how"}.

Examples:
    cairn undo --dry-run
    cairn undo --turn
    cairn undo main.go --on-conflict keep
`

const redoManual = `cairn redo brings back what the last undo took back.

Usage:
    cairn redo [--turn | --session S | --operation] [--end-open]
               [--dry-run | --plan ID] [--on-conflict POLICY] [--outside]
               [PATH...]

It touches only what the undo touched, and with --git also what cairn undo --git
has moved in git, by a plan, as there. Again it brings back what the undo before
took back, and so on. A turn can come back until its session goes on, with a
prompt or a tool. An operation can come back until another restore or revert. A
turn of which nothing comes back, because all of it is in conflict or kept,
stays taken back; the answer names the command that insists.
What is newest counts, and where that is ambiguous redo asks, or takes the
newest and says so, as cairn undo does.

Options:
    --turn                a turn, whatever operation was undone later
    --session S           a turn of this session
    --operation           the newest operation that was undone
    --git, --yes          as in cairn undo
    --outside             as in cairn undo
    --this-root           as in cairn undo
    --end-open            as in cairn undo
    --on-conflict POLICY  what becomes of a path that was changed since the
                          undo: merge (the default), overwrite, keep or fail, as
                          in cairn undo
    --dry-run             only list what would be done, and give the plan an id
    --plan ID             carry out the plan of a dry run with the same
                          arguments, or nothing if it would be another one now

The answer and the exit status are those of cairn undo; the status is 4 if there
is nothing to redo.
`

func (c *commands) undoCommand() *cobra.Command {
	return c.takeBackCommand(
		cli.Command{Use: "undo [PATH...]", Short: "take back the newest turn or operation", Manual: undoManual},
		wayBack{(*lastdone.Finder).Undo, takeBackWords, "takes back", "took back", "would take back", "taken back"},
	)
}

func (c *commands) redoCommand() *cobra.Command {
	return c.takeBackCommand(
		cli.Command{Use: "redo [PATH...]", Short: "bring back what the last undo took back", Manual: redoManual},
		wayBack{(*lastdone.Finder).Redo, "bring back", "brings back", "brought back", "would bring back", "brought back"},
	)
}

const takeBackWords = "take back"

// wayBack is undo or redo, and the words for it.
type wayBack struct {
	find                          func(*lastdone.Finder, context.Context, lastdone.Want) ([]lastdone.Choice, error)
	does, takes, did, would, done string
}

// undoFlags are the options of undo and redo.
type undoFlags struct {
	turn, operation bool
	endOpen         bool
	thisRoot        bool
	outside         bool
	session, policy string
	plan            goback.PlanFlags
	git             goback.GitFlags
	conversation    bool
}

// The names of the options that choose the target of an undo.
const turnFlag, operationFlag = "turn", "operation"

// takeBackCommand is undo or redo.
func (c *commands) takeBackCommand(d cli.Command, way wayBack) *cobra.Command {
	var f undoFlags
	d.Args, d.Complete = cobra.ArbitraryArgs, cli.CompleteFiles
	d.Run = func(ctx context.Context, cmd *cobra.Command, args []string) error {
		return c.takeBack(&undoRun{commands: c, ctx: ctx, cmd: cmd, f: &f, way: way}, args)
	}
	cmd := c.Command(d)
	flags := cmd.Flags()
	flags.BoolVar(&f.turn, turnFlag, false, "the newest turn")
	flags.BoolVar(&f.operation, operationFlag, false, "the newest operation")
	flags.StringVar(&f.session, cli.SessionFlag, "", "a turn of this session")
	flags.BoolVar(&f.endOpen, "end-open", false, "end a step that is still open")
	flags.BoolVar(&f.thisRoot, goback.ThisRootFlag, false, "only in this directory, of several")
	goback.RegisterOutside(cmd, &f.outside)
	if way.does == takeBackWords {
		flags.BoolVar(&f.conversation, goback.ConversationFlag, false, "the agent's conversation goes back, too")
	}
	c.CompleteSessionFlag(cmd)
	goback.RegisterPolicy(cmd, &f.policy)
	f.plan.Register(cmd)
	f.git.Register(cmd)
	return cmd
}

// undoRun is one call of undo or redo.
type undoRun struct {
	*commands
	ctx   context.Context
	cmd   *cobra.Command
	f     *undoFlags
	way   wayBack
	paths []string
	opt   session.MoveOptions
	half  *goback.Conversation // the conversation, after an undo
}

func (c *commands) takeBack(r *undoRun, args []string) (err error) {
	r.opt = session.MoveOptions{DryRun: r.f.plan.DryRun, Plan: r.f.plan.ID, EndOpen: r.f.endOpen, ThisRoot: r.f.thisRoot}
	if r.opt.OnConflict, err = c.Policy(r.cmd, r.f.policy); err != nil {
		return err
	}
	if err := r.f.plan.Check(c.Dialog, r.cmd); err != nil {
		return err
	}
	if r.paths, err = c.Paths(args); err != nil {
		return err
	}
	if r.f.operation && (r.f.turn || r.f.session != "") {
		return c.Usage("goes by --%s alone, or by --%s or --%s", operationFlag, turnFlag, cli.SessionFlag)
	}
	if r.f.conversation && (r.f.operation || len(r.paths) > 0) {
		return c.Usage("takes a conversation back with a turn: no --%s goes with --%s or PATH", goback.ConversationFlag, operationFlag)
	}
	if isCount(args, r.paths) {
		return c.Usage("%[3]s one turn or operation a call: call it %[1]s times, or type cairn %[2]s %[1]s as a prompt of the agent (a path of that name: ./%[1]s)",
			args[0], r.cmd.Name(), r.way.takes)
	}
	if len(r.paths) > 0 && (r.f.turn || r.f.session != "") {
		return c.Usage("takes a turn back as a whole: no PATH goes with --%s and --%s (cairn session revert --help)", turnFlag, cli.SessionFlag)
	}
	if err := r.f.git.Check(c.Dialog, &r.f.plan, r.paths); err != nil {
		return err
	}
	if r.f.outside && len(r.paths) > 0 {
		return c.Usage("takes paths outside the root back as a whole: no PATH goes with --%s", goback.OutsideFlag)
	}
	r.opt.Git, r.opt.Outside = r.f.git.Git, r.f.outside
	c.EndsOpen = !r.f.endOpen
	chosen, err := r.choose()
	if err != nil {
		return err
	}
	return c.WithRepo(func(repo *cairn.Repo) error {
		finder := r.finder(repo)
		take := func() (*cairn.Result, error) { return finder.Take(r.ctx, chosen, r.opt, r.paths) }
		res, err := r.Confirmed(r.ctx, &r.f.git, &r.opt, take, func(res *cairn.Result) error { return r.tell(repo, chosen, res) })
		if err != nil || res == nil {
			return err
		}
		if !r.opt.Git {
			defer r.gitStaysOf(r.ctx, repo, res)
		}
		err = r.conversation(finder, chosen, res)
		return errors.Join(err, r.tell(repo, chosen, res))
	})
}

// conversation sees to the conversation after a turn was taken back.
func (r *undoRun) conversation(finder *lastdone.Finder, c *lastdone.Choice, res *cairn.Result) (err error) {
	if r.way.does == takeBackWords && c.Turn != nil && goback.ChangedFiles(res) {
		r.half, err = r.TakeConversationBack(r.ctx, finder.Sessions, c.Session, c.Turn.ID(), r.f.conversation)
	}
	return err
}

func (r *undoRun) finder(repo *cairn.Repo) *lastdone.Finder {
	sessions := session.New(repo)
	return &lastdone.Finder{
		Repo: repo, Sessions: sessions, Ways: ways{r.commands, repo, sessions}, Line: r.Ancestors(),
		EndOpen: r.f.endOpen, Git: r.f.git.Git, Outside: r.f.outside,
	}
}

// isCount reports whether the arguments are a number of turns, as a prompt may have it, and no path.
func isCount(args, paths []string) bool {
	if len(args) != 1 {
		return false
	}
	if n, err := strconv.ParseUint(args[0], 10, 16); err != nil || n == 0 {
		return false
	}
	_, err := os.Lstat(paths[0])
	return errors.Is(err, fs.ErrNotExist)
}
