package mcptools

import (
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

const (
	maxPaths = 500 // of each kind in the structured answer
	maxLines = 20  // of each kind in the text
)

// outcome is the result of going back or, in a dry run, of a plan.
type outcome struct {
	DryRun    bool                  `json:"dryRun" jsonschema:"nothing was changed"`
	Plan      string                `json:"planID,omitempty" jsonschema:"of a dry run: give it to the tool to do exactly this"`
	Changes   []cairn.PlannedChange `json:"plan,omitempty" jsonschema:"of a dry run: what would be done"`
	Operation string                `json:"operation,omitempty" jsonschema:"id; undo takes it back"`
	Complete  bool                  `json:"complete" jsonschema:"every path is as wanted"`
	Restored  cairn.Paths           `json:"restored"`
	Deleted   cairn.Paths           `json:"deleted"`
	Kept      []cairn.PathReason    `json:"kept" jsonschema:"left alone for safety"`
	Conflicts []cairn.PathReason    `json:"conflicts" jsonschema:"not brought to the wanted state"`
	NotTaken  []cairn.PathReason    `json:"notTakenBack,omitempty" jsonschema:"changes of a session that no checkpoint holds: outside the root, or ignored; they stay"`
	Base      string                `json:"base,omitempty" jsonschema:"of a merge: the checkpoint that both sides have in common"`
	Notes     []string              `json:"notes,omitempty" jsonschema:"what else is to be known, one fact a line"`
	Git       *cairn.GitResult      `json:"git,omitempty" jsonschema:"what became of the git repository, where it was to go back, too"`
	Outside   *cairn.OutsideResult  `json:"outside,omitempty" jsonschema:"what became of paths outside the root, where they were to go back, too"`
	GitMoved  []string              `json:"moved,omitempty" jsonschema:"what has moved in the git repository since then, and stays"`
	Unlisted  int                   `json:"unlisted" jsonschema:"further paths for which there was no room"`
}

// answer turns a result of the library into one of a tool.
func answer(res *cairn.Result, err error) (outcome, string, error) {
	if err != nil {
		return outcome{}, "", err
	}
	res = res.InAllRoots() // absolute paths are those of other directories of the session
	o := outcome{
		DryRun: res.DryRun, Operation: res.Operation, Complete: res.Complete(), Git: res.Git,
		Outside: res.Outside, Notes: res.Notes, Base: res.Base,
	}
	if res.DryRun {
		o.Plan = res.PlanID
		o.Changes = some(&o.Unlisted, res.Plan)
	}
	o.Restored, o.Deleted = some(&o.Unlisted, res.Restored), some(&o.Unlisted, res.Deleted)
	o.Kept, o.Conflicts = some(&o.Unlisted, res.Kept), some(&o.Unlisted, res.Conflicts)
	o.NotTaken = some(&o.Unlisted, res.NotTakenBack)
	return o, text(res), nil
}

// some returns the part of a list for which an answer has room, and counts the rest.
func some[T any](unlisted *int, list []T) []T {
	out := append([]T{}, list[:min(len(list), maxPaths)]...)
	*unlisted += len(list) - len(out)
	return out
}

func text(res *cairn.Result) string {
	var b strings.Builder
	switch {
	case res.DryRun && len(res.Plan)+res.Outside.Changes() == 0:
		b.WriteString("nothing to do\n")
	case res.DryRun:
		fmt.Fprintf(&b, "nothing is changed yet; to do exactly this, call the tool with the plan id %s\n", res.PlanID)
		lines(&b, res.Plan, func(p cairn.PlannedChange) string { return "would " + p.Action + " " + p.Path.Quoted() })
	case res.Operation == "" && len(res.Conflicts) == 0:
		b.WriteString("nothing was to be done\n")
	case res.Operation == "":
		b.WriteString("nothing was done\n")
	default:
		fmt.Fprintf(&b, "%d restored, %d deleted; undo brings back what was there\n", len(res.Restored), len(res.Deleted))
		lines(&b, res.Restored, func(path string) string { return "restored " + pathtext.Quote(path) })
		lines(&b, res.Deleted, func(path string) string { return "deleted " + pathtext.Quote(path) })
	}
	lines(&b, res.Kept, func(p cairn.PathReason) string { return "kept " + p.Path.Quoted() + ": " + p.Reason })
	lines(&b, res.Conflicts, func(p cairn.PathReason) string { return "conflict " + p.Path.Quoted() + ": " + p.Reason })
	lines(&b, res.NotTakenBack, func(p cairn.PathReason) string { return "not taken back " + p.Path.Quoted() + ": " + p.Reason })
	lines(&b, res.Notes, func(note string) string { return note })
	writeOutside(&b, res)
	writeGit(&b, res)
	return strings.ToValidUTF8(strings.TrimSuffix(b.String(), "\n"), "\uFFFD")
}

func lines[T any](b *strings.Builder, list []T, f func(T) string) {
	for i, v := range list {
		if i == maxLines {
			fmt.Fprintf(b, "and %d more\n", len(list)-i)
			return
		}
		b.WriteString(f(v) + "\n")
	}
}
