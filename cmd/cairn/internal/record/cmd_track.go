package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const trackManual = `cairn track takes a checkpoint of the root and prints its id.

Usage:
    cairn track [-m TEXT] [--verify] [--force] [--strict]
                [--timeout DURATION [--partial]]
    cairn track --paths PATH... | -
    cairn track --only-paths PATH... | - [--no-rest]
    cairn track --async [any of these]

The id names the contents: it is the tree that git add -A and git write-tree
would give, bytes as they lie on disk, so equal states have equal ids. When
nothing has changed since the last checkpoint of the day, and no session has a
newer one of another state, nothing is written and the same id comes again. The
id is printed only if everything in scope was read; otherwise track fails and
there is no new checkpoint.

Files that are ignored are left out without a word, unless an earlier checkpoint
or your git index holds them. A submodule below an ignored directory is left out
and listed: your index names none of its files. Anything else that is left out
is listed on stderr with the reason, and recorded as present, so that going back
never deletes it.
What a rule leaves out is no failure, the exit status is 0: files above
--max-file-size, sockets, pipes and devices, what never names, with secrets =
"skip" files that hold secrets. With -q it is not listed. Files that cannot be
read or keep changing while they are read are listed in any case, and the exit
status is 3. --strict makes it 3 for both.

New contents are looked at once for secrets: tokens, private keys, passwords.
Each is listed on stderr by file, line and rule, never with the secret, and the
file is captured; secrets = "skip" leaves it out. With secrets = "refuse" there
is no checkpoint and the exit status is 6.

A first checkpoint is refused where the root is a home directory, or one above
it, and any checkpoint that would hold more than 1000000 files or read more than
20 GiB of new data. The answer names the largest directories. A checkpoint that
would leave less than --min-free on the disk of the store is refused, too.

With --async nothing is looked at before the command ends. It prints a ticket
instead of the id, and the work is done in the background; cairn wait TICKET
waits for it and answers. The checkpoint then holds a state between the two
commands: what must not be in it is written after cairn wait. Several are taken
one after the other.

Where captures are switched off (see cairn help config) nothing is printed, that
is said on stderr, and the exit status is 0. Once an hour a track starts a
cleaning in the background, which cairn help gc describes.

Options:
    -m, --message TEXT  what the checkpoint is for, up to 65536 characters;
                        always makes a new one; an empty TEXT counts as none
    --verify            read every file, even those that look unchanged
    --force             capture even what the guards refuse
    --timeout DURATION  fail when not everything is read by then, as in 5s or
                        500ms; the next track goes on where this one stopped
    --partial           with --timeout: take a checkpoint of what was read.
                        The rest is skipped as unread, and stays when you go
                        back to it
    --strict            status 3 also for what a rule leaves out; not with
                        --async: there it is for cairn wait
    --paths             the arguments are hints, - reads them from stdin, one a
                        line: they are read first, and small files among them
                        are captured although ignored
    --only-paths        look at nothing but these. The checkpoint holds them
                        alone: going back to it, or comparing with it, leaves
                        everything else out. A second one, of everything, is
                        then taken in the background (not where background is
                        false); the answer names the ticket for cairn wait
    --no-rest           with --only-paths: no second one
    --async             print a ticket and take the checkpoint in the background
    -z, --null          the paths on stdin end in NUL

With --json:
    {"hash", "checkpoint", "files", "changed", "skipped": [{"path", "reason",
    "size"}]}: the tree, the commit, how many files it holds, how many paths
    differ from the checkpoint before, and what was left out. "partial": true
    after the time was over, "scope": "paths" with --only-paths, and then
    "rest", the ticket of the second checkpoint. With --async: {"ticket"}.

Examples:
    cairn track -m 'tests pass'
    before=$(cairn track -q) && ./agent; cairn diff "$before"
    git ls-files -z -m | cairn track --only-paths -z -
`

// trackFlags are the options of the library and of track alone.
type trackFlags struct {
	cairn.TrackOptions
	timeout       time.Duration
	paths, nul    bool
	async, noRest bool
	strict        bool // changes the answer only
}

func (c *commands) trackCommand() *cobra.Command {
	var f trackFlags
	cmd := c.Command(cli.Command{
		Use: "track [-m TEXT] [--paths PATH...]", Short: "take a checkpoint", Manual: trackManual,
		Args: cli.ArgCount(0, -1, ""), Complete: cli.CompleteFiles,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if err := c.hints(cmd, &f, args); err != nil {
				return err
			}
			if err := c.defaultTimeout(&f); err != nil {
				return err
			}
			if f.async {
				return c.trackLater(ctx, &f)
			}
			whole := ctx
			if f.timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, f.timeout)
				defer cancel()
			}
			t, err := c.TakeCheckpoint(ctx, f.TrackOptions)
			if errors.Is(err, cairn.ErrDisabled) {
				return c.printDisabled(err)
			}
			if err != nil {
				return err
			}
			return c.printTrack(t, c.trackRest(whole, &f), f.strict)
		},
	})
	flags := cmd.Flags()
	flags.StringVarP(&f.Message, "message", "m", "", "what the checkpoint is for")
	flags.BoolVar(&f.Verify, "verify", false, "read every file")
	flags.BoolVar(&c.Force, "force", false, "capture even what the guards refuse")
	flags.DurationVar(&f.timeout, "timeout", 0, "time to read in")
	flags.BoolVar(&f.AllowPartial, "partial", false, "take a checkpoint of what was read in time")
	registerStrict(cmd, &f.strict)
	flags.BoolVar(&f.paths, "paths", false, "the arguments are read first")
	flags.BoolVar(&f.OnlyPaths, "only-paths", false, "look at nothing but the arguments")
	flags.BoolVar(&f.noRest, "no-rest", false, "do not capture the rest in the background")
	flags.BoolVar(&f.async, "async", false, "print a ticket, work in the background")
	flags.BoolVarP(&f.nul, "null", "z", false, "paths on stdin end in NUL")
	cli.CompleteFlag(cmd, "timeout")
	return cmd
}

// hints checks the flags that go together, and collects the paths.
func (c *commands) hints(cmd *cobra.Command, f *trackFlags, args []string) error {
	takesPaths := f.paths || f.OnlyPaths
	switch {
	case utf8.RuneCountInString(f.Message) > cairn.MaxMessage:
		return c.Usage("cannot use a message of more than %d characters", cairn.MaxMessage)
	case f.timeout < 0 || cmd.Flags().Changed("timeout") && f.timeout == 0:
		return c.Usage("cannot read everything in %v", f.timeout)
	case f.AllowPartial && f.timeout == 0:
		return c.Usage("wants --timeout with --partial")
	case f.strict && f.async:
		return c.Usage("cannot use --strict with --async: it goes to cairn wait, which has the answer")
	case f.noRest && !f.OnlyPaths:
		return c.Usage("wants --only-paths with --no-rest")
	case !takesPaths && len(args) > 0:
		return c.Usage("wants no arguments; paths go after --paths, a message goes after -m")
	case takesPaths && len(args) == 0:
		return c.Usage("wants paths, or - to read them from stdin")
	}
	if slices.Equal(args, []string{"-"}) {
		data, err := io.ReadAll(c.Stdin)
		if err != nil {
			return fmt.Errorf("read paths: %w", err)
		}
		end := "\n"
		if f.nul {
			end = "\x00"
		}
		args = slices.DeleteFunc(strings.Split(string(data), end), func(p string) bool { return p == "" })
		if f.OnlyPaths && len(args) == 0 {
			return c.Usage("got no paths on stdin")
		}
	}
	var err error
	f.Paths, err = c.Paths(args)
	return err
}

// defaultTimeout takes the time to read in from the settings.
func (c *commands) defaultTimeout(f *trackFlags) error {
	if f.timeout > 0 {
		return nil
	}
	dir, err := c.WorkDir()
	if err != nil {
		return err
	}
	root, err := c.RootDir(dir)
	if err != nil {
		return err
	}
	cfg, err := c.Settings(root)
	if err == nil {
		f.timeout = cfg.Timeout
	}
	return err
}

// registerStrict adds --strict to a command that answers with a checkpoint.
func registerStrict(cmd *cobra.Command, strict *bool) {
	cmd.Flags().BoolVar(strict, "strict", false, "status 3 also for what a rule leaves out")
}

// printTrack prints a checkpoint. rest is the ticket of a second one that captures the
// paths that this one leaves out, "" for none.
func (c *commands) printTrack(t *cairn.TrackResult, rest string, strict bool) (err error) {
	if c.Global.JSON {
		err = c.WriteJSON(struct {
			*cairn.TrackResult
			Rest string `json:"rest,omitempty"`
		}{t, rest})
	} else {
		_, err = c.Out.WriteString(t.Hash + "\n")
		c.listSkipped(t, strict)
		c.listSecrets(t.Secrets)
		c.TellRest(rest)
	}
	if err == nil && (!t.Complete() || strict && len(t.Skipped)+len(t.Secrets) > 0) {
		err = cli.ErrPartly
	}
	return err
}

// printDisabled answers where captures are switched off. That is no failure: a script
// that calls cairn at every step goes on without checkpoints.
func (c *commands) printDisabled(why error) error {
	c.Console.Remark("%v; no checkpoint was taken", why)
	if !c.Global.JSON {
		return nil
	}
	return c.WriteJSON(struct {
		Hash     string `json:"hash"`
		Disabled string `json:"disabled"`
	}{"", why.Error()})
}

// listSkipped says on stderr which paths the checkpoint leaves out: first those that
// decide the exit status, which -q does not hide.
func (c *commands) listSkipped(t *cairn.TrackResult, strict bool) {
	if t.TimedOut {
		c.Console.Complain("the time was over before everything was read: the checkpoint is partial")
	}
	var faults, policy []string
	for _, s := range t.Skipped {
		line := "not captured: " + s.Path.Quoted() + ": " + skipReason(s, t.Reasons[string(s.Path)], t.Secrets)
		if s.Policy() && !strict {
			policy = append(policy, line)
		} else {
			faults = append(faults, line)
		}
	}
	c.PrintList(faults, cli.MaxListed, c.Console.Complain)
	if !c.Global.Quiet {
		c.PrintList(policy, cli.MaxListed, c.Console.Complain)
	}
	if hint := limitHint(t.Skipped); hint != "" {
		c.Console.Remark("hint: %s", hint)
	}
}

// listSecrets says on stderr where this capture found secrets. Files that are left out are listed as
// skipped as well.
func (c *commands) listSecrets(list []cairn.Secret) {
	var lines []string
	for i := range list {
		if list[i].New {
			lines = append(lines, "secret in "+list[i].String())
		}
	}
	if len(lines) == 0 || c.Global.Quiet {
		return
	}
	c.PrintList(lines, cli.MaxListed, c.Console.Complain)
	c.Console.Remark("hint: secrets = \"skip\" leaves such files out, # cairn:allow on a line lets it pass (cairn help config)")
}

// limitHint tells how to raise the limit that files have met, "" for none. A small file has met a lowered
// limit, or the limit of include.
func limitHint(skipped []cairn.SkippedPath) (hint string) {
	for i := range skipped {
		if skipped[i].Reason != reasonTooLarge {
			continue
		}
		hint = "--max-file-size raises the limit"
		if skipped[i].Size <= cairn.DefaultMaxFileSize {
			return hint + ", and max_include_size that of what include names"
		}
	}
	return hint
}

const reasonTooLarge = "too large"

func skipReason(s cairn.SkippedPath, cause error, secrets []cairn.Secret) string {
	at := slices.IndexFunc(secrets, func(found cairn.Secret) bool { return found.Path == s.Path })
	switch {
	case at >= 0:
		return fmt.Sprintf("%s (%s, line %d)", s.Reason, secrets[at].Rule, secrets[at].Line)
	case cause != nil:
		return s.Reason + " (" + cause.Error() + ")"
	case s.Reason == reasonTooLarge:
		return s.Reason + " (" + wording.Size(s.Size) + ")"
	}
	return s.Reason
}

// trackLater is track with --async.
func (c *commands) trackLater(ctx context.Context, f *trackFlags) error {
	r := &ticket.Request{Track: ticket.NewTrack(f.TrackOptions, f.timeout)}
	b, err := c.BeginTicket(ctx, r, f.OnlyPaths && !f.noRest && c.MayBegin())
	c.LastOptions = nil // the process that does the work starts the cleaning, too
	if err != nil {
		return err
	}
	return c.PrintTicket(b)
}

// trackRest begins to capture the paths that --only-paths has left out. A failure does
// not change the answer about the named paths.
func (c *commands) trackRest(ctx context.Context, f *trackFlags) string {
	if !f.OnlyPaths || f.noRest || !c.MayBegin() {
		return ""
	}
	b, err := c.BeginTicket(ctx, &ticket.Request{Track: ticket.NewTrack(f.TrackOptions, 0).Whole()}, false)
	if err != nil {
		c.Console.Complain("warning: the rest is not captured: " + err.Error())
	}
	return b.Ticket
}
