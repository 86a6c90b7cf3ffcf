package interfaces

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/agents"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/relay"
	"github.com/seed-fb9cbc17/cairn/internal/hooks"
	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
	"github.com/seed-fb9cbc17/cairn/internal/listen"
	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/session"
)

// hookServer carries out calls of hooks for processes that have only begun to start (package relay).
type hookServer struct {
	c              *commands
	server         *httpapi.Server
	dataDir        string
	program, space string // of this process
}

// relayed lists what the socket of a server answers for the hooks.
func (c *commands) relayed(server *httpapi.Server, dataDir string) []listen.Private {
	h := &hookServer{c, server, dataDir, relay.Program(), relay.Space()}
	return []listen.Private{{Path: relay.Path, Answer: h.answer}}
}

// answer carries out a call. Nothing is done if the work of the other process could have another result, and for a
// command: it is not repeated if this server dies.
func (h *hookServer) answer(ctx context.Context, body []byte) ([]byte, bool) {
	call, err := relay.Decode(body)
	if err != nil || call.Program == "" || call.Program != h.program || call.Space != h.space || !h.sameSettings(call) || hooks.Commands(call.Agent, call.Payload) {
		return nil, false
	}
	var out bytes.Buffer
	p := cli.New(bytes.NewReader(call.Payload), &out, io.Discard, call.Getenv, call.Dir)
	p.Commands, p.Running, p.Global.DataDir = h.c.Commands, "hook", call.DataDir
	if h.c.SpawnIn != nil { // a push, and a signature, may need the caller's ssh agent
		p.Spawn = func(args []string) error { return h.c.SpawnIn(call.Env, args) }
	}
	p.Ancestors = func() []process.Relative { return process.Line(call.Parent) }
	ctx, end := context.WithCancel(ctx)
	defer end()
	p.Near = func(opt cairn.Options, local func() (*session.Sessions, error)) service.Sessions {
		return h.server.Near(ctx, opt.Root, protocol.Settings(cli.BuildName(), opt), local)
	}
	p.NearTicket = func(opt cairn.Options, r *ticket.Request) (string, error) {
		return h.server.NearTicket(opt.Root, protocol.Settings(cli.BuildName(), opt), r)
	}
	if dir, err := agents.HooksDir(p); err != nil || dir != filepath.Join(h.dataDir, "hooks") {
		return nil, false
	}
	agents.HandleHook(ctx, p, call.Agent, filepath.Join(h.dataDir, "hooks"))
	err = p.Out.Flush()
	if p.TurnEnded {
		p.DoLater(true)
	}
	return out.Bytes(), err == nil
}

// settled are the beginnings of variables that settle what cairn does, also in the processes that this one starts.
var settled = []string{"CAIRN_", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "HOME="}

// sameSettings reports whether a call has the server's values of these variables.
func (h *hookServer) sameSettings(call *relay.Call) bool {
	for _, env := range [][]string{call.Env, h.c.Environ()} {
		for _, entry := range env {
			name, _, _ := strings.Cut(entry, "=")
			for _, prefix := range settled {
				if strings.HasPrefix(entry, prefix) && call.Getenv(name) != h.c.Env(name) {
					return false
				}
			}
		}
	}
	return true
}
