package conversation

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/child"
)

// ErrNoWay refuses an agent whose conversation no other program can take back.
var ErrNoWay = errors.New("no other program can take the conversation back")

// Move takes the conversation back to before the place's message, for good. No process of the agent
// may have it open: that one would not notice. dir is the project.
func (p Place) Move(ctx context.Context, dir string) error {
	if !p.Moves() {
		return ErrNoWay
	}
	if err := p.moveBy(ctx, dir, "codex", "app-server"); err != nil {
		return fmt.Errorf("codex: %w", err)
	}
	return nil
}

// moveBy lets an app server do it. A server that ends early closes its output, and one that does not
// answer in time is killed. Its output is closed then, too: a process of its own may still hold it.
func (p Place) moveBy(ctx context.Context, dir string, server ...string) error {
	cmd, err := child.New(server, dir, nil, nil, nil)
	if err != nil {
		return err
	}
	to, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		cmd.Process.Kill()
		from.Close()
	})
	defer stop()
	err = (&codex{bufio.NewReader(from), to, 0}).revert(p)
	to.Close() // it ends by itself then
	io.Copy(io.Discard, from)
	cmd.Wait() // what counts is the answer
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// codex is a client of Codex' app server, which speaks JSON-RPC, one message a line.
type codex struct {
	from *bufio.Reader
	to   io.Writer
	last int // id of a request
}

func (c *codex) revert(p Place) error {
	for _, step := range []struct {
		method string
		params map[string]any
	}{
		{"initialize", map[string]any{
			"clientInfo":   map[string]string{"name": "cairn", "title": "cairn", "version": "1"},
			"capabilities": map[string]bool{"experimentalApi": true},
		}},
		{"thread/resume", map[string]any{"threadId": p.Session}},
		{"thread/revert", map[string]any{"threadId": p.Session, "beforeTurnId": p.Message}},
	} {
		if err := c.call(step.method, step.params); err != nil {
			return fmt.Errorf("%s: %w", step.method, err)
		}
		if step.method == "initialize" {
			if err := c.send(map[string]any{"jsonrpc": "2.0", "method": "initialized"}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *codex) send(message any) error { return json.NewEncoder(c.to).Encode(message) }

// call sends a request and waits for its answer. Notifications in between are passed over.
func (c *codex) call(method string, params any) error {
	c.last++
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.last, "method": method, "params": params}); err != nil {
		return err
	}
	for {
		line, err := c.from.ReadBytes('\n')
		if err != nil {
			return err
		}
		var answer struct {
			ID     *int
			Method string
			Error  *struct{ Message string }
		}
		switch {
		case json.Unmarshal(line, &answer) != nil || answer.ID == nil || *answer.ID != c.last || answer.Method != "":
		case answer.Error != nil:
			return errors.New(answer.Error.Message)
		default:
			return nil
		}
	}
}
