package httpapi

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// besides registers a second directory with the files of the first one and checkpoints of its own.
func (f *fixture) besides(t *testing.T, tree gittest.Tree) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "other")
	gittest.Create(t, dir, tree)
	body, err := json.Marshal(map[string]any{"directory": dir, "exact": true})
	if err != nil {
		t.Fatal(err)
	}
	f.call("POST", "/projects", string(body)).want(t, 200, nil)
	f.call("POST", "/track?directory="+url.QueryEscape(dir), `{}`).want(t, 200, nil)
	return dir
}

func TestMergeAndCompare(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{"a": gittest.File(tenLines), "old": gittest.File(tenLines + "o\n")}
	f := newFixture(t, tree)
	f.track()
	dir := f.besides(t, tree)
	f.write("a", "one\n"+tenLines[2:])
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte(tenLines[:len(tenLines)-3]+"ten\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "old"), filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}

	var compared cairn.Comparison
	f.call("POST", "/compare", CompareRequest{Sources: []SourceOfChanges{{Directory: dir}, {Hash: "@"}}, HunkIDs: true}).want(t, 200, &compared)
	if len(compared.Sources) != 2 || len(compared.Sources[0].Files) != 2 || len(compared.Sources[1].Files) != 0 {
		t.Fatalf("%+v", compared)
	}
	a, moved := compared.Sources[0].Files[0], compared.Sources[0].Files[1]
	if len(a.Overlaps) != 1 || a.Overlaps[0].Outcome != "merges" || string(a.Overlaps[0].With) != f.root || len(a.Hunks) != 1 || moved.OldPath != "old" || moved.File != "new" {
		t.Errorf("%+v\n%+v", a, moved)
	}

	var plan, done cairn.Result
	request := MergeRequest{SourceOfChanges: SourceOfChanges{Directory: dir}, DryRun: true}
	f.call("POST", "/merge", request).want(t, 200, &plan)
	if len(plan.Plan) != 3 || plan.PlanID == "" || plan.Base != compared.Sources[0].Base {
		t.Errorf("%+v", plan)
	}
	web := httptest.NewServer(f.door)
	defer web.Close()
	defer f.server.Drain()
	next := listen(t, web.URL+"/events?directory="+url.QueryEscape(f.root))
	next() // hello
	request.DryRun, request.Plan = false, plan.PlanID
	f.call("POST", "/merge", request).want(t, 200, &done)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("one\n" + tenLines[2:len(tenLines)-3] + "ten\n"), "new": gittest.File(tenLines + "o\n")})
	if e := next(); e.Type != EventOperation || e.Kind != "merge" || e.Operation != done.Operation {
		t.Errorf("%+v", e)
	}
	f.call("POST", "/merge", request).problem(t, 409, "moved")
	f.call("POST", "/undo", `{}`).want(t, 200, nil)
	f.call("POST", "/merge", MergeRequest{SourceOfChanges: SourceOfChanges{Directory: dir}, Hunks: []string{a.Hunks[0].ID}}).want(t, 200, &done)
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("one\n" + tenLines[2:len(tenLines)-3] + "ten\n"), "old": gittest.File(tenLines + "o\n")})
}

func TestMergeRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	f.track()
	dir := f.besides(t, gittest.Tree{"b": gittest.File("b\n")})
	other := func(dir string) SourceOfChanges { return SourceOfChanges{Directory: dir} }
	f.call("POST", "/merge", `{}`).problem(t, 400, "bad-request")
	f.call("POST", "/compare", `{"sources":[]}`).problem(t, 400, "bad-request")
	f.call("POST", "/compare", `{"sources":[{}]}`).problem(t, 400, "bad-request")
	f.call("POST", "/merge", MergeRequest{SourceOfChanges: other(f.root)}).problem(t, 400, "bad-request")
	f.call("POST", "/merge", MergeRequest{SourceOfChanges: other("relative")}).problem(t, 400, "bad-request")
	f.call("POST", "/merge", MergeRequest{SourceOfChanges: other(t.TempDir())}).problem(t, 404, "unregistered")
	f.call("POST", "/merge", MergeRequest{SourceOfChanges: other(dir)}).problem(t, 404, "not-found")
	f.call("POST", "/merge", MergeRequest{SourceOfChanges: SourceOfChanges{Hash: "0123456789"}}).problem(t, 404, "not-found")
	f.call("POST", "/merge", MergeRequest{SourceOfChanges: other(dir), Base: "@", Hunks: []string{"0123"}}).problem(t, 404, "not-found")
	f.call("POST", "/merge", MergeRequest{SourceOfChanges: other(dir), Base: "@", Paths: []string{"../x"}}).problem(t, 400, "outside")
	gittest.AssertTree(t, f.root, gittest.Tree{"a": gittest.File("a\n")})
}
