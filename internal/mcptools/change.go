package mcptools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

func (t *tools) addChanging(s *mcp.Server) {
	add(s, &mcp.Tool{
		Name: "track", Description: "Take a checkpoint of the working directory. Nothing in it is changed.",
		Annotations: adds("Take a checkpoint"),
	}, t.track)
	add(s, &mcp.Tool{
		Name: "restore", Description: "Make the working directory, or some paths, exactly as at a checkpoint. " +
			"Files created since are deleted. Everything overwritten or deleted is saved first; undo brings it back.",
		Annotations: destroys("Restore a checkpoint"),
	}, t.restore)
	add(s, &mcp.Tool{
		Name: "revert", Description: "Take back what changed since a checkpoint (hash), or between two of them (from, to), in which case later changes stay. " +
			"With hunks or lines only these places of files go back. Everything overwritten or deleted is saved first; undo brings it back.",
		Annotations: destroys("Revert changes"),
	}, t.revert)
	add(s, &mcp.Tool{
		Name: "undo", Description: "Take back the last restore, revert, merge or redo. Again takes back the one before. What an agent did is no operation: session_undo takes that back.",
		Annotations: destroys("Undo"),
	}, t.undo)
	add(s, &mcp.Tool{
		Name: "redo", Description: "Take back the last undo.",
		Annotations: destroys("Redo"),
	}, t.redo)
}

type trackArgs struct {
	Message string `json:"message,omitempty" jsonschema:"what the checkpoint is for, up to 65536 characters"`
}

type tracked struct {
	Hash       string              `json:"hash" jsonschema:"names the state; give it to restore, revert or diff"`
	Checkpoint string              `json:"checkpoint"`
	Files      int                 `json:"files"`
	Changed    int                 `json:"changed" jsonschema:"paths that differ from the checkpoint before"`
	Skipped    []cairn.SkippedPath `json:"skipped" jsonschema:"present but not captured; going back leaves them alone"`
	Secrets    []cairn.Secret      `json:"secrets,omitempty" jsonschema:"places of credentials in files; new ones were found now"`
	Unlisted   int                 `json:"unlisted" jsonschema:"skipped paths for which there was no room"`
}

func (t *tools) track(ctx context.Context, args trackArgs) (out tracked, text string, err error) {
	c, err := t.repo.Track(ctx, cairn.TrackOptions{Message: args.Message})
	if err != nil {
		return out, "", err
	}
	out = tracked{Hash: c.Hash, Checkpoint: c.Checkpoint, Files: c.Files, Changed: c.Changed}
	out.Skipped = some(&out.Unlisted, c.Skipped)
	out.Secrets = c.Secrets[:min(len(c.Secrets), maxLines)]
	text = fmt.Sprintf("%s: %s, %d changed since the checkpoint before", c.Hash, wording.Count(c.Files, "file"), c.Changed)
	for i, s := range c.Skipped {
		if i == maxLines {
			text += fmt.Sprintf("\nand %d more", len(c.Skipped)-i)
			break
		}
		text += fmt.Sprintf("\nnot captured: %s: %s", s.Path.Quoted(), s.Reason)
	}
	for i := range out.Secrets {
		if out.Secrets[i].New {
			text += "\nsecret in " + out.Secrets[i].String()
		}
	}
	return out, text, nil
}

// scopeArgs and planArgs are arguments of every tool that changes files.
type scopeArgs struct {
	Paths      []string `json:"paths,omitempty" jsonschema:"only these files and directories"`
	OnConflict string   `json:"onConflict,omitempty" jsonschema:"what becomes of a path changed later: merge, overwrite, keep or fail"`
}

type planArgs struct {
	DryRun bool   `json:"dryRun,omitempty" jsonschema:"only list what would be done, as preview does"`
	Plan   string `json:"planID,omitempty" jsonschema:"plan id of a preview: do exactly that or nothing"`
}

type rangeArgs struct {
	Hash string `json:"hash,omitempty" jsonschema:"take back what changed since this checkpoint"`
	From string `json:"from,omitempty" jsonschema:"with to: take back what changed between the two"`
	To   string `json:"to,omitempty" jsonschema:"with from"`
}

type restoreArgs struct {
	Hash    string   `json:"hash" jsonschema:"checkpoint to go to"`
	Paths   []string `json:"paths,omitempty" jsonschema:"only these files and directories"`
	KeepNew bool     `json:"keepNew,omitempty" jsonschema:"leave files created since alone"`
	planArgs
}

type revertArgs struct {
	rangeArgs
	hunkArgs
	scopeArgs
	planArgs
}

type takeBackArgs struct {
	scopeArgs
	planArgs
	gitArgs
	rootArgs
}

type previewArgs struct {
	Operation string `json:"action" jsonschema:"restore, revert, undo or redo"`
	KeepNew   bool   `json:"keepNew,omitempty" jsonschema:"for restore: leave files created since alone"`
	rangeArgs
	hunkArgs
	scopeArgs
	gitArgs
	rootArgs
}

func (t *tools) restore(ctx context.Context, args restoreArgs) (outcome, string, error) {
	list, err := chosenPaths(args.Paths)
	if err == nil && args.Hash == "" {
		err = fmt.Errorf("%w: hash is empty; @ is the newest checkpoint", errArguments)
	}
	if err != nil {
		return outcome{}, "", err
	}
	return t.answer(ctx)(t.repo.Restore(ctx, args.Hash, cairn.RestoreOptions{
		Paths: list, KeepNew: args.KeepNew, DryRun: args.DryRun, Plan: args.Plan,
	}))
}

func (t *tools) revert(ctx context.Context, args revertArgs) (outcome, string, error) {
	opt, err := args.options(args.planArgs)
	if err == nil {
		err = args.put(&opt)
	}
	if err != nil {
		return outcome{}, "", err
	}
	switch {
	case args.Hash != "" && args.From == "" && args.To == "":
		return t.answer(ctx)(t.repo.Revert(ctx, cairn.Range{From: args.Hash}, opt))
	case args.Hash == "" && args.From != "" && args.To != "":
		return t.answer(ctx)(t.repo.Revert(ctx, cairn.Range{From: args.From, To: args.To}, opt))
	}
	return outcome{}, "", fmt.Errorf("%w: revert wants either hash, or from and to", errArguments)
}

func (t *tools) undo(ctx context.Context, args takeBackArgs) (outcome, string, error) {
	opt, err := args.options(args.planArgs)
	if err != nil {
		return outcome{}, "", err
	}
	opt.Git, opt.ThisRoot, opt.Outside = args.Git, args.ThisRoot, args.Outside
	return t.answer(ctx)(t.repo.Undo(ctx, opt))
}

func (t *tools) redo(ctx context.Context, args takeBackArgs) (outcome, string, error) {
	opt, err := args.options(args.planArgs)
	if err != nil {
		return outcome{}, "", err
	}
	opt.Git, opt.ThisRoot, opt.Outside = args.Git, args.ThisRoot, args.Outside
	return t.answer(ctx)(t.repo.Redo(ctx, opt))
}

func (t *tools) preview(ctx context.Context, args previewArgs) (outcome, string, error) {
	dry := planArgs{DryRun: true}
	if err := args.check(); err != nil {
		return outcome{}, "", err
	}
	switch args.Operation {
	case "restore":
		return t.restore(ctx, restoreArgs{args.Hash, args.Paths, args.KeepNew, dry})
	case "revert":
		return t.revert(ctx, revertArgs{args.rangeArgs, args.hunkArgs, args.scopeArgs, dry})
	case "undo":
		return t.undo(ctx, takeBackArgs{args.scopeArgs, dry, args.gitArgs, args.rootArgs})
	case "redo":
		return t.redo(ctx, takeBackArgs{args.scopeArgs, dry, args.gitArgs, args.rootArgs})
	}
	return outcome{}, "", fmt.Errorf("%w: action is restore, revert, undo or redo", errArguments)
}

// check refuses arguments that the tool of the action does not have, as that tool does itself.
func (a *previewArgs) check() error {
	const restore, revert, undo, redo = "restore", "revert", "undo", "redo"
	for _, arg := range []struct {
		name  string
		given bool
		of    []string
	}{
		{"keepNew", a.KeepNew, []string{restore}},
		{"hash", a.Hash != "", []string{restore, revert}},
		{"from", a.From != "", []string{revert}}, {"to", a.To != "", []string{revert}},
		{"hunks", len(a.Hunks) > 0, []string{revert}}, {"lines", len(a.Lines) > 0, []string{revert}},
		{"onConflict", a.OnConflict != "", []string{revert, undo, redo}},
		{"git", a.Git, []string{undo, redo}}, {"outside", a.Outside, []string{undo, redo}},
		{"thisRoot", a.ThisRoot, []string{undo, redo}},
	} {
		if arg.given && !slices.Contains(arg.of, a.Operation) {
			return fmt.Errorf("%w: %s is for the action %s", errArguments, arg.name, strings.Join(arg.of, " or "))
		}
	}
	return nil
}

// options returns the options for the library.
func (a *scopeArgs) options(by planArgs) (opt cairn.RevertOptions, err error) {
	opt = cairn.RevertOptions{DryRun: by.DryRun, Plan: by.Plan}
	if a.OnConflict != "" {
		if opt.OnConflict, err = plan.ParsePolicy(a.OnConflict); err != nil {
			return opt, fmt.Errorf("%w: %w", errArguments, err)
		}
	}
	opt.Paths, err = chosenPaths(a.Paths)
	return opt, err
}
