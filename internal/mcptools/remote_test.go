package mcptools

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestRemoteTools: a session of one directory is pushed, listed, fetched and resumed in another, and undo
// takes the resume back.
func TestRemoteTools(t *testing.T) {
	t.Parallel()
	remote := filepath.Join(t.TempDir(), "team.git")
	gittest.NewOracle(t).In(filepath.Dir(remote), "init", "-q", "--bare", "--template=", remote)
	first, second := newWorld(t, begin), newWorld(t, begin)
	for _, w := range []*world{first, second} {
		w.track()
		for _, tool := range []string{"push", "fetch", "remote"} {
			w.fails("no tool names a remote", tool, nil)
		}
		w.fails("not found", "resume", map[string]any{"sessionID": "ses_a"})
		if err := w.repo.SetProjectID(t.Context(), "shop"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.repo.Push(t.Context(), remote); err != nil { // which remembers the remote
			t.Fatal(err)
		}
	}
	first.agentStep("ses_a", "new")
	var sent pushed
	wantText(t, "push", first.call("push", nil, &sent), "pushed ", "ses_a")
	if !slices.Contains(sent.Lines, "sessions/ses_a") {
		t.Errorf("%+v", sent)
	}
	wantText(t, "push", first.call("push", nil, &sent), "nothing was pushed")

	var about remoteAnswer
	wantText(t, "remote", second.call("remote", nil, &about), remote+" lacks 0 checkpoints", "shop, this project", "ses_a")
	if len(about.Projects) != 1 || len(about.Projects[0].Stores) != 2 || about.Unlisted != 0 {
		t.Errorf("%+v", about)
	}
	var got fetched
	wantText(t, "fetch", second.call("fetch", map[string]any{"sessionID": "@"}, &got), "fetched 1 line", "sessions/ses_a")
	if got.Session != "ses_a" || len(got.Lines) != 1 {
		t.Errorf("%+v", got)
	}
	before := second.manifest()
	var plan, done outcome
	second.call("resume", map[string]any{"dryRun": true}, &plan)
	gittest.AssertEqual(t, second.dir, before, second.manifest())
	if !plan.DryRun || plan.Plan == "" {
		t.Errorf("%+v", plan)
	}
	second.call("resume", map[string]any{"sessionID": "ses_a", "planID": plan.Plan}, &done)
	if data, err := os.ReadFile(filepath.Join(second.dir, "new")); string(data) != "x" || done.Operation == "" {
		t.Errorf("%q, %v, %+v", data, err, done)
	}
	second.call("undo", nil, &done)
	gittest.AssertEqual(t, second.dir, before, second.manifest())

	if err := os.Rename(remote, remote+".away"); err != nil {
		t.Fatal(err)
	}
	second.fails("fetch from "+remote, "fetch", nil)
	second.fails("push to "+remote, "push", nil)
	second.fails("list "+remote, "remote", nil)
	second.call("resume", map[string]any{"sessionID": "ses_a", "dryRun": true}, &plan) // it is here
}

// TestRemotePasswords: no answer has the password of a remote.
func TestRemotePasswords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin, func(o *cairn.Options) { o.Sync = "http://ann:sesame@127.0.0.1:1/team.git" })
	w.track()
	for _, tool := range []string{"push", "fetch", "remote", "resume"} {
		res, err := w.client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool})
		if err != nil {
			t.Fatal(err)
		}
		if text := res.Content[0].(*mcp.TextContent).Text; !res.IsError || strings.Contains(text, "sesame") || !strings.Contains(text, "127.0.0.1:1/team.git") {
			t.Errorf("%s: %s", tool, text)
		}
	}
}

// TestBoundProjects: an answer has room for a number of projects, stores and sessions together.
func TestBoundProjects(t *testing.T) {
	t.Parallel()
	store := cairn.RemoteStore{Sessions: make([]cairn.RemoteSession, maxPaths)}
	list := []cairn.RemoteProject{{Stores: []cairn.RemoteStore{store, store}}, {Stores: []cairn.RemoteStore{store}}}
	out, unlisted := boundProjects(list)
	sizes := []int{len(out), len(out[0].Stores), len(out[1].Stores), len(out[0].Stores[0].Sessions), len(out[0].Stores[1].Sessions)}
	if want := []int{2, 2, 0, maxPaths - 4, 0}; !slices.Equal(sizes, want) || unlisted != 4+maxPaths+1 {
		t.Errorf("%v, want %v, %d not listed", sizes, want, unlisted)
	}
}
