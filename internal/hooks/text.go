package hooks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// resultText lists the changed paths below a headline.
func resultText(res *cairn.Result, headline string) string {
	var counts, lines []string
	away := res.Outside
	if away == nil {
		away = &cairn.OutsideResult{}
	}
	for _, group := range []struct {
		verb string
		list []cairn.PathReason
	}{
		{"conflict", slices.Concat(res.Conflicts, away.Conflicts)}, {"kept", slices.Concat(res.Kept, away.Kept)},
		{"restored", reasonless(slices.Concat(res.Restored, away.Restored))}, {"deleted", reasonless(slices.Concat(res.Deleted, away.Deleted))},
	} {
		if len(group.list) == 0 {
			continue
		}
		verb := group.verb
		if verb == "conflict" {
			verb = "in conflict"
		}
		counts = append(counts, fmt.Sprintf("%d %s", len(group.list), verb))
		for _, p := range group.list {
			line := group.verb + " " + p.Path.Quoted()
			if p.Reason != "" {
				line += ": " + p.Reason
			}
			lines = append(lines, line)
		}
	}
	if res.DryRun {
		headline += " (not yet: this is a preview)"
	}
	if len(counts) > 0 {
		headline += ": " + strings.Join(counts, ", ")
	}
	return strings.Join(slices.Concat([]string{headline}, shorten(lines), notTakenBack(res.NotTakenBack), res.Notes), "\n")
}

func reasonless(paths []string) []cairn.PathReason {
	list := make([]cairn.PathReason, len(paths))
	for i, path := range paths {
		list[i].Path = cairn.Path(path)
	}
	return list
}

// shorten keeps a list from flooding the conversation. The first lines are the ones
// that need attention.
func shorten(lines []string) []string {
	if len(lines) <= shownFiles+1 {
		return lines
	}
	return append(lines[:shownFiles:shownFiles], fmt.Sprintf("and %d more", len(lines)-shownFiles))
}

func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

const shownPrompt = 50 // characters
