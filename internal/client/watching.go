package client

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// leisure is the patience for a question about the server's state, which no agent waits
// for.
const leisure = 2 * time.Second

// Watching asks the server how it finds changes in the root. The answer is nil while the
// server does not have the root's store open, and for an unknown root. A server with
// other settings answers, too. Errors wrap ErrNoServer.
func (c *Client) Watching(ctx context.Context) (*cairn.WatchState, error) {
	patient := c.Patient(leisure)
	var projects []struct {
		Root     string            `json:"root"`
		Watching *cairn.WatchState `json:"watching"`
	}
	if err := patient.send(ctx, get("/projects"), nil, &projects); err != nil {
		return nil, err
	}
	for _, p := range projects {
		if p.Root == pathtext.Encode(c.root) {
			return p.Watching, nil
		}
	}
	return nil, nil
}

// get is the head of a request without a body.
func get(target string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: cairn\r\nConnection: close\r\n\r\n", target)
}
