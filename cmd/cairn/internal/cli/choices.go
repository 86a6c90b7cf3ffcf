package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// choosing lists the options that choose what a command acts on or compares with. Without one of them the command acts
// on more, or checks less.
var choosing = []string{
	"hunk", SessionFlag, "base", "since", "until", "grep", "machine", "remote", "from", "signers", "test",
}

// WantChoices refuses empty options of these names, as of a variable that is not set.
func (c *Program) WantChoices(cmd *cobra.Command, names ...string) error {
	if name := givenEmpty(cmd, names); name != "" {
		return c.Usage("got an empty --%s: give it a value, or leave the option out", name)
	}
	return nil
}

// givenEmpty returns the first of some options that stands on the command line with an empty value, "" for none.
func givenEmpty(cmd *cobra.Command, names []string) string {
	for _, name := range names {
		if f := cmd.Flag(name); f != nil && f.Changed && isEmpty(f.Value) {
			return name
		}
	}
	return ""
}

// isEmpty reports whether a value is empty, or has an empty part where it is a list.
func isEmpty(v pflag.Value) bool {
	list, isList := v.(pflag.SliceValue)
	if !isList {
		return v.String() == ""
	}
	parts := list.GetSlice()
	return len(parts) == 0 || slices.Contains(parts, "")
}
