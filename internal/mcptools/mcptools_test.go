package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
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

func (w *world) manifest() gittest.Listing { return gittest.Manifest(w.t, w.dir) }

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

// TestEveryToolSaysWhatItDoes: clients decide by the annotations when to ask the user
// for permission, so each tool has them, and each argument is explained.
func TestEveryToolSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	readOnly := map[string]bool{"checkpoints": true, "operations": true, "diff": true, "preview": true, "sessions": true, "session_hunks": true, "blame": true, "log": true, "grep": true, "show": true, "tests": true, "forks": true, "verify": true, "compare": true, "remote": true}
	destructive := map[string]bool{"restore": true, "revert": true, "undo": true, "redo": true, "session_undo": true, "session_redo": true, "session_revert": true, "session_unrevert": true, "merge": true, "resume": true, "fork_remove": true}
	elsewhere := map[string]bool{"remote": true, "push": true, "fetch": true, "resume": true}
	res, err := w.client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range res.Tools {
		a := tool.Annotations
		if a == nil || a.Title == "" || a.ReadOnlyHint != readOnly[tool.Name] || a.OpenWorldHint == nil || *a.OpenWorldHint != elsewhere[tool.Name] {
			t.Errorf("%s: annotations %+v", tool.Name, a)
			continue
		}
		if !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint != destructive[tool.Name]) {
			t.Errorf("%s: destructive %v", tool.Name, a.DestructiveHint)
		}
		schema := tool.InputSchema.(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			if p.(map[string]any)["description"] == nil {
				t.Errorf("%s: argument %s is not explained", tool.Name, name)
			}
		}
		noPlan := tool.Name == "fork_remove" // it loses nothing, whatever has changed since a dry run
		if destructive[tool.Name] && (properties["dryRun"] == nil || properties["planID"] == nil && !noPlan) {
			t.Errorf("%s cannot be previewed", tool.Name)
		}
		if tool.OutputSchema == nil {
			t.Errorf("%s does not say what it answers", tool.Name)
		}
		delete(readOnly, tool.Name)
		delete(destructive, tool.Name)
		delete(elsewhere, tool.Name)
	}
	if len(readOnly)+len(destructive)+len(elsewhere) > 0 {
		t.Errorf("missing: %v %v %v", readOnly, destructive, elsewhere)
	}
}

// TestPreviewThenRestore: the plan of a preview is carried out to the letter, and
// undo and redo go back and forth byte for byte.
func TestPreviewThenRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	first := w.track()
	before := w.manifest()
	w.change()
	changed := w.manifest()

	var plan, done outcome
	text := w.call("preview", map[string]any{"action": "restore", "hash": first.Hash}, &plan)
	gittest.AssertEqual(t, w.dir, changed, w.manifest())
	if !plan.DryRun || plan.Plan == "" || len(plan.Changes) == 0 || !strings.Contains(text, plan.Plan) || !strings.Contains(text, "would create gone") {
		t.Errorf("preview %+v\n%s", plan, text)
	}
	w.call("restore", map[string]any{"hash": first.Hash, "planID": plan.Plan}, &done)
	gittest.AssertEqual(t, w.dir, before, w.manifest())
	if done.Operation == "" || !done.Complete || len(done.Restored) == 0 || !slices.Contains(done.Deleted, "né\xffw/x") {
		t.Errorf("restore %+v", done)
	}
	w.call("undo", nil, &done)
	gittest.AssertEqual(t, w.dir, changed, w.manifest())
	w.call("redo", map[string]any{"dryRun": true}, &plan)
	gittest.AssertEqual(t, w.dir, changed, w.manifest())
	w.call("redo", map[string]any{"planID": plan.Plan}, &done)
	gittest.AssertEqual(t, w.dir, before, w.manifest())

	var ops operationList
	text = w.call("operations", nil, &ops)
	if len(ops.Operations) != 3 || ops.Operations[0].Kind != "redo" || strings.Count(text, "\n") != 3 {
		t.Errorf("operations %+v\n%s", ops, text)
	}
}

// TestStalePlan: when the disk has moved since the preview, nothing is done.
func TestStalePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	w.track()
	w.change()
	var plan outcome
	w.call("preview", map[string]any{"action": "restore", "hash": "@"}, &plan)
	gittest.Create(t, w.dir, gittest.Tree{"later": gittest.File("x")})
	before := w.manifest()
	w.fails("hint: nothing was done; call preview again", "restore", map[string]any{"hash": "@", "planID": plan.Plan})
	gittest.AssertEqual(t, w.dir, before, w.manifest())
}

// TestRevertKeepsWhatCameLater: one step goes back, a later one and the policies hold.
func TestRevertKeepsWhatCameLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	first := w.track()
	w.change()
	second := w.track()
	gittest.Create(t, w.dir, gittest.Tree{"later": gittest.File("later\n")})
	step := map[string]any{"from": first.Checkpoint, "to": second.Checkpoint}
	var done outcome
	w.call("revert", step, &done)
	want := map[string]string{"a.txt": "one\ntwo\nthree\n", "later": "later\n", "dir/deep": "deep\n"}
	for name, text := range want {
		if data, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || string(data) != text {
			t.Errorf("%s is %q, %v", name, data, err)
		}
	}
	w.call("undo", map[string]any{"paths": []string{"a.txt"}, "onConflict": "fail"}, &done)
	if len(done.Restored) != 1 || done.Restored[0] != "a.txt" {
		t.Errorf("undo of one path: %+v", done)
	}
}

func TestConflictIsListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	first := w.track()
	w.change()
	second := w.track()
	if err := os.WriteFile(filepath.Join(w.dir, "a.txt"), []byte("one\nzwei\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := map[string]any{"from": first.Hash, "to": second.Hash, "paths": []string{"a.txt"}}
	var done outcome
	text := w.call("revert", args, &done)
	if done.Complete || len(done.Conflicts) != 1 || !strings.Contains(text, "conflict a.txt: ") || !strings.HasPrefix(text, "nothing was done") {
		t.Errorf("%+v\n%s", done, text)
	}
	args["onConflict"] = "fail"
	w.fails("hint: nothing was done; onConflict", "revert", args)
}

func TestDiff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	w.track()
	var d diffAnswer
	if text := w.call("diff", nil, &d); text != "nothing changed" || len(d.Files) != 0 {
		t.Errorf("%+v %q", d, text)
	}
	w.change()
	text := w.call("diff", nil, &d)
	if len(d.Files) != 4 || !strings.Contains(d.Patch, "-two\n+2\n") || !strings.Contains(text, "modified a.txt +1 -1") {
		t.Errorf("%+v\n%s", d, text)
	}
	w.call("diff", map[string]any{"from": "@", "paths": []string{"dir"}, "noText": true}, &d)
	if len(d.Files) != 1 || d.Files[0] != (fileDiff{"dir/deep", "deleted", 0, 1, ""}) || d.Patch != "" {
		t.Errorf("%+v", d)
	}
	if text := w.call("diff", map[string]any{"maxBytes": 1}, &d); d.Omitted != 4 || !strings.Contains(text, "without the patches of 4 files") {
		t.Errorf("%+v\n%s", d, text)
	}
}

// TestWrongArguments are answers that say what is wanted. Nothing leads outside.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	w.fails("the tool checkpoints lists", "restore", map[string]any{"hash": "@"})
	w.fails("not found: nothing to undo", "undo", nil)
	w.track()
	w.change()
	before := w.manifest()
	outside := []string{"../x", "/", filepath.Dir(w.dir), "a/../../x", "x\u0000.."}
	for _, path := range outside {
		for tool, args := range map[string]map[string]any{
			"restore": {"hash": "@"}, "revert": {"hash": "@"}, "diff": {}, "preview": {"action": "restore", "hash": "@"},
		} {
			args["paths"] = []string{path}
			want := "outside the root"
			if strings.Contains(path, "\x00") {
				want = "wrong arguments"
			}
			w.fails(want, tool, args)
		}
	}
	for _, c := range []struct {
		want, tool string
		args       map[string]any
	}{
		{"wrong arguments: a path is empty", "restore", map[string]any{"hash": "@", "paths": []string{""}}},
		{"wrong arguments: hash is empty", "restore", map[string]any{"hash": ""}},
		{`missing properties: ["hash"]`, "restore", nil},
		{"either hash, or from and to", "revert", map[string]any{"hash": "@", "from": "@"}},
		{"either hash, or from and to", "revert", nil},
		{"action is restore, revert, undo or redo", "preview", map[string]any{"action": "purge"}},
		{"wrong arguments", "undo", map[string]any{"onConflict": "win"}},
		{"limit -1", "checkpoints", map[string]any{"limit": -1}},
		{"not found", "diff", map[string]any{"from": "0123456789abcdef0123456789abcdef01234567"}},
		{"unexpected additional properties", "undo", map[string]any{"force": true}},
	} {
		w.fails(c.want, c.tool, c.args)
	}
	gittest.AssertEqual(t, w.dir, before, w.manifest())
}

func (w *world) read(uri string) (*mcp.ResourceContents, error) {
	res, err := w.client.ReadResource(w.t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, err
	}
	return res.Contents[0], nil
}

func TestResources(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{
		"é ü/%25#?.txt": gittest.File("odd name\n"), "bad\xffname": gittest.File("bytes in the name\n"),
		"empty": gittest.File(""), "link": gittest.Link("a.txt"), "main.ts": gittest.File("export {}\n"), "p.png": gittest.File("\x89PNG\x00"),
	}
	for name, node := range begin {
		tree[name] = node
	}
	w := newWorld(t, tree)
	first := w.track()
	w.change()

	list, err := w.client.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 1 || list.Resources[0].URI != checkpointScheme+first.Checkpoint || list.Resources[0].Title != "for the test" {
		t.Fatalf("%+v, %v", list, err)
	}
	templates, err := w.client.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 2 {
		t.Fatalf("%+v, %v", templates, err)
	}
	for _, uri := range []string{list.Resources[0].URI, checkpointScheme + "@", checkpointScheme + first.Hash[:8]} {
		c, err := w.read(uri)
		if err != nil {
			t.Fatalf("%s: %v", uri, err)
		}
		var got checkpointResource
		if err := json.Unmarshal([]byte(c.Text), &got); err != nil || len(got.Files) != len(tree) || got.More || got.Hash != first.Hash {
			t.Fatalf("%s: %+v, %v", uri, got, err)
		}
		for _, f := range got.Files {
			name, err := pathtext.Decode(f.Path)
			if err != nil {
				t.Fatal(err)
			}
			c, err := w.read(f.URI)
			if err != nil {
				t.Errorf("%s: %v", f.URI, err)
				continue
			}
			data := append([]byte(c.Text), c.Blob...)
			_, rc, err := w.repo.OpenFile(t.Context(), first.Hash, name)
			if err != nil {
				t.Fatal(err)
			}
			want, err := io.ReadAll(rc)
			if rc.Close(); err != nil || !bytes.Equal(data, want) || int64(len(data)) != f.Size {
				t.Errorf("%s is %q, not %q", f.URI, data, want)
			}
		}
	}
	for name, want := range map[string]string{"main.ts": "text/plain", "p.png": "image/png", "bytes": "application/octet-stream"} {
		if c, err := w.read(fileScheme + "@/" + name); err != nil || c.MIMEType != want {
			t.Errorf("%s: %+v, %v, want %s", name, c, err, want)
		}
	}
	for _, uri := range []string{
		fileScheme + "@/nothing", fileScheme + "@/../../etc/passwd", fileScheme + "@/%2e%2e/x", fileScheme + "@//etc/passwd", fileScheme + "@/dir",
		fileScheme + "@/%00", fileScheme + "@/%zz", fileScheme + "@", fileScheme + "ffff/a.txt", checkpointScheme + "ffff", checkpointScheme, "file:///etc/passwd",
	} {
		if c, err := w.read(uri); err == nil || !strings.Contains(err.Error(), "esource not found") {
			t.Errorf("%s: %+v, %v", uri, c, err)
		}
	}
}

// TestLimits: no answer grows without bounds.
func TestLimits(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{"big": gittest.File(strings.Repeat("x", maxFile+1))}
	for i := range maxPaths + 7 {
		tree["many/"+string(rune('a'+i%26))+strings.Repeat("x", i/26)] = gittest.File("x")
	}
	w := newWorld(t, tree)
	w.track()
	if _, err := w.read(fileScheme + "@/big"); err == nil || !strings.Contains(err.Error(), "cairn cat") {
		t.Error(err)
	}
	for range 3 {
		w.track()
	}
	var list checkpointList
	w.call("checkpoints", map[string]any{"limit": 2}, &list)
	if len(list.Checkpoints) != 2 || !list.More {
		t.Errorf("%+v", list)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "many")); err != nil {
		t.Fatal(err)
	}
	var d diffAnswer
	w.call("diff", map[string]any{"noText": true}, &d)
	if len(d.Files) != maxPaths || d.Unlisted != 7 {
		t.Errorf("%d files, %d unlisted", len(d.Files), d.Unlisted)
	}
	var done outcome
	text := w.call("restore", map[string]any{"hash": "@"}, &done)
	if len(done.Restored) != maxPaths || done.Unlisted != 8 || // the directory counts
		strings.Count(text, "\n") > maxLines+2 {
		t.Errorf("%d restored, %d unlisted\n%s", len(done.Restored), done.Unlisted, text)
	}
}

// TestServe speaks over plain streams: the end of the input ends the server, and so
// does the context.
func TestServe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	var out bytes.Buffer
	if err := Serve(t.Context(), Options{Repo: w.repo}, strings.NewReader(""), &out); err != nil || out.Len() > 0 {
		t.Errorf("%q, %v", out.String(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, never := io.Pipe()
	defer never.Close()
	cancel()
	if err := Serve(ctx, Options{Repo: w.repo}, in, io.Discard); err != context.Canceled {
		t.Error(err)
	}
}

// TestSessions takes back a turn of an agent and keeps what came after it.
func TestSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	sessions := session.New(w.repo)
	if _, err := sessions.Begin(t.Context(), session.SessionBegin{ID: "s/1", Title: "an agent"}); err != nil {
		t.Fatal(err)
	}
	w.fails("hint: the tool sessions lists", "session_undo", map[string]any{"sessionID": "s/1"})
	before := w.manifest()
	if _, err := sessions.BeginStep(t.Context(), session.StepBegin{Session: "s/1", Message: "m", Role: session.RoleUser}); err != nil {
		t.Fatal(err)
	}
	w.change()
	w.fails("hint: wait until", "session_undo", map[string]any{"sessionID": "s/1"})
	if _, err := sessions.EndStep(t.Context(), session.StepEnd{Session: "s/1"}); err != nil {
		t.Fatal(err)
	}
	after := w.manifest()

	var list sessionList
	text := w.call("sessions", nil, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].Steps != 1 || !strings.Contains(text, "an agent") {
		t.Errorf("%+v\n%s", list, text)
	}
	var plan, done outcome
	w.call("session_undo", map[string]any{"sessionID": "s/1", "dryRun": true}, &plan)
	gittest.AssertEqual(t, "dry run", after, w.manifest())
	w.call("session_undo", map[string]any{"sessionID": "s/1", "planID": plan.Plan}, &done)
	gittest.AssertEqual(t, "undo", before, w.manifest())
	w.call("session_redo", map[string]any{"sessionID": "s/1"}, &done)
	gittest.AssertEqual(t, "redo", after, w.manifest())
	w.fails("not found", "session_undo", map[string]any{"sessionID": "other"})
	w.fails("wrong arguments", "session_undo", map[string]any{"sessionID": "s/1", "onConflict": "win"})
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

// TestV60_WhoAndWhat: lists say who worked, for which prompt, with which tool and command,
// and on which files.
func TestV60_WhoAndWhat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	w.agentStep("uuid-1", "new")
	want := session.Work{
		Session: "uuid-1", Message: "m", Step: "st", Agent: "codex", Prompt: "make  [31mit …",
		Calls: []session.Call{{Tool: "Bash", Command: "touch new"}}, Paths: cairn.Paths{"new"}, Changed: 1,
	}
	const did, lines = "  codex: make  [31mit …\n    Bash: touch new  (new)\n", "\n    codex, make  [31mit …\n    Bash: touch new  (new)\n"
	var checkpoints checkpointList
	if text := w.call("checkpoints", nil, &checkpoints); !reflect.DeepEqual(checkpoints.Checkpoints[0].Work, &want) || !strings.Contains(text, did) ||
		strings.Contains(text, "step st") || strings.Contains(text, "uuid-1") || !strings.Contains(text, `begin session "make  [31mit …"`) {
		t.Errorf("%+v\n%s", checkpoints.Checkpoints[0].Work, text)
	}
	resources, err := w.client.ListResources(t.Context(), nil)
	if err != nil || resources.Resources[0].Title != "make  [31mit …" || resources.Resources[1].Title != `begin session "make  [31mit …"` {
		t.Errorf("%+v, %v", resources, err)
	}
	var list sessionList
	if text := w.call("sessions", nil, &list); !reflect.DeepEqual(list.Sessions[0].Latest, &want) || !strings.Contains(text+"\n", lines) || list.Sessions[0].Agent != "codex" {
		t.Errorf("%+v\n%s", list, text)
	}
}

// TestV61_BeginningOfAnID: a session is named by the beginning of its id, or by @.
func TestV61_BeginningOfAnID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	w.agentStep("0c5f-first", "one")
	w.agentStep("0c6a-second", "two")
	for _, name := range []string{"0c6a", "@", "0c6a-second", "0c5f"} {
		file := "two"
		if name == "0c5f" {
			file = "one"
		}
		var done outcome
		w.call("session_undo", map[string]any{"sessionID": name}, &done)
		if !slices.Equal(done.Deleted, []string{file}) {
			t.Errorf("undo of %s deleted %q", name, done.Deleted)
		}
		w.call("session_redo", map[string]any{"sessionID": name}, &done)
		if !slices.Equal(done.Restored, []string{file}) {
			t.Errorf("redo of %s restored %q", name, done.Restored)
		}
	}
	w.fails(`could be 0c5f-first "make  [31mit …" or 0c6a-second "make  [31mit …"`, "session_undo", map[string]any{"sessionID": "0c"})
	w.fails("hint: the tool sessions lists", "session_undo", map[string]any{"sessionID": "first"})
}

// TestV64_KeysOfTools: docs/json.md lists the keys of all arguments and answers.
func TestV64_KeysOfTools(t *testing.T) {
	t.Parallel()
	words := gittest.ReadWords(t, filepath.Join("..", ".."))
	list, err := newWorld(t, begin).client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		data, err := json.Marshal([]any{tool.InputSchema, tool.OutputSchema})
		var schemas any
		if err == nil {
			err = json.Unmarshal(data, &schemas)
		}
		if err != nil {
			t.Fatal(err)
		}
		words.CheckSchema(t, tool.Name, schemas)
	}
}
