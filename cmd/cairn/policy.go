package main

import (
	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
)

const policyFlag = "on-conflict"

// registerPolicy adds --on-conflict to a command. Without it the library's default for
// what the command does is in force.
func registerPolicy(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, policyFlag, "", "what to do with later changes")
	var names []cobra.Completion
	for _, p := range []cairn.Policy{cairn.Merge, cairn.Overwrite, cairn.Keep, cairn.Fail} {
		names = append(names, cobra.Completion(p))
	}
	completeFlag(cmd, policyFlag, names...)
}

// policy is what --on-conflict says, "" where it is not given.
func (c *cli) policy(cmd *cobra.Command, name string) (cairn.Policy, error) {
	if !cmd.Flags().Changed(policyFlag) {
		return "", nil
	}
	p, err := cairn.ParsePolicy(name)
	if err != nil {
		return "", c.usage("cannot use --%s: %v", policyFlag, err)
	}
	return p, nil
}
