package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
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

	client, end := mcpClient(t, home, dir)
	res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "restore", Arguments: map[string]any{"hash": "@"}})
	if err != nil || res.IsError {
		t.Errorf("%+v, %v", res, err)
	}
	end()
	gittest.AssertEqual(t, dir, before, gittest.Manifest(t, dir))
}

// TestMCPHelpNamesEveryTool: the manual lists what the server offers.
func TestMCPHelpNamesEveryTool(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "project")
	gittest.Create(t, dir, gittest.Tree{})
	manual := runHere(t, dir, home, "", "help", "mcp").stdout
	client, end := mcpClient(t, home, dir)
	defer end()
	for tool, err := range client.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`\b` + tool.Name + `\b`).MatchString(manual) {
			t.Errorf("cairn help mcp lacks the tool %s", tool.Name)
		}
	}
}

// TestMCPSettings: a deny list that is written while the server runs is in force with the next call, and a store that
// was removed is made again.
func TestMCPSettings(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "project")
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1\n")})
	client, end := mcpClient(t, home, dir)
	track := func() (files int, problem string) {
		res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "track"})
		if err != nil {
			t.Fatal(err)
		}
		if res.IsError {
			return 0, res.Content[0].(*mcp.TextContent).Text
		}
		return int(res.StructuredContent.(map[string]any)["files"].(float64)), ""
	}
	if n, problem := track(); n != 1 {
		t.Fatalf("%d files, %s", n, problem)
	}
	gittest.Create(t, dir, gittest.Tree{"secret.txt": gittest.File("hunter2\n")})
	config := filepath.Join(home, ".config", "cairn")
	gittest.Create(t, config, gittest.Tree{})
	configure := func(text string) {
		t.Helper()
		replaceTree(t, config, gittest.Tree{"config.toml": gittest.File(text)})
	}
	configure("never = [\"secret.txt\"]\n")
	if n, problem := track(); n != 1 {
		t.Errorf("%d files in spite of the deny list, %s", n, problem)
	}
	configure("nevr = []\n")
	if _, problem := track(); !strings.Contains(problem, "nevr") {
		t.Errorf("settings that cannot be read: %q", problem)
	}
	configure("")
	if err := os.RemoveAll(filepath.Join(home, ".local", "share", "cairn", "snapshot")); err != nil {
		t.Fatal(err)
	}
	if n, problem := track(); n != 2 {
		t.Errorf("a new store: %d files, %s", n, problem)
	}
	end()
}

// mcpClient starts the command. End hangs up, and wants a good end without complaints.
func mcpClient(t *testing.T, home, dir string) (client *mcp.ClientSession, end func()) {
	t.Helper()
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
	return client, func() {
		t.Helper()
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		if s := <-status; s != cli.ExitDone || stderr.Len() > 0 {
			t.Errorf("status %d, stderr %q", s, stderr.String())
		}
	}
}
