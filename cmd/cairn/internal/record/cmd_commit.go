package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/sessiontext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const commitManual = `cairn commit makes commits in your git repository of what an agent changed, and
of nothing else.

Usage:
    cairn commit [SESSION] [TURN | FROM..TO]... [--squash] [--dry-run]

Each turn becomes a commit, those of the session that was changed last unless a
SESSION is named. Turns have the numbers of cairn session show. Your own lines
stay uncommitted, also in the same files, and what you have staged stays staged.
No file of the work tree is written. Turns that HEAD has already are skipped.
Hunks, files and steps that cairn has taken back, as with cairn session revert
-p or cairn review, are in no commit.

Your git makes the commits: with your hooks, signature, identity and filters. If
a turn builds on lines that HEAD lacks, nothing is committed and the path is
named. Nothing is committed during a merge, rebase, cherry-pick, revert or
bisect. If a hook fails, its commit is not made; the commits before it stay.

Options:
    --session SESSION    the session, where it is no argument
    --squash             one commit for all turns
    -m, --message TEXT   instead of the prompt, for one turn or with --squash
    --trailers           name session, turn and agent at the end of the message
    -n, --dry-run        only list the commits with their files
    --amend              refused: git commit --amend joins two commits later

With --json the answer is {"sessionID", "branch", "dryRun", "commits",
"skippedTurns", "kept"}. The exit status is 3 if paths were left out, such as
those of submodules and ignored ones.

Examples:
    cairn commit --dry-run
    cairn commit 2..4 --squash -m 'parser: accept tabs'
`

type commitFlags struct {
	session, message                string
	squash, trailers, dryRun, amend bool
}

func (c *commands) commitCommand() *cobra.Command {
	var f commitFlags
	cmd := c.Command(cli.Command{
		Use: "commit [SESSION] [TURN]...", Short: "commit what an agent changed to git", Manual: commitManual,
		Args: cli.ArgCount(0, -1, "SESSION and TURN"), Complete: c.completeCommit,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			switch {
			case f.amend:
				return c.Usage("has no --amend: the agent's lines would become part of another commit; git commit --amend joins the two afterwards")
			case cmd.Flags().Changed("message") && strings.TrimSpace(f.message) == "":
				return c.Usage("needs a text after -m; without -m the prompt is the message")
			}
			return c.commitTurns(ctx, &f, args)
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&f.session, cli.SessionFlag, "", "the session")
	flags.StringVarP(&f.message, "message", "m", "", "instead of the prompt")
	flags.BoolVar(&f.squash, "squash", false, "one commit for all turns")
	flags.BoolVar(&f.trailers, "trailers", false, "name session, turn and agent")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "only list the commits")
	flags.BoolVar(&f.amend, "amend", false, "refused")
	c.CompleteSessionFlag(cmd)
	cli.CompleteFlag(cmd, "message")
	return cmd
}

// completeCommit completes the session and its turns, also behind FROM.. .
func (c *commands) completeCommit(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	spec, _ := cmd.Flags().GetString(cli.SessionFlag)
	for _, arg := range args {
		if spec == "" && !turnLike(arg) {
			spec = arg
		}
	}
	lead, last := "", typed
	if first, rest, isRange := strings.Cut(typed, ".."); isRange {
		lead, last = first+"..", rest
	}
	offers, directive := c.OfferTurns(cmd.Context(), lead, spec, last)
	if spec == "" && lead == "" {
		sessions, _ := c.OfferSessions(cmd.Context(), typed)
		offers = append(offers, sessions...)
	}
	return offers, directive
}

// turnLike reports whether an argument looks like a turn or a range of turns.
func turnLike(arg string) bool { return strings.Trim(arg, "0123456789.") == "" }

// turnRange reads TURN or FROM..TO.
func turnRange(text string) (turns []int, ok bool) {
	first, last, isRange := strings.Cut(text, "..")
	if !isRange {
		last = first
	}
	from, err := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err != nil || err2 != nil || from < 1 || to < from || to-from > 1<<16 {
		return nil, false
	}
	for n := from; n <= to; n++ {
		turns = append(turns, n)
	}
	return turns, true
}

func (c *commands) commitTurns(ctx context.Context, f *commitFlags, args []string) error {
	var turns []int
	for _, arg := range args {
		list, ok := turnRange(arg)
		switch {
		case ok:
			turns = append(turns, list...)
		case f.session == "" && !turnLike(arg):
			f.session = arg
		default:
			return c.Usage("cannot use %s: want TURN or FROM..TO, from 1", wording.ShellWord(arg))
		}
	}
	return c.WithRepo(func(repo *cairn.Repo) error {
		all := session.New(repo)
		id, err := all.Find(ctx, cmp.Or(f.session, session.Newest))
		if err != nil {
			return err
		}
		if f.session == "" && !c.Global.JSON {
			title, err := all.Title(ctx, id)
			if err != nil {
				return err
			}
			c.Console.Remark("session %s", sessiontext.Name(&session.Session{ID: id, Title: title}))
		}
		done, err := all.CommitTurns(ctx, id, turns, session.GitCommitOptions{
			Message: f.message, Squash: f.squash, Trailers: f.trailers, DryRun: f.dryRun, Env: os.Environ(), Output: c.Console.Writer(),
		})
		if errors.Is(err, session.ErrOneMessage) {
			return c.Usage("cannot use -m: %v", err)
		}
		if done == nil {
			return err
		}
		return errors.Join(c.printCommits(done), err)
	})
}

func (c *commands) printCommits(done *session.GitCommits) error {
	var err error
	if c.Global.JSON {
		err = c.WriteJSON(done)
	} else {
		c.writeCommits(done)
	}
	if err == nil && len(done.LeftOut) > 0 {
		err = cli.ErrPartly
	}
	return err
}

func (c *commands) writeCommits(done *session.GitCommits) {
	if done.Branch == "" && len(done.Commits) > 0 {
		c.Console.Remark("HEAD is detached: no branch has the commits")
	}
	for _, one := range done.Commits {
		subject, _, _ := strings.Cut(one.Message, "\n")
		name := "would commit"
		if one.ID != "" {
			name = shortCommit(one.ID)
		}
		c.AnswerLine(turnsText(one.Turns) + ": " + name + " " + wording.Printable(subject))
		lines := make([]string, len(one.Files))
		for i, file := range one.Files {
			counts := fmt.Sprintf("+%d -%d", file.Additions, file.Deletions)
			if file.Binary {
				counts = "binary"
			}
			lines[i] = "    " + file.Path.Quoted() + " " + counts
		}
		c.PrintList(lines, cli.MaxLines, c.AnswerLine)
	}
	for list := done.Turns; len(list) > 0; {
		n := sameReason(list)
		turns := make([]int, n)
		for i := range turns {
			turns[i] = list[i].Turn
		}
		c.AnswerLine(turnsText(turns) + ": " + skipText(list[:n]))
		list = list[n:]
	}
	c.ListReasons("not committed: ", done.LeftOut)
}

// sameReason is how many turns at the beginning of a list have one reason.
func sameReason(list []session.SkippedTurn) int {
	n := 1
	for n < len(list) && (list[n].Commit != "") == (list[0].Commit != "") && (list[0].Commit != "" || list[n].Reason == list[0].Reason) {
		n++
	}
	return n
}

func skipText(list []session.SkippedTurn) string {
	switch {
	case list[0].Commit == "":
		return wording.Printable(list[0].Reason)
	case len(list) == 1:
		return "committed as " + shortCommit(list[0].Commit)
	}
	return "committed already, as " + shortCommit(list[0].Commit) + " to " + shortCommit(list[len(list)-1].Commit)
}

func shortCommit(id string) string { return id[:min(len(id), 12)] }

// turnsText is "turn 2", or "turns 2, 4..6".
func turnsText(turns []int) string {
	if len(turns) == 1 {
		return fmt.Sprintf("turn %d", turns[0])
	}
	var list []string
	for i := 0; i < len(turns); i++ {
		first := turns[i]
		for i+1 < len(turns) && turns[i+1] == turns[i]+1 {
			i++
		}
		if turns[i] == first {
			list = append(list, strconv.Itoa(first))
		} else {
			list = append(list, fmt.Sprintf("%d..%d", first, turns[i]))
		}
	}
	return "turns " + strings.Join(list, ", ")
}
