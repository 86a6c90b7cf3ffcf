package mcptools

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
)

func (t *tools) addForks(s *mcp.Server) {
	add(s, &mcp.Tool{
		Name: "fork", Description: "Make a second directory that goes on from the working directory: uncommitted work, history and sessions, in a moment. " +
			"For another attempt, or for another agent. merge brings its changes back.",
		Annotations: adds("Fork the directory"),
	}, t.fork)
	add(s, &mcp.Tool{
		Name: "forks", Description: "List the forks of the working directory: what each changed since, and how much of that is not merged.",
		Annotations: readOnly("List forks"),
	}, t.forks)
}

type forkArgs struct {
	Directory string   `json:"directory" jsonschema:"the directory to make, absolute; the one above it exists"`
	Session   string   `json:"sessionID,omitempty" jsonschema:"begin with the newest state of this session, not with the present state"`
	Ignored   []string `json:"ignored,omitempty" jsonschema:"bring ignored files that match these patterns, for instance node_modules"`
}

type forked struct {
	Directory string `json:"directory"`
	Files     int    `json:"files"`
	Bytes     int64  `json:"bytes"`
}

func (t *tools) fork(ctx context.Context, args forkArgs) (out forked, text string, err error) {
	if !filepath.IsAbs(args.Directory) {
		return out, "", fmt.Errorf("%w: fork wants an absolute directory", errArguments)
	}
	opt := cairn.ForkOptions{Session: args.Session}
	opt.WithIgnored, opt.Ignored = len(args.Ignored) > 0, args.Ignored
	res, err := t.repo.Fork(ctx, filepath.Clean(args.Directory), opt)
	if err != nil {
		return out, "", err
	}
	out = forked{res.Dir.Encoded(), res.Files, res.Bytes}
	return out, fmt.Sprintf("made %s with %d files", res.Dir.Quoted(), res.Files), nil
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
		fmt.Fprintf(&b, "%s: %d changed, %d not merged", f.Root.Quoted(), f.Changed, f.Unmerged)
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
