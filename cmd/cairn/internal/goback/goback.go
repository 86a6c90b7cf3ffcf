package goback

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// PlanFlags are flags of every command that changes files: --dry-run shows a plan, and
// --plan carries out exactly that plan.
type PlanFlags struct {
	DryRun bool
	ID     string
}

// DryRunFlag lists a plan, and PlanFlag carries it out.
const DryRunFlag, PlanFlag = "dry-run", "plan"

// ThisRootFlag limits going back to one root of a session of several.
const ThisRootFlag = "this-root"

// Register adds the flags to a command.
func (f *PlanFlags) Register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.DryRun, DryRunFlag, false, "only list what would be done")
	cmd.Flags().StringVar(&f.ID, PlanFlag, "", "carry out this plan and no other")
	cli.CompleteFlag(cmd, PlanFlag)
}

// isPlanID reports whether text has the form of an id that --dry-run prints.
func isPlanID(id string) bool { return len(id) == 16 && strings.Trim(id, "0123456789abcdef") == "" }

// Check also refuses an empty id, which is most likely an unset shell variable. It
// would accept any plan.
func (f *PlanFlags) Check(c *Dialog, cmd *cobra.Command) error {
	if cmd.Flags().Changed(PlanFlag) && !isPlanID(f.ID) {
		return c.Usage("cannot use --plan %s: want the 16 digits that --dry-run gives", wording.ShellWord(f.ID))
	}
	return nil
}

// PlanLine is the command line that carries out the plan of a dry run.
func PlanLine(cmd *cobra.Command, id string) string {
	words := []string{"cairn", cmd.Name()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, isList := f.Value.(pflag.SliceValue)
		switch {
		case f.Name == DryRunFlag || f.Name == PlanFlag || f.Name == AskFlag || f.Name == yesFlag:
		case isList:
			for _, value := range list.GetSlice() {
				words = append(words, wording.ShellWord("--"+f.Name+"="+value))
			}
		case f.Value.Type() == "bool" && f.Value.String() == "true":
			words = append(words, "--"+f.Name)
		default:
			words = append(words, wording.ShellWord("--"+f.Name+"="+f.Value.String()))
		}
	})
	words = append(words, "--"+PlanFlag, id)
	args := cmd.Flags().Args()
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }) {
		words = append(words, "--")
	}
	for _, arg := range args {
		words = append(words, wording.ShellWord(arg))
	}
	return strings.Join(words, " ")
}

const policyFlag = "on-conflict"

// OutsideFlag brings paths outside the root back, too.
const OutsideFlag = "outside"

// RegisterOutside adds --outside to a command.
func RegisterOutside(cmd *cobra.Command, outside *bool) {
	cmd.Flags().BoolVar(outside, OutsideFlag, false, "paths outside the root go back, too")
}

// RegisterPolicy adds --on-conflict to a command. Without it the default of the library
// is in force.
func RegisterPolicy(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, policyFlag, "", "what to do with later changes")
	var names []cobra.Completion
	for _, p := range []cairn.Policy{cairn.Merge, cairn.Overwrite, cairn.Keep, cairn.Fail} {
		names = append(names, cobra.Completion(p))
	}
	cli.CompleteFlag(cmd, policyFlag, names...)
}

// Policy is the value of --on-conflict, "" without the flag.
func (c *Dialog) Policy(cmd *cobra.Command, name string) (cairn.Policy, error) {
	if !cmd.Flags().Changed(policyFlag) {
		return "", nil
	}
	p, err := plan.ParsePolicy(name)
	if err != nil {
		return "", c.Usage("cannot use --%s: %v", policyFlag, err)
	}
	return p, nil
}

// PrintResult prints the result of going back, or of its dry run. nothing is the remark
// for an empty result.
func (c *Dialog) PrintResult(cmd *cobra.Command, res *cairn.Result, nothing string) (err error) {
	if c.Global.JSON {
		err = c.WriteJSON(res)
	} else {
		all := res.InAllRoots()
		err = c.listResult(all)
		c.summarize(all, res.Directories(), nothing)
		c.invite(cmd, all)
	}
	if err == nil && !res.Complete() {
		err = cli.ErrPartly
	}
	return err
}

// listResult lists the changed paths, or in a dry run the changes of the plan. With -q
// it lists only the paths that decide the exit status.
func (c *Dialog) listResult(res *cairn.Result) error {
	switch {
	case res.DryRun:
		lines := make([]string, len(res.Plan))
		for i, p := range res.Plan {
			lines[i] = "would " + p.Action + " " + p.Path.Quoted()
		}
		c.PrintList(lines, cli.MaxLines, c.AnswerLine)
	case !c.Global.Quiet:
		c.ListPaths("restored ", res.Restored)
		c.ListPaths("deleted ", res.Deleted)
	}
	c.ListReasons("kept ", res.Kept)
	c.ListReasons("conflict ", res.Conflicts)
	c.ListReasons("not taken back ", res.NotTakenBack)
	if res.Git != nil {
		c.ListGit(res.Git, res.DryRun)
	}
	if res.Outside != nil {
		c.listOutside(res.Outside, res.DryRun)
	}
	return c.Out.Flush() // before the summary, which goes elsewhere
}

func (c *Dialog) summarize(res *cairn.Result, directories int, nothing string) {
	var counts []string
	for _, n := range []struct {
		count int
		what  string
	}{
		{len(res.Restored), "restored"}, {len(res.Deleted), "deleted"},
		{len(res.Kept), "kept"}, {len(res.Conflicts), "in conflict"},
		{res.Outside.Changes(), "outside"}, {res.Outside.Staying(), "staying outside"},
		{len(res.NotTakenBack), "not taken back"}, {GitChanges(res), "in git"},
	} {
		if n.count > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	where := ""
	if directories > 1 {
		where = fmt.Sprintf(" in %d directories", directories)
	}
	switch {
	case len(counts) == 0:
		c.Console.Remark("%s", nothing)
	case res.DryRun:
		c.Console.Remark("nothing is changed yet; it would be: %s%s", strings.Join(counts, ", "), where)
	default:
		c.Console.Remark("%s%s", strings.Join(counts, ", "), where)
	}
	for _, note := range res.Notes {
		c.Console.Remark("%s", note)
	}
}

// invite says how to carry out a plan that a dry run has listed.
func (c *Dialog) invite(cmd *cobra.Command, res *cairn.Result) {
	if !res.DryRun || len(res.Plan)+GitChanges(res)+res.Outside.Changes() == 0 {
		return
	}
	var written, deleted int64
	for _, p := range res.Plan {
		if p.Action == "delete" {
			deleted += p.Bytes
		} else {
			written += p.Bytes
		}
	}
	c.Console.Remark("to do exactly this (%s to write, %s to delete): %s", wording.Size(written), wording.Size(deleted), PlanLine(cmd, res.PlanID))
}
