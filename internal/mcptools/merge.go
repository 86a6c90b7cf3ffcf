package mcptools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
)

func (t *tools) addMerge(s *mcp.Server) {
	add(s, &mcp.Tool{
		Name: "compare", Description: "Show what other directories (forks, copies, work trees) or checkpoints changed since the state that each has in common with the working directory, " +
			"and which files more than one changed. With hunkIDs the changed places have names for merge.",
		Annotations: readOnly("Compare directories"),
	}, t.compare)
	add(s, &mcp.Tool{
		Name: "merge", Description: "Bring what another directory or a checkpoint changed into the working directory, three-way; where both changed the same lines, the file stays and is a conflict. " +
			"With dryRun it only lists what it would do and gives a plan id. Everything overwritten or deleted is saved first; undo takes the merge back.",
		Annotations: destroys("Merge a directory"),
	}, t.merge)
}

type sourceArgs struct {
	Directory string `json:"directory,omitempty" jsonschema:"another directory with checkpoints, absolute; its present state is captured first"`
	Hash      string `json:"hash,omitempty" jsonschema:"a checkpoint: of the directory if one is given, else of the working directory"`
}

type mergeArgs struct {
	sourceArgs
	Paths []string `json:"paths,omitempty" jsonschema:"only these files and directories"`
	Hunks []string `json:"hunks,omitempty" jsonschema:"only these hunks of compare: names, or beginnings of at least 4 digits"`
	Base  string   `json:"base,omitempty" jsonschema:"the state that both sides come from, if they have no checkpoint in common"`
	planArgs
}

type compareArgs struct {
	Sources []sourceArgs `json:"sources" jsonschema:"directories or checkpoints"`
	Paths   []string     `json:"paths,omitempty" jsonschema:"only these files and directories"`
	Base    string       `json:"base,omitempty" jsonschema:"the state that all come from, if they have no checkpoint in common"`
	HunkIDs bool         `json:"hunkIDs,omitempty" jsonschema:"list the changed places of each file, with names for merge"`
}

type compared struct {
	cairn.Comparison
	Unlisted int `json:"unlisted" jsonschema:"further files for which there was no room"`
}

func (t *tools) merge(ctx context.Context, args mergeArgs) (out outcome, text string, err error) {
	list, err := chosenPaths(args.Paths)
	if err = cmp.Or(err, notEmpty("hunks", args.Hunks)); err != nil {
		return out, "", err
	}
	err = t.withSources([]sourceArgs{args.sourceArgs}, func(from []cairn.MergeSource) error {
		opt := cairn.MergeOptions{Paths: list, Hunks: args.Hunks, Base: args.Base, DryRun: args.DryRun, Plan: args.Plan}
		out, text, err = answer(t.repo.Merge(ctx, from[0], opt))
		return err
	})
	return out, text, err
}

func (t *tools) compare(ctx context.Context, args compareArgs) (out compared, text string, err error) {
	list, err := paths(args.Paths)
	if err == nil && len(args.Sources) == 0 {
		err = fmt.Errorf("%w: compare wants sources", errArguments)
	}
	if err != nil {
		return out, "", err
	}
	err = t.withSources(args.Sources, func(from []cairn.MergeSource) error {
		all, err := t.repo.Compare(ctx, from, cairn.CompareOptions{Paths: list, Base: args.Base, Hunks: args.HunkIDs})
		if err == nil {
			out.Comparison = *all
		}
		return err
	})
	if err != nil {
		return out, "", err
	}
	var b strings.Builder
	for i := range out.Sources {
		s := &out.Sources[i]
		s.Files = some(&out.Unlisted, s.Files)
		fmt.Fprintf(&b, "%s since %s:\n", s.Source.Place(), s.Base)
		if lines(&b, s.Files, func(f cairn.ComparedFile) string { return f.Line(out.Root) }); len(s.Files) == 0 {
			b.WriteString("nothing changed there\n")
		}
	}
	return out, strings.ToValidUTF8(strings.TrimSuffix(b.String(), "\n"), "\uFFFD"), nil
}

// withSources opens sources for f.
func (t *tools) withSources(args []sourceArgs, f func([]cairn.MergeSource) error) (err error) {
	from := make([]cairn.MergeSource, len(args))
	for i, a := range args {
		switch {
		case a.Directory == "" && a.Hash == "":
			return fmt.Errorf("%w: a source is a directory or a hash", errArguments)
		case a.Directory != "" && t.openDir == nil:
			return fmt.Errorf("%w: this server knows no other directories", errArguments)
		case a.Directory != "":
			var dir string
			if dir, err = absoluteDir("directory", a.Directory); err != nil {
				return err
			}
			if from[i].Repo, err = t.openDir(dir); err != nil {
				return err
			}
			other := from[i].Repo
			defer func() { err = errors.Join(err, other.Close()) }()
		}
		from[i].Checkpoint = a.Hash
	}
	return f(from)
}
