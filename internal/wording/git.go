package wording

import "strings"

// GitStanding says whether checkpoints record the git repository, and what has moved there since the
// newest one.
func GitStanding(on bool, reason string, moved []string) string {
	text := "not recorded: " + reason
	if on {
		text = "HEAD, refs, index and stash are recorded"
		if reason == "" {
			text += ", and commits kept"
		} else {
			text += ", but " + reason
		}
	}
	if len(moved) > 0 {
		text += "; since then: " + strings.Join(moved, ", ")
	}
	return text
}
