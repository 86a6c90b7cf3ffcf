package httpapi

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

var someTree = gittest.Tree{
	"a.txt": gittest.File("alpha\n"), "d/b.go": gittest.File("package b\n"), "link": gittest.Link("a.txt"),
	"page.html": gittest.File("<script>alert(1)</script>"), "blob": gittest.File("\x00\x01\x02"),
}

// TestBeforeTheFirstTrack: reading makes no store; there is nothing to be found.
func TestBeforeTheFirstTrack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	for _, target := range []string{"/status", "/checkpoints", "/operations", "/pins", "/usage", "/patch", "/diff", "/sessions", "/session/x", "/checkpoints/@/files"} {
		f.call("GET", target, nil).problem(t, 404, "not-found")
	}
	if _, err := os.Stat(f.dataDir); err == nil {
		t.Error("reading has made a store")
	}
}

func TestTrack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	var first protocol.Track
	f.call("POST", "/track", TrackRequest{Message: "the first"}).want(t, 200, &first)
	if first.Files != 5 || first.Hash == "" || first.Checkpoint == "" {
		t.Errorf("%+v", first)
	}
	var again protocol.Track
	f.call("POST", "/track", struct{}{}).want(t, 200, &again)
	if again.Hash != first.Hash || again.Changed != 0 {
		t.Errorf("%+v", again)
	}
	var status Status
	f.call("GET", "/status", nil).want(t, 200, &status)
	if status.Root != f.root || status.Checkpoint.Message != "the first" || status.Changed != 0 || status.Size == 0 {
		t.Errorf("%+v", status)
	}
	gittest.Create(t, f.root, gittest.Tree{"new": gittest.File("n\n")})
	f.call("GET", "/status", nil).want(t, 200, &status)
	if status.Changed != 1 {
		t.Errorf("%d changed, not 1", status.Changed)
	}
}

// TestCheckpointPages walks the list in pages of two.
func TestCheckpointPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	var want []string
	for _, m := range []string{"one", "two", "three", "four", "five"} {
		var tr protocol.Track
		f.call("POST", "/track", TrackRequest{Message: m}).want(t, 200, &tr)
		want = append([]string{tr.Checkpoint}, want...)
	}
	var got []string
	for after := ""; ; {
		var list CheckpointList
		f.call("GET", "/checkpoints?limit=2&after="+after, nil).want(t, 200, &list)
		for _, c := range list.Checkpoints {
			got = append(got, c.ID)
		}
		if after = list.Next; after == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	f.call("GET", "/checkpoints?after=nothing", nil).problem(t, 400, "bad-request")
	if text := f.call("GET", "/checkpoints?limit=0", nil).problem(t, 400, "bad-request"); !strings.Contains(text, "query.limit") {
		t.Error(text)
	}
	var one CheckpointInfo
	f.call("GET", "/checkpoints/@~1", nil).want(t, 200, &one)
	if one.Message != "four" {
		t.Errorf("%+v", one)
	}
	f.call("GET", "/checkpoints/0123456789abcdef0123456789abcdef01234567", nil).problem(t, 404, "not-found")
}

func TestFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	var list []TreeEntry
	f.call("GET", "/checkpoints/@/files", nil).want(t, 200, &list)
	var names []string
	for _, e := range list {
		names = append(names, e.Path)
	}
	if diff := cmp.Diff([]string{"a.txt", "blob", "d/b.go", "link", "page.html"}, names); diff != "" {
		t.Error(diff)
	}
	f.call("GET", "/checkpoints/@/files?path=d", nil).want(t, 200, &list)
	if len(list) != 1 {
		t.Errorf("%+v", list)
	}
	f.call("GET", "/checkpoints/@/files?path=none", nil).problem(t, 404, "not-found")
	for path, want := range map[string][2]string{
		"a.txt": {"alpha\n", "text/plain; charset=utf-8"}, "link": {"a.txt", "text/plain; charset=utf-8"},
		"page.html": {"<script>alert(1)</script>", "text/plain; charset=utf-8"}, "blob": {"\x00\x01\x02", "application/octet-stream"},
	} {
		r := f.call("GET", "/checkpoints/@/file?path="+path, nil).want(t, 200, nil)
		if string(r.body) != want[0] || r.header.Get("Content-Type") != want[1] || r.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %q as %s", path, r.body, r.header.Get("Content-Type"))
		}
	}
	var e Existence
	f.call("GET", "/checkpoints/@/exists?path=d", nil).want(t, 200, &e)
	if !e.Exists {
		t.Error("a directory does not exist")
	}
	f.call("GET", "/checkpoints/@/exists?path=nope", nil).want(t, 200, &e)
	if e.Exists {
		t.Error("a path exists that does not")
	}
	f.call("GET", "/checkpoints/@/file?path=d", nil).problem(t, 404, "not-found")
	f.call("GET", "/checkpoints/@/file", nil).problem(t, 400, "bad-request")
	for _, path := range []string{"../x", "/etc/passwd", "d/../../x", "a\x00b"} {
		f.call("GET", "/checkpoints/@/file?path="+url.QueryEscape(path), nil).problem(t, 400, "outside")
	}
}

// TestPathsOfAnyBytes: a path of any bytes goes through JSON and through the address.
func TestPathsOfAnyBytes(t *testing.T) {
	t.Parallel()
	name := "caf\xe9 \u00e9\t%2F.txt"
	f := newFixture(t, gittest.Tree{name: gittest.File("x\n")})
	f.track()
	var list []TreeEntry
	f.call("GET", "/checkpoints/@/files", nil).want(t, 200, &list)
	path, err := pathtext.Decode(list[0].Path)
	if err != nil || path != name {
		t.Fatalf("%q, %v", list[0].Path, err)
	}
	r := f.call("GET", "/checkpoints/@/file?path="+url.QueryEscape(name), nil).want(t, 200, nil)
	if string(r.body) != "x\n" {
		t.Errorf("%q", r.body)
	}
	if err := os.Remove(filepath.Join(f.root, name)); err != nil {
		t.Fatal(err)
	}
	r = f.call("POST", "/apply", ChangeRequest{Action: "restore", Hash: "@", Paths: []string{pathtext.Encode(name)}})
	var form struct{ Restored []string }
	r.want(t, 200, &form)
	if len(form.Restored) != 1 || form.Restored[0] != pathtext.Encode(name) {
		t.Errorf("%s", r.body)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{name: gittest.File("x\n")})
}

// TestTwins: what /openapi.json says about the library's types is what they print.
func TestTwins(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	gittest.Create(t, f.root, gittest.Tree{"new": gittest.File("n\n")})
	f.track()
	for target, twin := range map[string]any{
		"/changes?from=@~1&to=@": &[]Change{}, "/patch?from=@~1&to=@": &Patch{},
		"/checkpoints/@/files": &[]TreeEntry{},
	} {
		strict(t, f.call("GET", target, nil).want(t, 200, nil).body, twin)
	}
}

// strict reads JSON into a type, which must know every key, and writes it again,
// which must give the same.
func strict(t *testing.T, data []byte, v any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		t.Errorf("%v: %s", err, data)
		return
	}
	again, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if json.Unmarshal(data, &a) != nil || json.Unmarshal(again, &b) != nil {
		t.Fatal("not JSON")
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
}
