package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// wait polls until something is so, for a minute at most.
func wait(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// TestMoreProjectsThanClientsMayRegister: a remote may have any number of them, and all are reached.
func TestMoreProjectsThanClientsMayRegister(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	dir := t.TempDir()
	for i := range maxProjects + 1 {
		root := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(root, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := f.server.RegisterAs(root, strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	f.call("GET", "/project/"+strconv.Itoa(maxProjects)+"/usage", nil).problem(t, 404, "not-found") // it has no store
	f.call("POST", "/projects", map[string]any{"directory": dir, "exact": true}).problem(t, 429, "too-many")
}

func TestProjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	second := filepath.Join(filepath.Dir(f.root), "second")
	gittest.Create(t, second, gittest.Tree{"s": gittest.File("s\n"), "sub/x": gittest.File("x\n")})
	at := func(dir string) string { return "?directory=" + url.QueryEscape(dir) }

	// A request names no directory outside a registered root.
	for _, dir := range []string{second, "/", filepath.Dir(f.root), f.root + "/../second", f.dataDir, f.root + "x"} {
		f.call("GET", "/status"+at(dir), nil).problem(t, 404, "unregistered")
		f.call("POST", "/track"+at(dir), "{}").problem(t, 404, "unregistered")
	}
	for _, dir := range []string{"relative", ".", "a\x00b"} {
		f.call("GET", "/status"+at(dir), nil).problem(t, 400, "bad-request")
	}

	var info ProjectInfo
	f.call("POST", "/projects", map[string]any{"directory": second, "exact": true}).want(t, 200, &info)
	if info.Root != second || info.ID != cairn.ProjectID(second) || info.Default {
		t.Errorf("%+v", info)
	}
	f.call("POST", "/projects", map[string]any{"directory": second + "/."}).want(t, 200, nil) // once more
	f.call("POST", "/projects", map[string]any{"directory": filepath.Join(second, "none")}).problem(t, 404, "root")
	f.call("POST", "/projects", map[string]any{"directory": filepath.Join(second, "s")}).problem(t, 404, "root")
	var list []ProjectInfo
	f.call("GET", "/projects", nil).want(t, 200, &list)
	if len(list) != 2 {
		t.Errorf("%+v", list)
	}

	// Each way of naming it, a directory in it and a symlink to it.
	link := filepath.Join(filepath.Dir(f.root), "link")
	if err := os.Symlink(second, link); err != nil {
		t.Skip("no symlinks: ", err)
	}
	f.call("POST", "/track"+at(second), "{}").want(t, 200, nil)
	for _, target := range []string{"/status" + at(second), "/status" + at(filepath.Join(second, "sub")), "/status" + at(link), "/project/" + info.ID + "/status", "/project/" + info.ID + "/status" + at(f.root)} {
		var s Status
		f.call("GET", target, nil).want(t, 200, &s)
		if s.Root != second {
			t.Errorf("%s is about %s", target, s.Root)
		}
	}
	// A path of the other project is outside, absolute or not.
	for _, path := range []string{filepath.Join(f.root, "a.txt"), "../project/a.txt"} {
		f.call("GET", "/project/"+info.ID+"/checkpoints/@/file?path="+url.QueryEscape(path), nil).problem(t, 400, "outside")
	}

	f.call("DELETE", "/projects/"+info.ID, nil).want(t, 204, nil)
	f.call("DELETE", "/projects/"+info.ID, nil).problem(t, 404, "unregistered")
	f.call("GET", "/status"+at(second), nil).problem(t, 404, "unregistered")
}

// TestRootRenamed: the server has the store of a root open that is renamed. The store comes along where the root is
// registered at its new path, and the server lets go of the old one.
func TestRootRenamed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	hash := f.track()
	if _, ok := identity.DirectoryAt(f.root); !ok {
		t.Skip("this file system does not know when a directory was made")
	}
	moved := filepath.Join(filepath.Dir(f.root), "moved")
	if err := os.Rename(f.root, moved); err != nil {
		t.Fatal(err)
	}
	f.call("POST", "/track", "{}").problem(t, 404, "root")
	var info ProjectInfo
	f.call("POST", "/projects", map[string]any{"directory": moved, "exact": true}).want(t, 200, &info)
	var got cairn.TrackResult
	f.call("POST", "/project/"+info.ID+"/track", "{}").want(t, 200, &got)
	if got.Hash != hash {
		t.Errorf("tracked %s, want %s", got.Hash, hash)
	}
	var list struct{ Checkpoints []json.RawMessage }
	f.call("GET", "/project/"+info.ID+"/checkpoints", nil).want(t, 200, &list)
	if len(list.Checkpoints) != 1 {
		t.Errorf("%d checkpoints", len(list.Checkpoints))
	}
	f.call("POST", "/track", "{}").problem(t, 404, "root")
	if err := os.Rename(moved, f.root); err != nil {
		t.Fatal(err)
	}
	f.call("POST", "/track", "{}").want(t, 200, &got)
	if got.Hash != hash {
		t.Errorf("back at its first path: tracked %s, want %s", got.Hash, hash)
	}
}

// TestRootReplaced: what takes the place of a registered root, a symlink or a file, is not captured in its name. The
// root can be used again once it is back.
func TestRootReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	other, away := filepath.Join(filepath.Dir(f.root), "other"), filepath.Join(filepath.Dir(f.root), "away")
	gittest.Create(t, other, gittest.Tree{"private": gittest.File("p\n")})
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what string) {
		t.Helper()
		f.call("POST", "/track", "{}").problem(t, 404, "root")
		f.call("POST", "/apply", map[string]any{"action": "restore", "hash": "@"}).problem(t, 404, "root")
		if err := os.Remove(f.root); err != nil {
			t.Fatal(what, err)
		}
	}
	rename(f.root, away)
	if err := os.WriteFile(f.root, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("a file")
	if err := os.Symlink(other, f.root); err != nil {
		t.Skip("no symlinks: ", err)
	}
	refused("a symlink")
	rename(away, f.root)
	f.track()
}

// TestGuard: a root that is most likely an accident has to be named exactly.
func TestGuard(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree, func(o *Options) { o.Guard = func(string) error { return errors.New("holds everything") } })
	f.call("POST", "/projects", map[string]any{"directory": filepath.Dir(f.root)}).problem(t, 404, "root")
}

// TestIdle: an idle store is closed and opened again when it is needed, and a removed
// store is made again.
func TestIdle(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree, func(o *Options) { o.Idle = 4 * time.Millisecond })
	f.track()
	p := f.server.projects.first
	wait(t, "the store is closed", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.handle == nil
	})
	f.call("GET", "/status", nil).want(t, 200, nil)
	if err := os.RemoveAll(f.dataDir); err != nil {
		t.Fatal(err)
	}
	f.call("GET", "/status", nil).problem(t, 404, "not-found")
	f.track()
	f.call("GET", "/status", nil).want(t, 200, nil)
}

// TestSettingsChange: a setting that changes while the server runs is in force at once.
func TestSettingsChange(t *testing.T) {
	t.Parallel()
	var limit atomic.Int64
	f := newFixture(t, someTree, func(o *Options) {
		inner := o.Settings
		o.Settings = func(root string) (cairn.Options, error) {
			opt, err := inner(root)
			opt.MaxFileSize = limit.Load()
			return opt, err
		}
	})
	f.track()
	limit.Store(3)
	f.write("large", "large")
	var tr cairn.TrackResult
	f.call("POST", "/track", "{}").want(t, 200, &tr)
	if len(tr.Skipped) == 0 {
		t.Error("the old limit is in force")
	}
}

// hold keeps the store of the fixture's project locked until release is called.
func (f *fixture) hold() (release func()) {
	f.t.Helper()
	db, err := odb.Open(cairn.StorePath(f.dataDir, f.root), f.root, odb.Options{Command: "a test"})
	if err != nil {
		f.t.Fatal(err)
	}
	unlock, err := db.Lock(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return func() {
		if err := errors.Join(unlock(), db.Close()); err != nil {
			f.t.Error(err)
		}
	}
}

// goingBack reports whether something goes back just now.
func (f *fixture) goingBack() bool {
	p := f.server.projects.first
	if !p.back.TryLock() {
		return true
	}
	p.back.Unlock()
	return false
}

// TestTwoAtOnce: of two clients who want to go back at once, one gets 409 and nothing
// of what it wanted is done. Looking is no going back.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	hash := f.track()
	gittest.Create(t, f.root, gittest.Tree{"new": gittest.File("n\n")})
	f.track()
	release := f.hold()
	first := make(chan reply)
	go func() { first <- f.call("POST", "/apply", ChangeRequest{Action: "restore", Hash: hash}) }()
	wait(t, "the first goes back", f.goingBack)
	for target, body := range map[string]any{
		"/apply": ChangeRequest{Action: "restore", Hash: hash}, "/undo": struct{}{}, "/redo": struct{}{},
	} {
		f.call("POST", target, body).problem(t, 409, "busy")
	}
	release()
	(<-first).want(t, 200, nil)
	gittest.AssertTree(t, f.root, someTree)
	f.call("POST", "/undo", "").want(t, 200, nil)
}

// TestHungUp: a restore is finished although its client has hung up.
func TestHungUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	hash := f.track()
	f.write("new", "n\n")
	f.write("a.txt", "changed\n")
	f.track()
	release := f.hold()
	ctx, hangUp := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recover() }() // the answer is broken off
		r := request(t, "POST", "/apply", ChangeRequest{Action: "restore", Hash: hash}).WithContext(ctx)
		f.door.ServeHTTP(httptest.NewRecorder(), r)
	}()
	wait(t, "it goes back", f.goingBack)
	hangUp()
	release()
	<-done
	gittest.AssertTree(t, f.root, someTree)
	var list struct{ Operations []cairn.Operation }
	f.call("GET", "/operations", nil).want(t, 200, &list)
	if len(list.Operations) != 1 {
		t.Errorf("%d operations", len(list.Operations))
	}
}

// TestLocked: another process that holds the store for too long is a 409, too.
func TestLocked(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree, func(o *Options) {
		inner := o.Settings
		o.Settings = func(root string) (cairn.Options, error) {
			opt, err := inner(root)
			opt.LockTimeout = time.Nanosecond
			return opt, err
		}
	})
	f.track()
	release := f.hold()
	defer release()
	f.write("new", "so that there is something to do\n")
	f.call("POST", "/track", "{}").problem(t, 409, "locked")
}

// TestPlanAndApply: apply carries out the plan that was shown, or does nothing if the
// disk has changed.
func TestPlanAndApply(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	hash := f.track()
	f.write("new", "n\n")
	f.write("a.txt", "changed\n")
	f.track()
	for _, c := range []ChangeRequest{
		{Action: "restore", Hash: hash}, {Action: "revert", From: hash}, {Action: "revert", From: hash, To: "@"},
		{Action: "revert", Patches: []cairn.Patch{{Hash: hash, Files: []string{"new", "a.txt"}}}}, {Action: "restore", Hash: hash, Paths: []string{"."}},
	} {
		var plan cairn.Result
		f.call("POST", "/plan", c).want(t, 200, &plan)
		if plan.PlanID == "" || len(plan.Plan) != 2 || plan.Operation != "" {
			t.Fatalf("%+v: %+v", c, plan)
		}
		c.Plan = plan.PlanID
		f.call("POST", "/plan", c).problem(t, 400, "bad-request")
		f.write("a.txt", "moved\n")
		if !(c.Action == "revert" && c.To != "") { // there it is a conflict that the plan would list
			f.call("POST", "/apply", c).problem(t, 409, "moved")
		}
		f.write("a.txt", "changed\n")
		var done cairn.Result
		f.call("POST", "/apply", c).want(t, 200, &done)
		if done.Operation == "" {
			t.Errorf("%+v", done)
		}
		gittest.AssertTree(t, f.root, someTree)
		var undone cairn.Result
		f.call("POST", "/undo", BackRequest{DryRun: true}).want(t, 200, &undone)
		f.call("POST", "/undo", BackRequest{Plan: undone.PlanID}).want(t, 200, &undone)
		f.call("POST", "/redo", "").want(t, 200, nil)
		f.call("POST", "/undo", "").want(t, 200, nil)
	}
	f.call("POST", "/redo", `{"paths":["../x"]}`).problem(t, 400, "outside")
	f.call("POST", "/apply", ChangeRequest{Action: "revert", From: hash, To: "@", OnConflict: "fail"}).want(t, 200, nil)
}

func TestPins(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	hash := f.track()
	name := url.PathEscape("before/the release")
	f.call("PUT", "/pins/"+name, map[string]string{"hash": "@"}).want(t, 204, nil)
	var pins []cairn.Pin
	f.call("GET", "/pins", nil).want(t, 200, &pins)
	if len(pins) != 1 || pins[0].Name != "before/the release" || pins[0].Hash != hash {
		t.Errorf("%+v", pins)
	}
	gittest.Create(t, f.root, gittest.Tree{"new": gittest.File("n\n")})
	f.track()
	f.call("PUT", "/pins/"+name, map[string]string{"hash": "@"}).problem(t, 409, "exists")
	f.call("GET", "/checkpoints/"+name, nil).want(t, 200, nil)
	f.call("PUT", "/pins/@x", map[string]string{"hash": "@"}).problem(t, 400, "name")
	f.call("DELETE", "/pins/"+name, nil).want(t, 204, nil)
	f.call("DELETE", "/pins/"+name, nil).problem(t, 404, "not-found")
}

// TestClosedServer: after Close nothing is served that could not be finished.
func TestClosedServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	f.server.Drain()
	if r := f.call("GET", "/events", nil); r.status != http.StatusOK {
		t.Errorf("status %d", r.status) // it ends at once instead of never
	}
	f.call("GET", "/status", nil).want(t, 200, nil)
}

// V23: a directory below one that has a store belongs to that store.
func TestV23_RegisterBelowAStore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"sub/f": gittest.File("x")})
	sub := filepath.Join(f.root, "sub")
	if root, err := f.server.Register(sub, false); err != nil || root != sub {
		t.Fatalf("without a store: %s, %v", root, err)
	}
	if r := f.call(http.MethodPost, "/track", map[string]string{}); r.status != http.StatusOK {
		t.Fatalf("track: %d %s", r.status, r.body)
	}
	if root, err := f.server.Register(sub, false); err != nil || root != f.root {
		t.Errorf("below a store: %s, %v", root, err)
	}
	if root, err := f.server.Register(sub, true); err != nil || root != sub {
		t.Errorf("exactly: %s, %v", root, err)
	}
}
