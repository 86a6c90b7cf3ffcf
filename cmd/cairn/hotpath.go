package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/client"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// server returns a client of the server that may be running, nil if none is to be
// used.
func (c *cli) server(opt cairn.Options) *client.Client {
	if c.global.noServer || c.env("CAIRN_NO_SERVER") != "" || c.root.PersistentFlags().Changed("lock-timeout") {
		return nil // the server waits for locks as long as it was told to
	}
	if path, err := protocol.Socket(opt.DataDir); err != nil || !isThere(path) {
		return nil
	}
	return client.New(buildName(), opt)
}

// isThere reports whether a path exists. It is asked before a client is made: most of
// the time no server runs.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// track takes a checkpoint, by the server if one is running.
func (c *cli) track(ctx context.Context, opt cairn.TrackOptions) (t *cairn.Track, err error) {
	repoOpt, err := c.options()
	if err != nil {
		return nil, err
	}
	if s := c.server(repoOpt); s != nil {
		if t, err = s.Track(ctx, opt); !errors.Is(err, client.ErrNoServer) {
			return t, err
		}
	}
	repo, err := cairn.Open(repoOpt)
	if err != nil {
		return nil, err
	}
	t, err = repo.Track(ctx, opt)
	c.noteDue(repo)
	return t, errors.Join(err, repo.Close())
}

// buildName tells builds apart: one that was built from changed or unknown sources by
// its file.
func buildName() string {
	b := thisBuild()
	name := fmt.Sprintf("%s %s %s/%s", b.Version, b.Revision, b.OS, b.Arch)
	if b.Revision != "" && !b.Modified {
		return name
	}
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			name += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return name
}

// optionsFor are the options that a track in a root would have.
func (c *cli) optionsFor(root, dataDir string, logger *slog.Logger) (cairn.Options, error) {
	there := *c
	there.running, there.real, there.top = "track", found{}, found{} // a server lives long
	there.global.directory, there.global.root, there.global.dataDir = root, root, dataDir
	opt, err := there.options()
	opt.Command, opt.Logger, opt.Progress, opt.Watch = "cairn serve", logger, nil, true
	return opt, err
}

// postToSocket makes one request without a body to a server's own socket.
func postToSocket(ctx context.Context, socket, path string) (string, error) {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://cairn"+path, nil)
	if err != nil {
		return "", err
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the server answers %s", answer.Status)
	}
	return string(text), err
}
