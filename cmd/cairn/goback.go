package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// planFlags are flags of every command that changes files: --dry-run shows a plan, and
// --plan carries out exactly that plan.
type planFlags struct {
	dryRun bool
	id     string
}

const dryRunFlag, planFlag = "dry-run", "plan"

// thisRootFlag limits going back to one root of a session of several.
const thisRootFlag = "this-root"

func (f *planFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.dryRun, dryRunFlag, false, "only list what would be done")
	cmd.Flags().StringVar(&f.id, planFlag, "", "carry out this plan and no other")
	completeFlag(cmd, planFlag)
}

// completeFlag registers the values of an option for completion.
func completeFlag(cmd *cobra.Command, name string, values ...cobra.Completion) {
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic("internal error: " + err.Error())
	}
}

// isPlanID reports whether text has the form of an id that --dry-run prints.
func isPlanID(id string) bool { return len(id) == 16 && strings.Trim(id, "0123456789abcdef") == "" }

// check also refuses an empty id, which is most likely an unset shell variable. It
// would accept any plan.
func (f *planFlags) check(c *cli, cmd *cobra.Command) error {
	if cmd.Flags().Changed(planFlag) && !isPlanID(f.id) {
		return c.usage("cannot use --plan %s: want the 16 digits that --dry-run gives", wording.ShellWord(f.id))
	}
	return nil
}

// planLine is the command line that carries out the plan of a dry run.
func planLine(cmd *cobra.Command, id string) string {
	words := []string{"cairn", cmd.Name()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, isList := f.Value.(pflag.SliceValue)
		switch {
		case f.Name == dryRunFlag || f.Name == planFlag || f.Name == askFlag || f.Name == yesFlag:
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
	words = append(words, "--"+planFlag, id)
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

// outsideFlag brings paths outside the root back, too.
const outsideFlag = "outside"

func registerOutside(cmd *cobra.Command, outside *bool) {
	cmd.Flags().BoolVar(outside, outsideFlag, false, "paths outside the root go back, too")
}

// registerPolicy adds --on-conflict to a command. Without it the default of the library
// is in force.
func registerPolicy(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, policyFlag, "", "what to do with later changes")
	var names []cobra.Completion
	for _, p := range []cairn.Policy{cairn.Merge, cairn.Overwrite, cairn.Keep, cairn.Fail} {
		names = append(names, cobra.Completion(p))
	}
	completeFlag(cmd, policyFlag, names...)
}

// policy is the value of --on-conflict, "" without the flag.
func (c *cli) policy(cmd *cobra.Command, name string) (cairn.Policy, error) {
	if !cmd.Flags().Changed(policyFlag) {
		return "", nil
	}
	p, err := plan.ParsePolicy(name)
	if err != nil {
		return "", c.usage("cannot use --%s: %v", policyFlag, err)
	}
	return p, nil
}

// printResult prints the result of going back, or of its dry run. nothing is the remark
// for an empty result.
func (c *cli) printResult(cmd *cobra.Command, res *cairn.Result, nothing string) (err error) {
	if c.global.json {
		err = c.writeJSON(res)
	} else {
		all := res.InAllRoots()
		err = c.listResult(all)
		c.summarize(all, res.Directories(), nothing)
		c.invite(cmd, all)
	}
	if err == nil && !res.Complete() {
		err = errPartly
	}
	return err
}

// listResult lists the changed paths, or in a dry run the changes of the plan. With -q
// it lists only the paths that decide the exit status.
func (c *cli) listResult(res *cairn.Result) error {
	switch {
	case res.DryRun:
		lines := make([]string, len(res.Plan))
		for i, p := range res.Plan {
			lines[i] = "would " + p.Action + " " + p.Path.Quoted()
		}
		c.cut(lines, maxLines, c.answerLine)
	case !c.global.quiet:
		c.listPaths("restored ", res.Restored)
		c.listPaths("deleted ", res.Deleted)
	}
	c.listReasons("kept ", res.Kept)
	c.listReasons("conflict ", res.Conflicts)
	c.listReasons("not taken back ", res.NotTakenBack)
	if res.Git != nil {
		c.listGit(res.Git, res.DryRun)
	}
	if res.Outside != nil {
		c.listOutside(res.Outside, res.DryRun)
	}
	return c.out.Flush() // before the summary, which goes elsewhere
}

func (c *cli) summarize(res *cairn.Result, directories int, nothing string) {
	var counts []string
	for _, n := range []struct {
		count int
		what  string
	}{
		{len(res.Restored), "restored"}, {len(res.Deleted), "deleted"},
		{len(res.Kept), "kept"}, {len(res.Conflicts), "in conflict"},
		{res.Outside.Changes(), "outside"}, {res.Outside.Staying(), "staying outside"},
		{len(res.NotTakenBack), "not taken back"}, {gitChanges(res), "in git"},
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
		c.console.Remark("%s", nothing)
	case res.DryRun:
		c.console.Remark("nothing is changed yet; it would be: %s%s", strings.Join(counts, ", "), where)
	default:
		c.console.Remark("%s%s", strings.Join(counts, ", "), where)
	}
	for _, note := range res.Notes {
		c.console.Remark("%s", note)
	}
}

// invite says how to carry out a plan that a dry run has listed.
func (c *cli) invite(cmd *cobra.Command, res *cairn.Result) {
	if !res.DryRun || len(res.Plan)+gitChanges(res)+res.Outside.Changes() == 0 {
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
	c.console.Remark("to do exactly this (%s to write, %s to delete): %s", wording.Size(written), wording.Size(deleted), planLine(cmd, res.PlanID))
}
