package httpapi

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// TestForks: a fork is made, listed with what it changed, and removed once nothing would be lost.
func TestForks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.track()
	dir := filepath.Join(t.TempDir(), "fork")
	var made cairn.ForkResult
	f.call("POST", "/fork", ForkRequest{Dir: dir, DryRun: true}).want(t, 200, &made)
	if _, err := os.Lstat(dir); err == nil || made.Files != 1 || !made.DryRun {
		t.Errorf("a plan: %+v", made)
	}
	f.call("POST", "/fork", ForkRequest{Dir: dir}).want(t, 200, &made)
	if string(made.Dir) != dir || string(made.Root) != f.root || made.Store == "" {
		t.Errorf("%+v", made)
	}
	f.call("POST", "/fork", ForkRequest{Dir: dir}).want(t, 400, nil)
	f.call("POST", "/fork", ForkRequest{Dir: "relative"}).want(t, 400, nil)
	f.call("POST", "/fork", ForkRequest{Dir: dir + "-2", GitWorktree: true}).problem(t, 409, "refused")
	f.call("POST", "/fork", ForkRequest{Dir: filepath.Join(dir, "none"), Session: "none"}).want(t, 404, nil)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var list []cairn.ForkInfo
	f.call("GET", "/forks", nil).want(t, 200, &list)
	if len(list) != 1 || string(list[0].Root) != dir || list[0].Changed != 1 || list[0].Unmerged != 1 || list[0].Error != "" {
		t.Errorf("%+v", list)
	}
	var gone cairn.RemovedFork
	f.call("POST", "/fork/remove", RemoveForkRequest{Dir: dir}).want(t, 409, nil)
	f.call("POST", "/fork/remove", RemoveForkRequest{Dir: dir, DryRun: true}).want(t, 200, &gone)
	if len(gone.Lost) != 1 || gone.Lost[0].Path != "a" {
		t.Errorf("%+v", gone)
	}
	f.call("POST", "/fork/remove", RemoveForkRequest{Dir: dir, Force: true}).want(t, 200, &gone)
	if _, err := os.Lstat(dir); err == nil || gone.Saved == "" {
		t.Errorf("%+v", gone)
	}
	f.call("POST", "/fork/remove", RemoveForkRequest{Dir: dir}).want(t, 404, nil)
}

// TestForkLinked: a fork is a linked work tree of git.
func TestForkLinked(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	o.Init(f.root)
	o.Commit(f.root, "first")
	f.track()
	var made cairn.ForkResult
	f.call("POST", "/fork", ForkRequest{Dir: filepath.Join(t.TempDir(), "without")}).want(t, 200, &made)
	if !made.WithoutGit {
		t.Errorf("%+v", made)
	}
	dir := filepath.Join(t.TempDir(), "fork")
	f.call("POST", "/fork", ForkRequest{Dir: dir, Branch: "topic"}).want(t, 200, &made)
	if made.Branch != "topic" || o.In(dir, "symbolic-ref", "HEAD") != "refs/heads/topic\n" || o.In(dir, "status", "--porcelain") != "" {
		t.Errorf("%+v", made)
	}
	f.call("POST", "/fork", ForkRequest{Dir: dir + "-2", Branch: "topic"}).problem(t, 409, "exists")
	var gone cairn.RemovedFork
	f.call("POST", "/fork/remove", RemoveForkRequest{Dir: dir}).want(t, 200, &gone)
	if gone.Branch != "topic" || gone.BranchKept != "" || o.In(f.root, "branch", "--list", "topic") != "" {
		t.Errorf("%+v", gone)
	}
}

// TestForkDirectories: a directory of any bytes is made and removed, and one that no system has is refused.
func TestForkDirectories(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("*.log\nign\n"), "a": gittest.File("1\n"), "x.log": gittest.File("log"), "ign": gittest.File("i")})
	f.track()
	base := t.TempDir()
	for _, dir := range []string{"", "relative", base + "\x00zz", base + "/x\x0000"} {
		f.call("POST", "/fork", ForkRequest{Dir: dir}).problem(t, 400, "bad-request")
		f.call("POST", "/fork/remove", RemoveForkRequest{Dir: dir}).problem(t, 400, "bad-request")
	}
	dir := filepath.Join(base, "b\xff")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Skipf("SKIPPED: this file system has no such name: %v", err)
	}
	var made cairn.ForkResult
	f.call("POST", "/fork", ForkRequest{Dir: pathtext.Encode(dir), Patterns: []string{"*.log"}}).want(t, 200, &made)
	if string(made.Dir) != dir || made.Ignored.Files != 1 {
		t.Errorf("%+v", made)
	}
	f.call("POST", "/projects", map[string]any{"directory": pathtext.Encode(dir), "exact": true}).want(t, 200, nil)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.call("POST", "/merge", MergeRequest{SourceOfChanges: SourceOfChanges{Directory: pathtext.Encode(dir)}, Paths: []string{"a"}}).want(t, 200, nil)
	if text, err := os.ReadFile(filepath.Join(f.root, "a")); err != nil || string(text) != "2\n" {
		t.Errorf("after the merge: %q, %v", text, err)
	}
	f.call("POST", "/fork/remove", RemoveForkRequest{Dir: pathtext.Encode(dir) + "/."}).want(t, 200, nil)
	if _, err := os.Lstat(dir); err == nil {
		t.Error("the fork is there")
	}
}

// TestForkEvents: a fork is told as a directory that was made.
func TestForkEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.track()
	web := httptest.NewServer(f.door)
	defer web.Close()
	defer f.server.Drain()
	next := listen(t, web.URL+"/events")
	next() // hello
	dir := filepath.Join(t.TempDir(), "fork")
	var made cairn.ForkResult
	f.call("POST", "/fork", ForkRequest{Dir: dir}).want(t, 200, &made)
	f.track()
	var got []Event
	for e := next(); e.Type != EventTrack; e = next() {
		got = append(got, e)
	}
	if n := len(got); n < 2 || got[0].Type != EventProgress || got[n-1].Type != EventCopy || got[n-1].Dir != dir || got[n-1].Checkpoint != made.Checkpoint {
		t.Errorf("%+v", got)
	}
}
