package record

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const sessionManual = `cairn session records what an agent does, message by message and step by step,
and takes it back.

Usage:
    cairn session list [--ids]
    cairn session show [SESSION] [--ids]
    cairn session diff [SESSION] [--turn N | --message ID] [--step ID]
                       [--hunk-ids]
    cairn session diff [SESSION] (--step ID... | --reverted) [--hunk-ids]
    cairn session revert [SESSION] (--message ID | --part ID | --start)
    cairn session revert [SESSION] (--turn N | --step ID...) [--path PATH]...
    cairn session revert [SESSION]
                         [[--turn N | --message ID] [--step ID] | --step ID...]
                         (--hunk ID... | --lines PATH:10-20 | -p)
    cairn session unrevert [SESSION] [--path PATH... | --hunk ID... |
                           --lines PATH:10-20 | -p]
    cairn session undo | redo | commit [SESSION]
    cairn session fork SESSION NEW [--message ID] [--restore]
    cairn session delete SESSION
SESSION is an id, the beginning of one that no other has, or @ for the session
that was changed last, which is also the default, @~1 for the one before, and so
on. delete wants the whole id.

list and show name a session by its title, which is the beginning of its first
prompt unless its agent gave it one, and a turn by its prompt. Ids, and the
checkpoints around each step, are there with --ids or -v.

For an adapter that connects an agent, with the id in full:
    cairn session begin SESSION [--title TEXT] [--parent ID] [--meta KEY=TEXT]
                             [--add-dir DIR]
    cairn session message SESSION --message ID [--role ROLE] [--prompt TEXT]
    cairn session step begin SESSION [--message ID] [--step ID] [--path PATH]
                             [--owner PID | --lease DURATION] [--async]
    cairn session step end SESSION [--step ID] [--path PATH] [--gone]
    cairn session hint SESSION [--step ID] [PATH...]

A step is what an agent does between two captures of the root: step begin takes
the state before, step end the state after. Ids are any text that the agent
uses; the same begin or end twice is one. A step that is still open is ended by
the next one of its session. What changed between steps is yours.

A step lives as long as the process that --owner names. Where there is none, or
it cannot be seen from here, the step lives for the time of --lease after the
last event of its session; hint without a PATH is an event. A step that was left
open by a dead owner ends with the last state that was captured in it; what
changed later is yours. step end --gone says so for an owner that cannot be
seen.

step begin --async prints a ticket at once and takes the state in the
background, while the model thinks. cairn wait TICKET, hint, step end and all
other commands that change the session wait until that is done. An adapter calls
cairn wait or hint before a tool that may write runs. If it has not, step end
may have to take the state before the step itself: then it warns, and the exit
status is 3.

begin --add-dir names another directory that the session works in. Its turns are
recorded there, too, and go back in all its directories or in none: every plan
is made before any is carried out, and one undo takes it back in each. A
directory inside the root is part of it. One that is not there any more stops
revert, unrevert, undo and redo, unless --this-root says to go without it.

revert takes back all steps from a message on, from the one that holds a part,
or all with --start, and with them what sub-agents did there. Only files that
these steps changed are touched. What you changed in them is merged, or kept as
a conflict. The messages stay: revert again moves the boundary to and fro, and
unrevert brings everything back. undo goes one turn back and redo one forward.
Once the session goes on, or with commit, what was reverted leaves it; the files
can still be had back with cairn undo.

revert --turn takes back one turn alone, and revert --step only the named steps,
with the sub-agents that they called, and of these only the files of --path if
there are any. revert --hunk takes back only some places of files, in a turn, a
message, steps or the whole session; diff --hunk-ids with the same turn or steps
shows their names. All that came later stays, and so does what others changed
between the steps. Each is an operation like those of cairn revert, which cairn
undo takes back.

unrevert --path and --hunk bring back only some of what the reverts in effect
took back; diff --reverted shows it, with --hunk-ids the names. The messages
stay reverted, and unrevert brings back the rest. It is such an operation, too.

fork makes a session NEW with the history before a message, or with all of it,
and prints it. Files stay as they are, unless --restore brings the root to that
point; then the result of that follows.

Options:
    --message ID          a message; for step begin the newest one unless given.
                          diff, revert and fork take the beginning of an id,
                          and the number of a turn: 1 is the first, -1 or @ the
                          newest that is not reverted, -2 or @~1 the one before
    --turn N              of diff and revert: a turn, named as for --message,
                          with all its messages
    --reverted            of diff: what the reverts in effect took back
    --part ID             a part of a message
    --start               before the first message
    --step ID             a step; the open one unless given. diff and revert
                          take the beginning of an id, or @ for the newest step
                          that is not reverted, @~1 for the one before; may be
                          repeated there without --turn and --message. show
                          --ids lists the ids
    --hunk-ids            of diff: each run of changed lines as a hunk of its
                          own, its name behind a # in its header
    --hunk ID[,ID...]     of revert and unrevert: only these hunks; may be
                          repeated
    --lines PATH:FROM-TO  only the changes of these lines, as they are after the
                          turn or the revert; may be repeated
    -p, --patch           show each hunk and ask whether it goes back
    --role ROLE           of a new message; those of the user begin a turn
    --prompt TEXT         of a new message
    --path PATH           what the step's tools change; also more than once.
                          Where sessions overlap it is this one's. Of
                          unrevert, revert --turn and revert --step: only this
                          file or directory
    --async               of step begin: print a ticket, work in the background
    --owner PID           process whose step it is
    --lease DURATION      1h unless given
    --gone                of step end: the agent is gone
    --title TEXT          of the session
    --parent ID           the session that this one is a sub-agent of
    --meta KEY=TEXT       anything to be kept; also more than once
    --ids                 of list and show: also the ids
    --add-dir DIR         of begin: another directory; also more than once, and
                          for a session that exists
    --this-root           go back, or forth, in this directory alone
    --restore             bring the root to the point of the fork
    --outside             of revert, unrevert, undo and redo: files outside the
                          root go along, as in cairn undo --outside
    --git                 of revert, unrevert, undo and redo, where a message is
                          the boundary, and so without --turn, --step, --path
                          and hunks: git goes along, by a plan, as in cairn undo
                          --git; --yes does not ask
    --conversation        of undo, and of revert with --message, --part or
                          --start alone: the conversation of the agent goes
                          back, too, where a program can do that: with Codex,
                          while it does not run. Otherwise the answer names the
                          way, and the exit status is 3. It cannot lose a turn,
                          a step or a hunk out of its midst: revert refuses that
    --end-open            as --git without --turn, --step, --path and hunks: end
                          a step that is still open: its agent is gone.
                          Otherwise nothing is reverted beside it
    --on-conflict POLICY  merge (the default), overwrite, keep or fail, as in
                          cairn revert
    --dry-run             only list what would be done, and give the plan an id
    --plan ID             carry out the plan of a dry run with the same
                          arguments, or nothing if it would be another one now

With --json list, show, begin, commit and fork print sessions, step begin and
end the step, diff what cairn diff prints; fork --restore and the others
{"session", "result"}, the result as in cairn restore, and undo and revert also
"conversation": {"back", "how"}. show adds "history"; --async prints {"ticket"}.
The exit status is 4 if there is no such session, message, part or step, or
nothing left to undo.

Examples:
    cairn session list
    cairn session undo 0c5f --dry-run
    cairn session diff --turn 3 --hunk-ids
    cairn session revert --turn 3
    cairn session revert --turn 3 --hunk 1f2e3d4c
    cairn session unrevert --path docs
    cairn session revert --step @~1 --step @ --path docs
    cairn session step begin demo --message 1 --path main.go
`

// sessionVerb is one verb of cairn session.
type sessionVerb struct {
	min, max int // arguments behind the verb; max < 0 means any number
	wants    string
	flags    string // names
	makes    bool   // a store where there is none
	waits    bool   // for steps that begin in the background
	finds    bool   // the first argument may be a prefix of an id, or @
	run      func(*sessionRun) error
}

// sessionRun is one call.
type sessionRun struct {
	*commands
	ctx  context.Context
	cmd  *cobra.Command
	args []string // behind the verb
	verb string
	f    *sessionFlags
	repo *cairn.Repo
	all  *session.Sessions

	late bool // a step that was to begin in the background has begun only now
}

const goBackFlags = "end-open on-conflict dry-run plan git yes this-root outside"

var sessionVerbs = map[string]sessionVerb{
	"list":       {0, 0, "no more arguments", "ids", false, false, false, (*sessionRun).list},
	"show":       {0, 1, "at most one SESSION", "ids", false, false, true, (*sessionRun).show},
	"diff":       {0, 1, "at most one SESSION", "message turn step hunk-ids reverted", false, false, true, (*sessionRun).diff},
	"begin":      {1, 1, "a SESSION", "title parent meta add-dir", true, true, false, (*sessionRun).begin},
	"message":    {1, 1, "a SESSION", "message role prompt meta", true, true, false, (*sessionRun).addMessage},
	"step begin": {1, 1, "a SESSION", "message step role prompt path meta async owner lease", true, true, false, (*sessionRun).stepBegin},
	"step end":   {1, 1, "a SESSION", "step path gone", false, true, false, (*sessionRun).stepEnd},
	"hint":       {1, -1, "a SESSION and paths", "step", false, true, false, (*sessionRun).hint},
	"revert":     {0, 1, "at most one SESSION", "message turn part step path start hunk lines patch conversation " + goBackFlags, false, true, true, (*sessionRun).revert},
	"unrevert":   {0, 1, "at most one SESSION", "path hunk lines patch " + goBackFlags, false, true, true, (*sessionRun).unrevert},
	"undo":       {0, 1, "at most one SESSION", "conversation " + goBackFlags, false, true, true, (*sessionRun).undo},
	"redo":       {0, 1, "at most one SESSION", goBackFlags, false, true, true, (*sessionRun).redo},
	"commit":     {0, 1, "at most one SESSION", "", false, true, true, (*sessionRun).commit},
	"fork":       {2, 2, "a SESSION and the id of the new one", "message restore", false, true, true, (*sessionRun).fork},
	"delete":     {1, 1, "a SESSION", "", false, true, false, (*sessionRun).delete},
}

func (c *commands) sessionCommand() *cobra.Command {
	var f sessionFlags
	cmd := c.Command(cli.Command{
		Use: "session VERB [SESSION]", Short: "what agents did, and taking it back", Manual: sessionManual,
		Args: cli.ArgCount(1, -1, "to know what to do: list, show, revert and so on"), Complete: c.completeSession,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return c.session(&sessionRun{commands: c, ctx: ctx, cmd: cmd, args: args, f: &f})
		},
	})
	f.register(cmd)
	c.CompleteMessageFlag(cmd)
	c.completeStepFlag(cmd)
	return cmd
}

// session finds the verb, checks its arguments and flags, and runs it.
func (c *commands) session(r *sessionRun) error {
	name, rest := r.args[0], r.args[1:]
	if name == "step" && len(rest) > 0 {
		name, rest = name+" "+rest[0], rest[1:]
	}
	verb, ok := sessionVerbs[name]
	if !ok {
		return c.Usage("cannot %s%s: it can %s", wording.ShellWord(name), nearVerb(name), strings.Join(verbNames(), ", "))
	}
	if len(rest) < verb.min || verb.max >= 0 && len(rest) > verb.max {
		return c.Usage("%s wants %s", name, verb.wants)
	}
	var foreign []string
	allowed := strings.Fields(verb.flags)
	r.cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !slices.Contains(allowed, f.Name) {
			foreign = append(foreign, "--"+f.Name)
		}
	})
	if len(foreign) > 0 {
		return c.Usage("%s has no %s", name, strings.Join(foreign, " and no "))
	}
	if err := r.checkSteps(name); err != nil {
		return err
	}
	if verb.finds {
		if err := c.WantChoices(r.cmd, "message", "turn", "part"); err != nil {
			return err
		}
	}
	r.args, r.verb = rest, name
	c.EndsOpen = (name == "undo" || name == "redo") && !r.f.endOpen
	if verb.makes {
		c.Running = "session begin"
	}
	if r.f.async {
		return r.stepBeginLater()
	}
	if verb.finds {
		if err := r.find(); err != nil {
			return err
		}
	}
	if verb.waits {
		settled, err := r.Settle(r.ctx, r.args[0])
		if r.late = settled.Begun; err != nil {
			return err
		}
	}
	return c.WithRepo(func(repo *cairn.Repo) error {
		c.Running, r.repo, r.all = "session", repo, session.New(repo)
		c.TurnEnded = !slices.Contains([]string{"list", "show", "diff"}, name)
		return verb.run(r)
	})
}

// nearVerb suggests a verb for one that does not exist.
func nearVerb(name string) string {
	if near := wording.Nearest(name, verbNames(), 2); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

// find replaces the first argument by the whole id of the session, and message and steps by whole
// ids. Without an argument it is the session that was changed last.
func (r *sessionRun) find() error {
	if len(r.args) == 0 {
		r.args = []string{session.Newest}
	}
	return r.WithRepo(func(repo *cairn.Repo) (err error) {
		all := session.New(repo)
		if r.args[0], err = all.Find(r.ctx, r.args[0]); err != nil {
			return err
		}
		if r.f.steps, err = all.FindSteps(r.ctx, r.args[0], r.f.steps); err != nil || r.f.message == "" {
			return err
		}
		r.f.message, err = all.FindTurn(r.ctx, r.args[0], r.f.message)
		return err
	})
}

func verbNames() []string {
	var names []string
	for name := range sessionVerbs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// completeSession completes the verb, and then sessions.
func (c *commands) completeSession(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp
	switch {
	case len(args) == 0:
		return matching(typed, "list", "show", "diff", "revert", "unrevert", "undo", "redo", "commit", "fork", "delete",
			"begin", "message", "step", "hint"), directive
	case args[0] == "step" && len(args) == 1:
		return matching(typed, "begin", "end"), directive
	case args[0] == "hint" && len(args) > 1:
		return cli.CompleteFiles(cmd, args, typed)
	case args[0] == "list" || args[0] == "step" && len(args) > 2 || args[0] != "step" && len(args) > 1:
		return nil, directive
	}
	return c.OfferSessions(cmd.Context(), typed)
}

func matching(typed string, words ...string) (offers []cobra.Completion) {
	for _, word := range words {
		if strings.HasPrefix(word, typed) {
			offers = append(offers, word)
		}
	}
	return offers
}
