package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/client"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// TestInterruptOfAServersWork: the note after an interrupt says that a server goes on.
func TestInterruptOfAServersWork(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "cairn") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path, err := protocol.Socket(dir)
	if err != nil {
		t.Skip(err)
	}
	err = os.Mkdir(protocol.Dir(dir), 0o700)
	l, lerr := net.Listen("unix", path)
	if lerr != nil {
		t.Fatal(err, lerr)
	}
	t.Cleanup(func() { l.Close() })
	if err := errors.Join(err, os.Chmod(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var errs bytes.Buffer
	c := New(nil, io.Discard, &errs, func(string) string { return "" }, dir)
	c.LastOptions, c.Running = &cairn.Options{Root: dir, DataDir: dir}, "restore"
	_, err = ByServer(c, func(s *client.Client) (*cairn.Result, error) { return s.Restore(ctx, "@", cairn.RestoreOptions{}) },
		func() (*cairn.Result, error) { t.Error("the work is done here"); return nil, nil })
	if status := c.report(ctx, err); status != ExitInterrupted || !strings.Contains(errs.String(), "the server, if it has begun, goes on") {
		t.Errorf("status %d, %s", status, errs.String())
	}
}
