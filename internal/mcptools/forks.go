package mcptools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
)

func (t *tools) addForks(s *mcp.Server) {
	add(s, &mcp.Tool{
		Name: "fork", Description: "Make a second directory that goes on from the working directory: uncommitted work, history and sessions, in a moment. " +
			"For another attempt, or for another agent. merge brings its changes back.",
		Annotations: adds("Fork the directory"),
	}, t.fork)
	add(s, &mcp.Tool{
		Name: "forks", Description: "List the forks of the working directory: what each changed since, how much of that is not merged, and how its test ended.",
		Annotations: readOnly("List forks"),
	}, t.forks)
	add(s, &mcp.Tool{
		Name: "fork_remove", Description: "Remove a fork whose changes are merged: its directory and its history. Its last state is kept as a checkpoint. " +
			"A fork with something that would be lost stays, and the answer names it. With dryRun it only says so.",
		Annotations: destroys("Remove a fork"),
	}, t.removeFork)
}

type removeForkArgs struct {
	Dir    string `json:"dir" jsonschema:"absolute path of the fork"`
	DryRun bool   `json:"dryRun,omitempty" jsonschema:"only list what would be lost"`
}

// removal is a RemovedFork without its methods: its MarshalJSON would leave Unlisted out.
type removal cairn.RemovedFork

type removedFork struct {
	removal
	Unlisted int `json:"unlisted" jsonschema:"further paths of lost for which there was no room"`
}

// removeFork never forces: what would be lost is for the user to decide.
func (t *tools) removeFork(ctx context.Context, args removeForkArgs) (out removedFork, text string, err error) {
	dir, err := absoluteDir("dir", args.Dir)
	if err != nil {
		return out, "", err
	}
	res, err := t.repo.RemoveFork(ctx, dir, cairn.RemoveForkOptions{DryRun: args.DryRun})
	if err != nil && (res == nil || !errors.Is(err, cairn.ErrUnmerged)) {
		return out, "", err
	}
	text = lostText(res)
	out.removal = removal(*res)
	out.Lost = some(&out.Unlisted, res.Lost)
	switch {
	case err != nil:
		return out, "", fmt.Errorf("%w\n%s", err, text)
	case args.DryRun:
		return out, strings.TrimSuffix("nothing is removed yet\n"+text, "\n"), nil
	}
	return out, fmt.Sprintf("removed %s; the tool checkout brings its last state back: %s", res.Root.Place(), res.Saved), nil
}

// lostText lists what a removal would lose.
func lostText(res *cairn.RemovedFork) string {
	var b strings.Builder
	lines(&b, res.Lost, func(p cairn.PathReason) string { return "not merged: " + p.Path.Quoted() + ": " + p.Reason })
	named := res.Paths[:min(len(res.Paths), maxLines)]
	lines(&b, named, func(path string) string { return "in no checkpoint: " + cairn.Path(path).Quoted() })
	if more := res.NotSaved.Files - len(named); more > 0 {
		fmt.Fprintf(&b, "in no checkpoint: %d more files\n", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

type forkArgs struct {
	Dir         string   `json:"dir" jsonschema:"absolute path of the directory to make; the one above it exists"`
	Session     string   `json:"sessionID,omitempty" jsonschema:"begin with the newest state of this session, not with the present state"`
	WithIgnored bool     `json:"withIgnored,omitempty" jsonschema:"bring ignored files of the working directory, such as node_modules"`
	Patterns    []string `json:"patterns,omitempty" jsonschema:"bring of these only what matches, as in .gitignore"`
	GitWorktree bool     `json:"gitWorktree,omitempty" jsonschema:"make it a linked work tree of the git repository; otherwise it has no .git"`
	Branch      string   `json:"branch,omitempty" jsonschema:"the new branch of the linked work tree, cairn/ and the name of the directory unless given"`
	DryRun      bool     `json:"dryRun,omitempty" jsonschema:"only say how many files and bytes it would be"`
}

type forked struct {
	Dir    string `json:"dir"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	DryRun bool   `json:"dryRun,omitempty"`

	Branch     string `json:"branch,omitempty" jsonschema:"of a linked work tree: its new branch"`
	WithoutGit bool   `json:"withoutGit,omitempty" jsonschema:"the working directory is in a git repository, and the fork has no .git"`
}

func (t *tools) fork(ctx context.Context, args forkArgs) (out forked, text string, err error) {
	dir, err := absoluteDir("dir", args.Dir)
	if err != nil {
		return out, "", err
	}
	opt := cairn.ForkOptions{Session: args.Session, GitWorktree: args.GitWorktree || args.Branch != "", Branch: args.Branch}
	opt.WithIgnored, opt.Ignored, opt.DryRun = args.WithIgnored || len(args.Patterns) > 0, args.Patterns, args.DryRun
	res, err := answers.Fork(ctx, t.repo, dir, opt)
	if err != nil {
		return out, "", err
	}
	text = copyText(&res.CheckoutResult)
	if res.Branch != "" {
		text += "\na linked work tree of git, on the new branch " + res.Branch
	}
	if res.WithoutGit {
		text += "\nit has no .git; gitWorktree makes a linked work tree of git"
	}
	return forked{res.Dir.Encoded(), res.Files, res.Bytes, res.DryRun, res.Branch, res.WithoutGit}, text, nil
}

type forksAnswer struct {
	Forks []cairn.ForkInfo `json:"forks"`
}

func (t *tools) forks(ctx context.Context, _ struct{}) (out forksAnswer, text string, err error) {
	out.Forks, err = t.repo.Forks(ctx)
	if err != nil {
		return out, "", err
	}
	out.Forks = append([]cairn.ForkInfo{}, out.Forks...)
	var b strings.Builder
	for _, f := range out.Forks {
		fmt.Fprintf(&b, "%s: %d changed, %d not merged", f.Root.Place(), f.Changed, f.Unmerged)
		if f.Test != nil {
			b.WriteString(", the test " + answers.Verdict(f.Test))
		}
		if f.Error != "" {
			b.WriteString(": " + f.Error)
		}
		b.WriteString("\n")
	}
	if len(out.Forks) == 0 {
		b.WriteString("no forks")
	}
	return out, strings.TrimSuffix(b.String(), "\n"), nil
}
