package listen_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
	"github.com/seed-fb9cbc17/cairn/internal/listen"
)

// TestServeEndsAtOnce: a server that is to end before it has begun leaves no socket.
func TestServeEndsAtOnce(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "s")
	for range 200 {
		socket, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		server := httpapi.New(httpapi.Options{Logger: slog.New(slog.DiscardHandler)})
		ways := []listen.Way{listen.Socket(server, socket, nil)}
		if err := listen.Serve(ended, server, ways, slog.New(slog.DiscardHandler), func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Fatalf("the socket is still there: %v", err)
		}
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
