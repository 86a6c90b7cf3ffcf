package plan

import (
	"fmt"
	"slices"
)

// Policy decides what a revert does to a path that was changed after the reverted step.
type Policy string

// The policies. Each saves contents before they are overwritten.
const (
	Merge     Policy = "merge"     // merge line by line; if the changes overlap, the path stays and is a conflict
	Overwrite Policy = "overwrite" // the later change is overwritten
	Keep      Policy = "keep"      // the path stays as it is
	Fail      Policy = "fail"      // nothing is done at all
)

// ParsePolicy reads the name of a policy.
func ParsePolicy(name string) (Policy, error) {
	if p := Policy(name); slices.Contains([]Policy{Merge, Overwrite, Keep, Fail}, p) {
		return p, nil
	}
	return "", fmt.Errorf("unknown policy %q (want merge, overwrite, keep or fail)", name)
}
