package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestMCP: the command speaks the protocol on its two streams and works on the root
// around the current directory.
func TestMCP(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "project")
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1\n"), "sub/b": gittest.File("2\n")})
	if c := runHere(t, dir, home, "", "track"); c.status != cli.ExitDone {
		t.Fatal(c)
	}
	before := gittest.Manifest(t, dir)
	replaceTree(t, dir, gittest.Tree{"c": gittest.File("3\n")})

	stdin, toServer := io.Pipe()
	fromServer, stdout := io.Pipe()
	status := make(chan int, 1)
	var stderr strings.Builder
	go func() {
		status <- newProgram(stdin, stdout, &stderr, homeOnly(home), dir).Run(t.Context(), []string{"mcp"})
		stdout.Close()
	}()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "restore", Arguments: map[string]any{"hash": "@"}})
	if err != nil || res.IsError {
		t.Errorf("%+v, %v", res, err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if s := <-status; s != cli.ExitDone || stderr.Len() > 0 {
		t.Errorf("status %d, stderr %q", s, stderr.String())
	}
	gittest.AssertEqual(t, dir, before, gittest.Manifest(t, dir))
}
