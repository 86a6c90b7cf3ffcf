package back

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/goback"
	"github.com/seed-fb9cbc17/cairn/internal/client"
	"github.com/seed-fb9cbc17/cairn/internal/patchjson"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const revertManual = `cairn revert takes back what was changed in files.

Usage:
    cairn revert HASH [PATH...] [--on-conflict POLICY]
    cairn revert FROM..TO [PATH...] [--on-conflict POLICY]
    cairn revert HASH|FROM..TO [PATH...] --hunk ID... | --lines PATH:10-20 | -p
    cairn revert --patches FILE
    each with [--dry-run | --plan ID]

With HASH all goes back that changed since; with FROM..TO, which are two HASHes,
what changed between them, be it one step or several, and what came later
stays. PATH narrows it down to some paths and everything below them.

With --hunk only some places of files go back. cairn diff --hunk-ids FROM TO, or
HASH alone, shows the names of the hunks; the beginning of a name is enough. A
name holds while other hunks come and go. --lines names lines as they are after
the change; lines that were only removed come back if a line beside them is
named. -p shows hunk after hunk and asks. Later changes of the same files stay:
both are merged, as --on-conflict says.

With --patches the files go back that patches list, and no others. FILE holds
one patch {"hash", "files"} as cairn patch --json prints it, or an array of
them; - means stdin. A file goes back to its state at the hash of the first
patch that names it, and is deleted if it did not exist there. Files may be
absolute or count from the root. Fields other than these two do not matter.

What becomes of a path that was changed after what is taken back, say by you, is
for --on-conflict to say:
    merge      both changes are brought together line by line; where they
               overlap, or it is no text, the path stays as it is: a conflict
    overwrite  the later change goes, too, and is saved first
    keep       the path stays as it is, and is listed as kept
    fail       nothing is done at all if there is any; the exit status is 1
For FROM..TO merge is the default, and what was changed after TO is later. For
HASH it is overwrite; with another policy what was changed after the newest
checkpoint is later. For --patches there is only overwrite. Both halves of a
rename without an edit go back or stay together.

Going back is as safe as in cairn restore: what is overwritten or deleted is
saved first, what may have existed without being captured is kept, and cairn
undo takes it back.

Options:
    --hunk ID[,ID...]     only these hunks; may be repeated
    --lines PATH:FROM-TO  only the changes of these lines; may be repeated
    -p, --patch           show each hunk and ask whether it goes back
    --patches FILE        the patches to revert; - is stdin
    --on-conflict POLICY  merge, overwrite, keep or fail: see above
    --dry-run             only list what would be done, and give the plan an id
    --plan ID             carry out the plan of a dry run with the same
                          arguments, or nothing if it would be another one now

The answer and the exit status are those of cairn restore; a PATH may be at
either end of FROM..TO.

Examples:
    cairn revert @ main.go
    cairn revert @~2..@~1 --dry-run
    cairn revert @~3..@ src --on-conflict keep
    cairn revert @~2..@~1 -p
    cairn revert @~2..@~1 --hunk 1f2e3d4c --lines src/main.go:10-20
    cairn patch --json @ | cairn revert --patches -
`

type revertFlags struct {
	patches, policy string
	plan            goback.PlanFlags
	hunks           goback.HunkFlags
}

func (c *commands) revertCommand() *cobra.Command {
	var f revertFlags
	cmd := c.Command(cli.Command{
		Use: "revert HASH|FROM..TO [PATH...]", Short: "take back changes of files", Manual: revertManual,
		Complete: c.CompleteRevert,
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			opt, err := f.options(c, cmd, args)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("patches") {
				return c.revertPatches(ctx, cmd, f.patches, opt)
			}
			if opt.Paths, err = c.Paths(args[1:]); err != nil {
				return err
			}
			return c.revertPaths(ctx, cmd, args, opt, f.hunks.Ask)
		},
	})
	cmd.Flags().StringVar(&f.patches, "patches", "", "file of patches, - for stdin")
	goback.RegisterPolicy(cmd, &f.policy)
	f.plan.Register(cmd)
	f.hunks.Register(cmd)
	return cmd
}

// options are the options of the library without the paths.
func (f *revertFlags) options(c *commands, cmd *cobra.Command, args []string) (opt cairn.RevertOptions, err error) {
	opt.DryRun, opt.Plan = f.plan.DryRun, f.plan.ID
	patches := cmd.Flags().Changed("patches")
	switch {
	case patches && len(args) > 0:
		return opt, c.Usage("wants either a HASH or --patches")
	case !patches && len(args) == 0:
		return opt, c.Usage("wants a HASH or FROM..TO and perhaps paths, or --patches FILE")
	}
	if opt.OnConflict, err = c.Policy(cmd, f.policy); err != nil {
		return opt, err
	}
	if patches && opt.OnConflict != "" && opt.OnConflict != cairn.Overwrite {
		return opt, c.Usage("cannot --on-conflict %s with --patches, which do not say what they left behind: "+
			"it may be overwrite, and FROM..TO takes back a step with any policy", opt.OnConflict)
	}
	if patches && f.hunks.Any() {
		return opt, c.Usage("takes hunks and lines of a HASH or FROM..TO, not of --patches")
	}
	if err := f.hunks.Options(c.Dialog, &opt); err != nil {
		return opt, err
	}
	return opt, f.plan.Check(c.Dialog, cmd)
}

// revertPaths takes back the changes since a checkpoint or between two. With ask, the caller of
// the command chooses hunks first.
func (c *commands) revertPaths(ctx context.Context, cmd *cobra.Command, args []string, opt cairn.RevertOptions, ask bool) error {
	spec := args[0]
	from, to, isRange := strings.Cut(spec, "..")
	if isRange && (from == "" || to == "") {
		return c.Usage("cannot use %s: a range is FROM..TO, as in @~2..@~1, and paths go after it", wording.ShellWord(spec))
	}
	return c.WithRepo(func(repo *cairn.Repo) error {
		in := cairn.Range{From: from, To: to}
		if ask {
			ids, err := c.AskHunks(ctx, "take back", repo.DiffFull(ctx, in.From, in.To, cairn.DiffOptions{Hunks: true}, opt.Paths...))
			if err != nil || !c.NoteChosen(cmd, ids, "revert") {
				return err
			}
			opt.Hunks = ids
		}
		res, err := c.revert(ctx, repo, in, opt)
		if err != nil {
			return c.PathMeant(ctx, repo, err, "cairn revert @", args...)
		}
		err = c.PrintResult(cmd, res, "nothing to revert: "+nothingLeft(spec, isRange, opt.OnConflict))
		if !isRange && keepsLater(opt.OnConflict) && res.Complete() && !res.Moves() {
			c.tellLater(ctx, repo, &opt)
		}
		return err
	})
}

// keepsLater reports whether a revert to a HASH leaves what was changed after the newest checkpoint.
func keepsLater(p cairn.Policy) bool { return p != "" && p != cairn.Overwrite }

// nothingLeft says why nothing goes back.
func nothingLeft(spec string, isRange bool, policy cairn.Policy) string {
	switch {
	case isRange:
		return "nothing is left of what changed in " + spec
	case keepsLater(policy):
		return "nothing is left of what changed from " + spec + " to the newest checkpoint"
	}
	return "everything is as at " + spec
}

// tellLater says how changes after the newest checkpoint go back, if there are any.
func (c *commands) tellLater(ctx context.Context, repo *cairn.Repo, opt *cairn.RevertOptions) {
	if c.Global.JSON || c.Global.Quiet {
		return
	}
	here := func() ([]cairn.Change, error) { return repo.Changes(ctx, "@", "", opt.Paths...) }
	there := func(s *client.Client) ([]cairn.Change, error) { return s.Changes(ctx, "@", opt.Paths) }
	later, err := cli.ByServer(c.Program, there, here)
	if err != nil || len(later) == 0 {
		return // the answer is complete without
	}
	c.Console.Remark("hint: %s changed after the newest checkpoint, and --on-conflict %s leaves that; without the option it goes back, too",
		wording.Count(len(later), "path"), opt.OnConflict)
}

func (c *commands) revertPatches(ctx context.Context, cmd *cobra.Command, name string, opt cairn.RevertOptions) error {
	data, err := c.readInput(ctx, name)
	if err != nil {
		return err
	}
	patches, err := patchjson.Parse(data)
	if err != nil {
		return c.Usage("cannot use %s: %v", inputName(name), err)
	}
	return c.WithRepo(func(repo *cairn.Repo) error {
		res, err := c.revertAll(ctx, repo, patches, cairn.RevertPatchesOptions{DryRun: opt.DryRun, Plan: opt.Plan})
		if err != nil {
			return err
		}
		return c.PrintResult(cmd, res, "nothing to revert: every file is as its patch has it")
	})
}

func inputName(name string) string {
	if name == "-" {
		return "what stdin holds"
	}
	return name
}

// readInput reads a whole file, which counts from the current directory, or stdin.
func (c *commands) readInput(ctx context.Context, name string) ([]byte, error) {
	in := c.Stdin
	if name != "-" {
		paths, err := c.Paths([]string{name})
		if err != nil {
			return nil, err
		}
		file, err := os.Open(paths[0])
		if err != nil {
			return nil, fmt.Errorf("read the patches: %w", err)
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(cli.InterruptibleReader(ctx, in))
	if err != nil {
		return nil, fmt.Errorf("read the patches: %w", err)
	}
	return data, nil
}
