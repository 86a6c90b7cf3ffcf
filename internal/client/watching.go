package client

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// leisure is how long a server may take to say how it is. Nobody waits for that to go
// on with his work.
const leisure = 2 * time.Second

// Watching asks the server how it finds what has changed in the root. The answer is
// nil while it does not have the root's store open, or does not know the root. Settings
// do not matter: it is about the server as it is. Errors wrap ErrNoServer.
func (c *Client) Watching(ctx context.Context) (*cairn.WatchState, error) {
	patient := *c
	patient.patience = max(c.patience, leisure)
	var projects []struct {
		Root     string            `json:"root"`
		Watching *cairn.WatchState `json:"watching"`
	}
	if err := patient.send(ctx, get("/projects"), nil, &projects); err != nil {
		return nil, err
	}
	for _, p := range projects {
		if p.Root == cairn.EncodePath(c.root) {
			return p.Watching, nil
		}
	}
	return nil, nil
}

// get is the head of a request without a body.
func get(target string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: cairn\r\nConnection: close\r\n\r\n", target)
}
