// Package mcptools offers checkpoints and undo to a model through the Model Context
// Protocol: tools to look, to preview and to go back, and checkpoints and their
// files as resources.
//
// The rules of these tools:
//
//   - A tool that changes files is marked as destructive and has a preview. The id of a
//     preview carries out exactly that plan.
//   - An error is an answer with a hint, not a failure of the protocol.
//   - An answer has a few lines for the model and all details in structured form. Both
//     have a limit, so that one call cannot fill a model's context.
//   - Paths are relative to the root or absolute, and never lead outside. A byte that is
//     not UTF-8 has the form of [cairn.Path], and is percent-encoded in addresses
//     of resources.
package mcptools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Options says what to serve.
type Options struct {
	Repo    *cairn.Repo
	Version string // of the program, told to the client

	// Settings are the options for Repo as they are now; nil: they never change.
	Settings func() (cairn.Options, error)

	// OpenDir opens the store of another directory, for merge and compare; nil: there is none.
	OpenDir func(dir string) (*cairn.Repo, error)
}

const instructions = `Checkpoints of the working directory, and undo that loses no work.
Take a checkpoint (track) before risky work. To go back, preview first, then call restore, revert or undo with the plan id
of the preview. restore makes everything as it was; revert takes back some changes and keeps later ones. Whatever is
overwritten or deleted is saved first, and undo brings it back. Checkpoints are named by hash, "@" (newest) or "@~N".`

// Serve speaks with one client, newline-delimited JSON-RPC, until it hangs up or the
// context ends; either stops the calls that are under way. Neither stream is closed.
func Serve(ctx context.Context, opt Options, in io.Reader, out io.Writer) error {
	server, t := newServer(opt)
	to := &batches{out: out, open: make(map[any]*batch)}
	from := &messages{in: bufio.NewReader(in), batches: to}
	err := server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(from), Writer: unclosed{to}})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if closed := t.close(); closed != nil {
		err = errors.Join(err, closed)
	}
	return err
}

type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// tools is the state that all calls of one server share.
type tools struct {
	settings func() (cairn.Options, error)
	openDir  func(dir string) (*cairn.Repo, error)

	mu       sync.RWMutex // calls hold it for reading; for all below
	repo     *cairn.Repo
	sessions *session.Sessions
	opened   string      // the settings of repo, hashed
	renewed  *cairn.Repo // repo, if it was opened here
}

func newServer(opt Options) (*mcp.Server, *tools) {
	server := mcp.NewServer(
		&mcp.Implementation{Name: "cairn", Title: "cairn: checkpoints and undo", Version: opt.Version},
		&mcp.ServerOptions{
			Instructions: instructions,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}},
		})
	t := &tools{settings: opt.Settings, openDir: opt.OpenDir, repo: opt.Repo, sessions: session.New(opt.Repo)}
	if t.settings != nil {
		if now, err := t.settings(); err == nil { // else the first call says so
			t.opened = protocol.Settings("", now)
		}
	}
	t.addReadOnly(server)
	t.addPast(server)
	t.addVerify(server)
	t.addChanging(server)
	t.addMerge(server)
	t.addCheckout(server)
	t.addTests(server)
	t.addForks(server)
	t.addRemote(server)
	t.addSessions(server)
	t.addHunks(server)
	t.addUnrevert(server)
	t.addResources(server)
	server.AddReceivingMiddleware(t.current)
	return server, t
}

// handler is a tool without the protocol: it takes arguments and returns a structured
// answer with its text.
type handler[In, Out any] func(context.Context, In) (Out, string, error)

// add registers a tool. Errors become answers that the model can act on.
func add[In, Out any](s *mcp.Server, tool *mcp.Tool, h handler[In, Out]) {
	mcp.AddTool(s, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		out, text, err := h.answer(ctx, in)
		if err != nil {
			return nil, out, withHint(err)
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, out, nil
	})
}

// answer calls the tool. A defect of one tool is an error of that call: the end of the process would take all tools from
// the agent.
func (h handler[In, Out]) answer(ctx context.Context, in In) (out Out, text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v\n%s", p, debug.Stack())
		}
	}()
	return h(ctx, in)
}

// The three kinds of tools. Clients read these annotations before they ask the user for
// permission. Only the tools that remote marks reach beyond this machine.

func readOnly(title string) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)}
}

func adds(title string) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{Title: title, DestructiveHint: new(bool), IdempotentHint: true, OpenWorldHint: new(bool)}
}

func destroys(title string) *mcp.ToolAnnotations {
	yes := true
	return &mcp.ToolAnnotations{Title: title, DestructiveHint: &yes, OpenWorldHint: new(bool)}
}

// remote marks a tool that speaks with a git repository elsewhere.
func remote(a *mcp.ToolAnnotations) *mcp.ToolAnnotations {
	yes := true
	a.OpenWorldHint = &yes
	return a
}
