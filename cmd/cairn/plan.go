package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// planFlags go with every command that changes files: look first, then carry out what
// was looked at and nothing else.
type planFlags struct {
	dryRun bool
	id     string
}

const dryRunFlag, planFlag = "dry-run", "plan"

func (f *planFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.dryRun, dryRunFlag, false, "only list what would be done")
	cmd.Flags().StringVar(&f.id, planFlag, "", "carry out this plan and no other")
	completeFlag(cmd, planFlag)
}

// completeFlag says which values an option has.
func completeFlag(cmd *cobra.Command, name string, values ...cobra.Completion) {
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic("internal error: " + err.Error())
	}
}

// isPlanID reports whether text has the form of an id that --dry-run prints.
func isPlanID(id string) bool { return len(id) == 16 && strings.Trim(id, "0123456789abcdef") == "" }

// check also refuses an empty id, most likely of a shell variable that is not set: it
// would mean whatever is planned now.
func (f *planFlags) check(c *cli, cmd *cobra.Command) error {
	if cmd.Flags().Changed(planFlag) && !isPlanID(f.id) {
		return c.usage("cannot use --plan %s: want the 16 digits that --dry-run gives", shellWord(f.id))
	}
	return nil
}

// planLine is the command line that carries out the plan of a dry run.
func planLine(cmd *cobra.Command, id string) string {
	words := []string{"cairn", cmd.Name()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case f.Name == dryRunFlag || f.Name == planFlag:
		case f.Value.Type() == "bool" && f.Value.String() == "true":
			words = append(words, "--"+f.Name)
		default:
			words = append(words, shellWord("--"+f.Name+"="+f.Value.String()))
		}
	})
	words = append(words, "--"+planFlag, id)
	args := cmd.Flags().Args()
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }) {
		words = append(words, "--")
	}
	for _, arg := range args {
		words = append(words, shellWord(arg))
	}
	return strings.Join(words, " ")
}

// isPlain reports whether no shell makes anything else of a word.
func isPlain(word string) bool {
	const marks = "@%+=:,./_-"
	for i, r := range word {
		if !('a' <= r|0x20 && r|0x20 <= 'z' && r < 0x80 || '0' <= r && r <= '9' || strings.ContainsRune(marks, r) || r == '~' && i > 0) {
			return false
		}
	}
	return word != ""
}

// shellWord quotes a word for a shell where it has to be. One with control characters
// goes into the form that bash, zsh and ksh have for them, so that it stays on its
// line.
func shellWord(word string) string {
	switch {
	case isPlain(word):
		return word
	case strings.ContainsFunc(word, isControl):
		return "$'" + printable(strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(word)) + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
