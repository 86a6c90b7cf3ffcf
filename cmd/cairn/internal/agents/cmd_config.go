package agents

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/config"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const configManual = `cairn config says which settings are not at their defaults, and who decided.

Usage:
    cairn config

Settings come, in rising order, from the file cairn/config.toml in
$XDG_CONFIG_HOME (else ~/.config, on Windows %AppData%), from its section for
the project, from .cairn.toml in the root, from the environment, and from flags.
In the environment max_age is CAIRN_MAX_AGE, and so on.

    max_age = "14d"
    never   = ["*.pem", "secrets/"]

    [project."/home/me/big"]
    enabled = false

A .cairn.toml can make things tighter: set never, lower max_file_size, and
include what allow_include lists. An agent can write that file, so everything
else in it is not in force, and a warning says so. A .cairn.toml that is under
version control is ignored.

    enabled          false: nothing is captured
    git              off: checkpoints do not record HEAD, refs, index and stash
    require_git      true: nothing is captured outside a git work tree
    background       false: no cleaning in the background
    record_prompts   false: prompts, titles and commands of sessions are
                     neither stored nor shown
    sign             path of an SSH key that signs the heads of lines after
                     turns and at pushes; see cairn help verify
    signers          path of a list of allowed signers for cairn verify
    mask_secrets     false: secrets in them (tokens, keys, passwords) are
                     stored as they are
    max_age          how long a line lives after its last checkpoint (7d)
    max_count        checkpoints to keep; the oldest go first (any number)
    max_bytes        size of the store to keep to; the oldest go first (the
                     smaller of 5 GiB and a tenth of the disk that was free)
    min_free_bytes   bytes to leave free on the disk (1GiB)
    keep_last        newest checkpoints that never go (20)
    keep             how old checkpoints are thinned inside a day or session:
                     { all = "24h", hourly = "7d", daily = "90d" }; in the
                     environment all=24h,hourly=7d,daily=90d; see cairn help gc
                     (not at all)
    max_file_size    larger files are left out (32MiB)
    max_files        refuse to capture more files (1000000)
    max_scan_bytes   refuse to read more new data at once (20GiB)
    outside          larger files outside the root that a tool names are not
                     saved before it runs (1MiB); off saves none
    include          patterns: files to capture although ignored. One without a
                     slash has all ignored directories looked at, but those
                     that another names as !DIR/
    max_include_size larger ones of these are left out (1MiB)
    allow_include    the patterns that a .cairn.toml may include
    never            patterns of what is never captured; those of all places
                     add up
    secrets          what becomes of files with tokens, keys and passwords:
                     warn (captured and listed), skip (left out, like never),
                     refuse (no checkpoint, exit status 6), off (warn)
    secret_rules     absolute path of a file of rules, in the format of gitleaks
    timeout          how long a track may read (for ever)
    lock_timeout     how long to wait for another cairn (30s)
    sync             true: push in the background after a turn to the remote of
                     the last cairn push; a URL or a path: to that remote
    encrypt          recipients that pushes are sealed for: age1..., or public
                     SSH keys; those of all places add up ("none": open pushes)
    identity         path of a file with the key that opens what was sealed
    seal             true: the store is encrypted while no command works with it
    remote_timeout   how long a push or fetch may make no progress (5m)
    data_dir         where stores lie

Durations are as in 90s, 12h, 7d or 2w, sizes as in 64M or 5GiB; 0 and none mean
no limit. A key that is not known, or a value that makes no sense, is an error
that names the file, the line and the key. In a .cairn.toml it is a warning, and
nothing in that file is in force, never neither: captures go on with the user's
own settings.

With --json the answer is an array of {"key", "value", "origin"},
with "refused", the reason, where a setting is not in force.
`

func (c *commands) configCommand() *cobra.Command {
	return c.Command(cli.Command{
		Use: "config", Short: "which settings are in force, and who decided", Manual: configManual,
		Args: cli.ArgCount(0, 0, "no arguments"), Complete: cobra.NoFileCompletions,
		Run: func(context.Context, *cobra.Command, []string) error {
			dir, err := c.WorkDir()
			if err != nil {
				return err
			}
			root, err := c.RootDir(dir)
			if err != nil {
				return err
			}
			cfg, err := c.Settings(root)
			if err != nil {
				return err
			}
			return c.printConfig(cfg)
		},
	})
}

func (c *commands) printConfig(cfg *config.Config) error {
	list := append(cfg.Decisions(), cfg.Refused()...)
	broken := brokenSettings(cfg.Broken())
	if c.Global.JSON {
		return c.WriteJSON(append(list, broken...))
	}
	for _, d := range list {
		origin := d.Origin
		if d.Refused != "" {
			origin += ", not in force: " + d.Refused
		}
		fmt.Fprintf(c.Out, "%s = %s  (%s)\n", d.Key, wording.Printable(d.Value), wording.Printable(origin))
	}
	for _, d := range broken {
		fmt.Fprintf(c.Out, "%s: %s\n", wording.Printable(d.Origin), wording.Printable(strings.TrimPrefix(d.Key+": "+d.Refused, ": ")))
	}
	if len(list)+len(broken) == 0 {
		c.Console.Remark("everything is at its default")
	}
	return nil
}

// brokenSettings are the errors of a project's own file, which is not in force because of
// them. An error about the file as a whole has no key.
func brokenSettings(b *config.Broken) (list []config.Decision) {
	if b == nil {
		return nil
	}
	for _, err := range wording.Parts(b.Err) {
		d := config.Decision{Origin: b.Path, Refused: err.Error()}
		var bad *config.Error
		if errors.As(err, &bad) {
			d.Key, d.Refused = bad.Key, bad.Err.Error()
			if bad.Line > 0 {
				d.Origin += ":" + strconv.Itoa(bad.Line)
			}
		}
		d.Refused += " (nothing in this file is in force)"
		list = append(list, d)
	}
	return list
}
