package httpapi

import (
	"errors"
	"io/fs"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestCheckout: a plan makes nothing, a copy is exact, and events tell how far it has come.
func TestCheckout(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("ign/\n*.log\n"), "a": gittest.File("12345"), "ign/x": gittest.File("x"), "out.log": gittest.File("log"), "d/run": gittest.Exec("r")})
	hash := f.track()
	whole := gittest.Manifest(t, f.root)
	dir := filepath.Join(t.TempDir(), "copy")

	var plan, done cairn.CheckoutResult
	f.call("POST", "/checkout", CheckoutRequest{Hash: hash, Dir: dir, WithIgnored: true, DryRun: true}).want(t, 200, &plan)
	if plan.Files != 3 || plan.Ignored.Files != 2 || !plan.DryRun || plan.Hash != hash {
		t.Errorf("%+v", plan)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("after a plan: %v", err)
	}

	web := httptest.NewServer(f.door)
	defer web.Close()
	defer f.server.Drain()
	next := listen(t, web.URL+"/events?directory="+url.QueryEscape(f.root))
	next() // hello
	f.call("POST", "/checkout", CheckoutRequest{Hash: hash, Dir: dir, WithIgnored: true}).want(t, 200, &done)
	gittest.AssertEqual(t, "the copy", whole, gittest.Manifest(t, dir))
	if string(done.Dir) != dir || done.Files != 3 || done.Ignored.Files != 2 || !done.Complete() {
		t.Errorf("%+v", done)
	}
	e := next()
	for ; e.Type == EventProgress; e = next() {
		if e.Dir != dir || e.Files > e.Total || e.Total == 0 {
			t.Errorf("%+v", e)
		}
	}
	if e.Type != EventCopy || e.Dir != dir || e.Files != 5 || e.Hash != hash {
		t.Errorf("%+v", e)
	}

	some := filepath.Join(t.TempDir(), "copy")
	f.call("POST", "/checkout", CheckoutRequest{Hash: "@", Dir: some, Patterns: []string{"*.log"}}).want(t, 200, &done)
	if done.Ignored.Files != 1 || done.Ignored.Bytes != 3 {
		t.Errorf("%+v", done)
	}
}

func TestCheckoutRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
	f.track()
	before := gittest.Manifest(t, f.root)
	taken := t.TempDir()
	gittest.Create(t, taken, gittest.Tree{"mine": gittest.File("m")})
	absent := filepath.Join(t.TempDir(), "copy")
	for _, c := range []struct {
		hash, dir, kind string
		status          int
	}{
		{"@", "", "bad-request", 400}, {"", absent, "bad-request", 400}, {"@", "relative", "bad-request", 400}, {"@", absent + "\x00zz", "bad-request", 400},
		{"@", taken, "place", 400}, {"@", filepath.Join(f.root, "in"), "place", 400}, {"@", f.root, "place", 400},
		{"@", filepath.Join(f.dataDir, "in"), "place", 400}, {"@", filepath.Join(absent, "deep"), "place", 400},
		{"0123456789", absent, "not-found", 404}, {"@~9", absent, "not-found", 404},
	} {
		f.call("POST", "/checkout", CheckoutRequest{Hash: c.hash, Dir: c.dir}).problem(t, c.status, c.kind)
	}
	gittest.AssertEqual(t, "the root", before, gittest.Manifest(t, f.root))
	gittest.AssertTree(t, taken, gittest.Tree{"mine": gittest.File("m")})
	if _, err := os.Lstat(absent); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
