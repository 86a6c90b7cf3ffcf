package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/session"
)

// current lets each call work with the settings of now: a client keeps one server for days, and a deny list counts
// from the moment it is written.
func (t *tools) current(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method != "tools/call" && !strings.HasPrefix(method, "resources/") {
			return next(ctx, method, req)
		}
		if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
			call.Params.Arguments = given(call.Params.Arguments)
		}
		err := t.renew()
		switch {
		case err != nil && method == "tools/call":
			res := new(mcp.CallToolResult)
			res.SetError(withHint(err))
			return res, nil
		case err != nil:
			return nil, err
		}
		t.mu.RLock()
		defer t.mu.RUnlock()
		return next(ctx, method, req)
	}
}

// given returns the arguments of a call that are given. Clients whose models fill in every argument, as those with
// strict schemas do, send null for an optional one.
func given(arguments json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(arguments, &fields) != nil {
		return arguments // the tool says what is wrong
	}
	maps.DeleteFunc(fields, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	left, err := json.Marshal(fields)
	if err != nil || fields == nil {
		return arguments
	}
	return left
}

// renew opens the store again if its settings have changed or the store was removed. It waits for the calls that run.
func (t *tools) renew() error {
	if t.settings == nil {
		return nil
	}
	opt, err := t.settings()
	if err != nil {
		return err
	}
	now := protocol.Settings("", opt) // the build is the same
	t.mu.RLock()
	same := t.isAs(now)
	t.mu.RUnlock()
	if same {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isAs(now) {
		return nil
	}
	repo, err := cairn.Open(opt)
	if err != nil {
		return err
	}
	old := t.renewed
	t.repo, t.sessions, t.renewed, t.opened = repo, session.New(repo), repo, now
	if old == nil {
		return nil
	}
	return old.Close()
}

// isAs reports whether the open store has these settings and is still there. The lock is held.
func (t *tools) isAs(settings string) bool {
	_, err := os.Stat(t.repo.StoreDir())
	return t.opened == settings && !errors.Is(err, fs.ErrNotExist)
}

// close closes what renew has opened.
func (t *tools) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.renewed == nil {
		return nil
	}
	return t.renewed.Close()
}
