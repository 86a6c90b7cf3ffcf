package mcptools

import (
	"context"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// rootArgs limit a way back to one directory, or widen it.
type rootArgs struct {
	Outside bool `json:"outside,omitempty" jsonschema:"files outside the root go back, too, as far as the tools named them and they were saved before"`

	ThisRoot bool `json:"thisRoot,omitempty" jsonschema:"only in this directory, where a session or an operation has several"`
}

// gitArgs are arguments of tools that take back what was done.
type gitArgs struct {
	Git bool `json:"git,omitempty" jsonschema:"the git repository goes back, too: HEAD, refs, stashes, index; only with the planID of a preview"`
}

// answer returns a function that turns a result of the library into one of a tool. Where git was not
// to go back, the answer says what has moved there.
func (t *tools) answer(ctx context.Context) func(*cairn.Result, error) (outcome, string, error) {
	return func(res *cairn.Result, err error) (outcome, string, error) {
		o, text, err := answer(res, err)
		if err != nil || res.Git != nil || res.Operation == "" {
			return o, text, err
		}
		if o.GitMoved = t.moved(ctx, res.Operation); len(o.GitMoved) > 0 {
			text += "\ngit stays as it is; since then: " + strings.ToValidUTF8(strings.Join(o.GitMoved, ", "), "\uFFFD")
		}
		return o, text, nil
	}
}

// moved says what has moved in git since the checkpoint that an operation, the newest, went back to.
func (t *tools) moved(ctx context.Context, id string) []string {
	for op, err := range t.repo.Operations(ctx) {
		if err != nil || op.ID != id || op.Target == "" {
			return nil
		}
		words, _ := t.repo.GitMoved(ctx, op.Target, "") // files are back; only the words are missing
		return words
	}
	return nil
}

func writeOutside(b *strings.Builder, res *cairn.Result) {
	if res.Outside == nil {
		return
	}
	restored, deleted := "restored ", "deleted "
	if res.DryRun {
		restored, deleted = "would restore ", "would delete "
	}
	reason := func(what string) func(cairn.PathReason) string {
		return func(p cairn.PathReason) string { return what + p.Path.Place() + ": " + p.Reason }
	}
	lines(b, res.Outside.Restored, func(path string) string { return restored + pathtext.Place(path) })
	lines(b, res.Outside.Deleted, func(path string) string { return deleted + pathtext.Place(path) })
	lines(b, res.Outside.Kept, reason("kept "))
	lines(b, res.Outside.Conflicts, reason("conflict "))
}

func writeGit(b *strings.Builder, res *cairn.Result) {
	if res.Git == nil {
		return
	}
	prefix := "in git: "
	if res.DryRun {
		prefix = "in git: would "
	}
	lines(b, res.Git.Changes, func(text string) string { return prefix + text })
	lines(b, res.Git.Conflicts, func(c cairn.GitConflict) string { return "conflict " + c.Ref.Quoted() + ": " + c.Reason })
}
