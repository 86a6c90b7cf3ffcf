package mcptools

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// withOther connects the world to a server that can open a second directory with equal files.
func withOther(t *testing.T, tree gittest.Tree) (w *world, dir string) {
	t.Helper()
	w, dir = newWorld(t, tree), filepath.Join(t.TempDir(), "other")
	gittest.Create(t, dir, tree)
	data := t.TempDir()
	open := func(dir string) (*cairn.Repo, error) { return cairn.Open(cairn.Options{Root: dir, DataDir: data}) }
	other, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Track(t.Context(), cairn.TrackOptions{}); err != nil {
		t.Fatal(err)
	}
	here, there := mcp.NewInMemoryTransports()
	server, _ := newServer(Options{Repo: w.repo, Version: "test", OpenDir: open})
	if _, err := server.Connect(t.Context(), here, nil); err != nil {
		t.Fatal(err)
	}
	if w.client, err = mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.client.Close() })
	w.track()
	return w, dir
}

func TestMergeOfADirectory(t *testing.T) {
	t.Parallel()
	w, dir := withOther(t, begin)
	for name, text := range map[string]string{filepath.Join(dir, "a.txt"): "one\ntwo\n3\n", filepath.Join(dir, "new"): "n\n", filepath.Join(w.dir, "bytes"): "\x00here"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	source := map[string]any{"directory": dir}
	var all compared
	text := w.call("compare", map[string]any{"sources": []any{source}, "hunkIDs": true}, &all)
	wantText(t, "compare", text, "M a.txt  +1 -1", "A new  +1 -0", all.Sources[0].Base)
	if len(all.Sources) != 1 || len(all.Sources[0].Files) != 2 || len(all.Sources[0].Files[0].Hunks) != 1 {
		t.Fatalf("%+v", all)
	}
	before := w.manifest()
	var plan, done outcome
	w.call("merge", map[string]any{"directory": dir, "dryRun": true}, &plan)
	gittest.AssertEqual(t, "after a dry run", before, w.manifest())
	w.call("merge", map[string]any{"directory": dir, "planID": plan.Plan}, &done)
	if !done.Complete || len(done.Restored) != 2 || done.Base != all.Sources[0].Base {
		t.Errorf("%+v", done)
	}
	w.call("undo", map[string]any{}, &done)
	gittest.AssertEqual(t, "after the undo", before, w.manifest())
	w.call("merge", map[string]any{"directory": dir, "hunks": []any{all.Sources[0].Files[0].Hunks[0].ID}}, &done)
	if len(done.Restored) != 1 || done.Restored[0] != "a.txt" {
		t.Errorf("%+v", done)
	}

	w.fails("the tool compare with hunkIDs lists the names", "merge", map[string]any{"directory": dir, "hunks": []any{"00000000"}})
	w.fails("a source is a directory or a hash", "merge", map[string]any{})
	w.fails("wants sources", "compare", map[string]any{"sources": []any{}})
	for _, dir := range []string{"other", "../other", "."} {
		w.fails("directory is an absolute path", "merge", map[string]any{"directory": dir})
		w.fails("directory is an absolute path", "compare", map[string]any{"sources": []any{map[string]any{"directory": dir}}})
	}
	text = w.call("compare", map[string]any{"sources": []any{map[string]any{"hash": all.Sources[0].Base}}, "base": all.Sources[0].Base}, &all)
	wantText(t, "compare with the state in common", text, "nothing changed there")
	w.fails("is the directory itself", "merge", map[string]any{"directory": w.dir})
	w.fails("0123456789", "merge", map[string]any{"hash": "0123456789"})
	newWorld(t, begin).fails("knows no other directories", "merge", map[string]any{"directory": dir})
}
