package remotes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/timewords"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const verifyManual = `cairn verify checks that the history is whole and says what it said.

Usage:
    cairn verify [--since TIME|HASH] [--signers FILE] [--sign]

It reads every checkpoint of every session, day, pin and fetched line, and every
operation, with all directories and files, and hashes them again. It checks that
every checkpoint has those before it, that a session's steps end in the order in
which they began, that the times of a session rise, that a ref leads to the
session of its name, and that an operation has the states that it says.

What a cleaning has dropped, and what a purge or a repair has rewritten, is a
known gap, and listed as such. Anything else that is not there, or not as it was
recorded, is a finding. Nothing is changed. cairn doctor looks at the files of
the store and mends them; verify judges the history.

With the setting sign = "KEYFILE", the heads of sessions, days and operations
are signed with that SSH key after the turns of agents and at every cairn push.
A head that was signed has to be on its line ever after, unless a purge has left
a signed statement about it. Who has signed is checked against FILE, a list of
allowed signers as ssh-keygen has it; the setting signers is the default.

Options:
    --since TIME|HASH  only checkpoints of this time and later (a date, or how
                       long ago, as in 2d: see cairn help log), or those that
                       are neither HASH nor before it
    --signers FILE     check every signature against a list of allowed signers
    --sign             first sign the heads that have moved since
    --background       only sign, as agents' hooks do after a turn

With --json the answer is {"sound", "checkpoints", "objects", "lines",
"signatures", "gaps", "findings"}; a gap and a finding are {"kind", "ref",
"checkpoint", "text"}, a signature {"ref", "checkpoint", "time", "signer",
"unsigned"}.

The exit status is 5 if there is a finding.

Examples:
    cairn verify
    cairn verify --since 7d --json
    cairn verify --signers ~/.ssh/allowed_signers
`

func (c *commands) verifyCommand() *cobra.Command {
	var since, signers string
	var sign, background bool
	cmd := c.Command(cli.Command{
		Use: "verify [--since TIME|HASH] [--signers FILE]", Short: "check that the history is whole", Manual: verifyManual,
		Args: cli.ArgCount(0, 0, "no arguments"), Complete: cobra.NoFileCompletions,
		Run: func(ctx context.Context, _ *cobra.Command, _ []string) error {
			c.LeaveSealed = background
			return c.WithRepo(func(repo *cairn.Repo) error {
				if background {
					return c.signNow(ctx, repo)
				}
				opt, err := c.verifySince(ctx, repo, since)
				if err == nil && sign {
					err = c.signNow(ctx, repo)
				}
				if err == nil && signers != "" {
					opt.Signers, err = c.FileFrom(signers)
				}
				if err != nil {
					return err
				}
				report, err := repo.Verify(ctx, opt)
				if err != nil {
					return err
				}
				return c.printVerified(report)
			})
		},
	})
	cmd.Flags().StringVar(&since, "since", "", "only checkpoints since a time or a HASH")
	cmd.Flags().StringVar(&signers, "signers", "", "list of allowed signers")
	cmd.Flags().BoolVar(&sign, "sign", false, "first sign the heads that have moved")
	cmd.Flags().BoolVar(&background, "background", false, "only sign")
	return cmd
}

// verifySince reads --since: a hash if there is such a checkpoint, else a time.
func (c *commands) verifySince(ctx context.Context, repo *cairn.Repo, text string) (opt cairn.VerifyOptions, err error) {
	if text == "" {
		return opt, nil
	}
	_, err = repo.Lookup(ctx, text)
	if err == nil {
		opt.After = text
		return opt, nil
	}
	if at, ok := timewords.Parse(text, c.Console.Now()); ok {
		opt.Since = at
		return opt, nil
	}
	if !errors.Is(err, cairn.ErrNotFound) {
		return opt, err
	}
	return opt, c.Usage("cannot use --since %s: want a time, as in 2026-01-31 or 2d, or a HASH", wording.ShellWord(text))
}

func (c *commands) printVerified(r *cairn.VerifyReport) error {
	if c.Global.JSON {
		if err := c.WriteJSON(r); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.Out, "%s in %s, %s read\n", wording.Count(r.Checkpoints, "checkpoint"), wording.Count(len(r.Lines), "line"), wording.Count(r.Objects, "object"))
		for _, s := range r.Signatures {
			c.AnswerLine(signedText(&s))
		}
		c.listNotes("known gap", r.Gaps)
		c.listNotes("finding", r.Findings)
		switch {
		case r.Sound && len(r.Gaps) == 0:
			c.AnswerLine("everything is as it was recorded")
		case r.Sound:
			c.AnswerLine("everything else is as it was recorded")
		}
	}
	if !r.Sound {
		return fmt.Errorf("%w: %s", cli.ErrUnsound, wording.Count(len(r.Findings), "finding"))
	}
	return nil
}

// listNotes prints the first notes, and how many more there are.
func (c *commands) listNotes(what string, list []cairn.VerifyNote) {
	for i, n := range list {
		if i == cli.MaxListed && !c.Global.Verbose {
			fmt.Fprintf(c.Out, "%s: and %d more (-v lists them all)\n", what, len(list)-i)
			return
		}
		fmt.Fprintf(c.Out, "%s: %s\n", what, wording.Printable(n.String()))
	}
}

func (c *commands) signNow(ctx context.Context, repo *cairn.Repo) error {
	lines, err := repo.Sign(ctx)
	if errors.Is(err, cairn.ErrNoKey) {
		return c.Usage("--sign wants the setting sign = \"KEYFILE\"")
	}
	for _, line := range lines {
		c.Console.Remark("signed: %s", wording.Printable(line))
	}
	return err
}

// signedText tells of a signature.
func signedText(s *cairn.VerifySigned) string {
	by := "with a signature that no list of signers was asked about"
	if s.Signer != "" {
		by = "by " + wording.Printable(s.Signer)
	}
	text := fmt.Sprintf("signed: %s at %s %s", wording.Printable(cairn.VerifyNote{Ref: s.Ref, Text: s.Checkpoint[:12]}.String()), s.When.Local().Format(time.DateTime), by)
	if s.Unsigned > 0 {
		text += fmt.Sprintf("; %s since", wording.Count(s.Unsigned, "checkpoint"))
	}
	return text
}
