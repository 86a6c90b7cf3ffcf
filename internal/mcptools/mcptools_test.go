package mcptools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// world is a project with a client that is connected to its server.
type world struct {
	t      *testing.T
	dir    string
	repo   *cairn.Repo
	client *mcp.ClientSession
}

func newWorld(t *testing.T, tree gittest.Tree, change ...func(*cairn.Options)) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "project")}
	gittest.Create(t, w.dir, tree)
	opt := cairn.Options{Root: w.dir, DataDir: t.TempDir()}
	for _, c := range change {
		c(&opt)
	}
	var err error
	w.repo, err = cairn.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.repo.Close() })
	here, there := mcp.NewInMemoryTransports()
	server, _ := newServer(Options{Repo: w.repo, Version: "test"})
	if _, err := server.Connect(t.Context(), here, nil); err != nil {
		t.Fatal(err)
	}
	w.client, err = mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.client.Close() })
	return w
}

// call calls a tool and returns its text; the structured answer goes into out.
func (w *world) call(name string, args map[string]any, out any) string {
	w.t.Helper()
	res, err := w.client.CallTool(w.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if res.IsError {
		w.t.Fatalf("%s: %s", name, text)
	}
	reflect.ValueOf(out).Elem().SetZero()
	data, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	return text
}

// fails calls a tool that has to answer with an error which says want.
func (w *world) fails(want, name string, args map[string]any) {
	w.t.Helper()
	res, err := w.client.CallTool(w.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		w.t.Fatalf("%s %v: an error of the protocol: %v", name, args, err)
	}
	if text := res.Content[0].(*mcp.TextContent).Text; !res.IsError || !strings.Contains(text, want) {
		w.t.Errorf("%s %v: error %v, %q, want %q", name, args, res.IsError, text, want)
	}
}

func (w *world) track() (t tracked) {
	w.t.Helper()
	w.call("track", map[string]any{"message": "for the test"}, &t)
	return t
}

var begin = gittest.Tree{
	"a.txt":    gittest.File("one\ntwo\nthree\n"),
	"gone":     gittest.Exec("#!/bin/sh\n"),
	"dir/deep": gittest.File("deep\n"),
	"bytes":    gittest.File("\x00\xff\x01"),
}

func (w *world) change() {
	w.t.Helper()
	for _, name := range []string{"gone", "dir", "a.txt"} {
		if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
			w.t.Fatal(err)
		}
	}
	gittest.Create(w.t, w.dir, gittest.Tree{"a.txt": gittest.File("one\n2\nthree\n"), "né\xffw/x": gittest.File("new\n")})
}

func (w *world) read(uri string) (*mcp.ResourceContents, error) {
	res, err := w.client.ReadResource(w.t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, err
	}
	return res.Contents[0], nil
}

// agentStep lets an agent write a file.
func (w *world) agentStep(id, file string) {
	w.t.Helper()
	sessions := session.New(w.repo)
	_, err := sessions.Begin(w.t.Context(), session.SessionBegin{ID: id, Meta: map[string]string{session.MetaAgent: "codex"}})
	if err == nil {
		_, err = sessions.BeginStep(w.t.Context(), session.StepBegin{
			Session: id, Message: "m", Role: session.RoleUser, Prompt: "make \x1b[31mit\nnow", Step: "st",
			Meta: map[string]string{session.MetaTool: "Bash", session.MetaCommand: "touch " + file},
		})
	}
	if err == nil {
		if err := os.WriteFile(filepath.Join(w.dir, file), []byte("x"), 0o644); err != nil {
			w.t.Fatal(err)
		}
		_, err = sessions.EndStep(w.t.Context(), session.StepEnd{Session: id})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}
