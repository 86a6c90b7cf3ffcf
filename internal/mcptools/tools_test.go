package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func (w *world) manifest() gittest.Listing { return gittest.Manifest(w.t, w.dir) }

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

// TestLongMessage: the answer to a message that is too long names the limit.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	w.fails("message too long: it has 65537 characters, at most 65536 can be", "track", map[string]any{"message": strings.Repeat("m", cairn.MaxMessage+1)})
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

// TestDefect: a tool that panics answers with an error.
func TestDefect(t *testing.T) {
	t.Parallel()
	var broken handler[diffArgs, diffAnswer] = func(context.Context, diffArgs) (diffAnswer, string, error) { panic("no such thing") }
	if _, _, err := broken.answer(t.Context(), diffArgs{}); err == nil || !strings.HasPrefix(err.Error(), "internal error: no such thing\n") {
		t.Error(err)
	}
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
	w.call("diff", map[string]any{"paths": []string{"."}, "noText": true}, &d)
	if len(d.Files) != 4 {
		t.Errorf("%+v", d)
	}
	w.fails("path dri, neither at the checkpoint nor on disk", "diff", map[string]any{"paths": []string{"dir", "dri"}})
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
		{"paths is empty", "restore", map[string]any{"hash": "@", "paths": []string{}}},
		{"paths is empty", "preview", map[string]any{"action": "restore", "hash": "@", "paths": []string{}}},
		{"paths is empty", "revert", map[string]any{"hash": "@", "paths": []string{}}},
		{"hunks is empty", "revert", map[string]any{"hash": "@", "hunks": []string{}}},
		{"lines is empty", "revert", map[string]any{"hash": "@", "lines": []any{}}},
		{"paths is empty", "undo", map[string]any{"paths": []string{}}},
		{"paths is empty", "merge", map[string]any{"hash": "@", "paths": []string{}}},
		{"hunks is empty", "merge", map[string]any{"hash": "@", "hunks": []string{}}},
		{"hunks is empty", "session_revert", map[string]any{"turn": 1, "hunks": []string{}}},
		{"stepIDs is empty", "session_revert", map[string]any{"turn": 1, "stepIDs": []string{}}},
		{"lines is empty", "session_unrevert", map[string]any{"lines": []any{}}},
		{"wrong arguments: hash is empty", "restore", map[string]any{"hash": ""}},
		{`missing properties: ["hash"]`, "restore", nil},
		{"either hash, or from and to", "revert", map[string]any{"hash": "@", "from": "@"}},
		{"either hash, or from and to", "revert", nil},
		{"action is restore, revert, undo or redo", "preview", map[string]any{"action": "purge"}},
		{"keepNew is for the action restore", "preview", map[string]any{"action": "undo", "keepNew": true}},
		{"hash is for the action restore or revert", "preview", map[string]any{"action": "redo", "hash": "@"}},
		{"from is for the action revert", "preview", map[string]any{"action": "restore", "hash": "@", "from": "@"}},
		{"onConflict is for the action revert or undo or redo", "preview", map[string]any{"action": "restore", "hash": "@", "onConflict": "keep"}},
		{"git is for the action undo or redo", "preview", map[string]any{"action": "revert", "hash": "@", "git": true}},
		{"outside is for the action undo or redo", "preview", map[string]any{"action": "revert", "hash": "@", "outside": true}},
		{"thisRoot is for the action undo or redo", "preview", map[string]any{"action": "restore", "hash": "@", "thisRoot": true}},
		{"wrong arguments", "undo", map[string]any{"onConflict": "win"}},
		{"limit -1", "checkpoints", map[string]any{"limit": -1}},
		{"not found", "diff", map[string]any{"from": "0123456789abcdef0123456789abcdef01234567"}},
		{"unexpected additional properties", "undo", map[string]any{"force": true}},
	} {
		w.fails(c.want, c.tool, c.args)
	}
	gittest.AssertEqual(t, w.dir, before, w.manifest())
}

// TestNullIsNotGiven: an argument that is null counts as none.
func TestNullIsNotGiven(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	w.track()
	w.change()
	var list checkpointList
	if w.call("checkpoints", map[string]any{"limit": nil}, &list); len(list.Checkpoints) != 1 {
		t.Errorf("%+v", list)
	}
	var o outcome
	args := map[string]any{"hash": "@", "paths": []string{"a.txt"}, "keepNew": nil, "planID": nil, "dryRun": true}
	if w.call("restore", args, &o); !o.DryRun || len(o.Changes) != 1 {
		t.Errorf("%+v", o)
	}
	w.fails("hash", "restore", map[string]any{"hash": nil})
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
