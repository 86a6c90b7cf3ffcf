package httpapi

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestBadBodies: every one is a 400 that names the field.
func TestBadBodies(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	f.step("s", "m", "1", func() { f.write("a.txt", "1\n") })
	for _, c := range []struct{ method, target, body, field string }{
		{"POST", "/track", `{"message":1}`, "body.message"},
		{"POST", "/track", `{"verify":"yes"}`, "body.verify"},
		{"POST", "/track", `{"mesage":"x"}`, "body"},
		{"POST", "/track", `[]`, "body"},
		{"POST", "/track", `null`, "body"},
		{"POST", "/track", `"text"`, "body"},
		{"POST", "/track", `{"message":`, "body"},
		{"POST", "/track", ``, "body"},
		{"POST", "/track", `{"paths":"x"}`, "body.paths"},
		{"POST", "/track", `{"paths":[1]}`, "body.paths[0]"},
		{"POST", "/track", `{"paths":[""]}`, "body.paths"},
		{"POST", "/track", `{"deadline":0}`, "body.deadline"},
		{"POST", "/track", `{"onlyPaths":true}`, "body.paths"},
		{"POST", "/plan", `{"action":"explode"}`, "body.action"},
		{"POST", "/plan", `{}`, "action"},
		{"POST", "/plan", `{"action":"restore"}`, "body.hash"},
		{"POST", "/plan", `{"action":"revert"}`, "body.from"},
		{"POST", "/plan", `{"action":"undo","hash":"@"}`, "body.hash"},
		{"POST", "/plan", `{"action":"restore","hash":"@","onConflict":"keep"}`, "body.onConflict"},
		{"POST", "/apply", `{"action":"restore","hash":"@","planID":"zz"}`, "body.planID"},
		{"POST", "/undo", `{"onConflict":"explode"}`, "body.onConflict"},
		{"POST", "/projects", `{"directory":"relative"}`, "body.directory"},
		{"POST", "/projects", `{"directory":7}`, "body.directory"},
		{"POST", "/projects", `{"dir":"/"}`, "dir"},
		{"PUT", "/pins/x", `{}`, "hash"},
		{"POST", "/sessions", `{"id":""}`, "body.id"},
		{"POST", "/sessions", `{"id":"` + strings.Repeat("x", 10_000) + `"}`, "body.id"},
		{"POST", "/sessions", `{"id":"s","meta":{"a":1}}`, "body.meta"},
		{"POST", "/session/s/revert", `{}`, "messageID"},
		{"POST", "/session/s/revert", `{"messageID":["m"]}`, "body.messageID"},
		{"POST", "/session/s/revert", `{"messageID":"m","files":[]}`, "body"},
		{"POST", "/session/s/revert", `{"hunks":[]}`, "body.hunks"},
		{"POST", "/plan", `{"action":"restore","hash":"@","paths":[]}`, "body.paths"},
		{"POST", "/undo", `{"paths":[]}`, "body.paths"},
		{"POST", "/merge", `{"hash":"@","paths":[]}`, "body.paths"},
		{"POST", "/compare", `{"sources":null}`, "body.sources"},
		{"POST", "/session/s/revert", `{"hunks":"0123456789ab"}`, "body.hunks"},
		{"POST", "/session/s/revert", `{"hunks":["012"]}`, "body.hunks"},
		{"POST", "/session/s/revert", `{"hunks":["0123456789ab"],"turn":"1"}`, "body.turn"},
		{"POST", "/session/s/revert", `{"hunks":["0123456789ab"],"turn":1,"messageID":"m"}`, "body.turn"},
		{"POST", "/session/s/revert", `{"hunks":["0123456789ab"],"partID":"p"}`, "body.partID"},
		{"POST", "/session/s/revert", `{"hunks":["0123456789ab"],"start":true}`, "body.start"},
		{"POST", "/session/s/revert", `{"hunks":["0123456789ab"],"endOpen":true}`, "body.endOpen"},
		{"POST", "/session/s/revert", `{"turn":1,"endOpen":true}`, "body.endOpen"},
		{"POST", "/session/s/revert", `{"messageID":"m","stepID":"1"}`, "body.stepID"},
		{"POST", "/session/s/revert", `{"lines":[{"path":"a.txt","from":1}]}`, "body.lines[0]"},
		{"POST", "/session/s/revert", `{"lines":[{"path":"a.txt","from":0,"to":1}]}`, "body.lines[0].from"},
		{"POST", "/session/s/revert", `{"lines":[{"path":"a.txt","from":2,"to":1}]}`, "body.lines[0].to"},
		{"POST", "/session/s/revert", `{"lines":[{"path":"a\u0000zz","from":1,"to":1}]}`, "body.lines[0].path"},
		{"GET", "/session/s/hunks?turn=one", ``, "query.turn"},
		{"GET", "/session/s/hunks?turn=1&messageID=m", ``, "query.turn"},
		{"POST", "/plan", `{"action":"undo","hunks":["0123456789ab"]}`, "body.hunks"},
		{"POST", "/plan", `{"action":"restore","hash":"@","lines":[{"path":"a.txt","from":1,"to":1}]}`, "body.lines"},
		{"POST", "/session/s/unrevert", `{"x":1}`, "body"},
		{"POST", "/session/s/steps", `{"paths":{"a":1}}`, "body.paths"},
		{"GET", "/diff?context=many", ``, "query.context"},
		{"GET", "/diff?contxt=3", ``, "query.contxt"},
		{"GET", "/status?directory=relative", ``, "query.directory"},
	} {
		text := f.call(c.method, c.target, c.body).problem(t, 400, "bad-request")
		if !strings.Contains(text, c.field) && !(c.body == "" && strings.Contains(text, "body")) {
			t.Errorf("%s %s %.60s: %s is not named in %q", c.method, c.target, c.body, c.field, text)
		}
	}
}

// TestLargeBodies: one that says how large it is, and one that does not.
func TestLargeBodies(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	large := `{"message":"` + strings.Repeat("x", 10<<20) + `"}`
	f.call("POST", "/track", large).problem(t, 413, "too-large")
	r := request(t, "POST", "/track", large)
	r.ContentLength = -1
	call(t, f.door, r).problem(t, 413, "too-large")
	// One that is just not too large goes through to the checks of its fields.
	f.call("POST", "/track", `{"message":"`+strings.Repeat("x", DefaultMaxBody-100)+`"}`).problem(t, 400, "bad-request")
	r = request(t, "POST", "/track", `{}`)
	r.Header.Set("Content-Type", "text/plain")
	call(t, f.door, r).problem(t, 415, "bad-request")
}

// TestDiffOfNothing: a path that nothing has is most likely a typing error. One without a difference is not.
func TestDiffOfNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	for _, path := range []string{"/diff", "/diff/text", "/changes"} {
		f.call("GET", path+"?path=a.txt", nil).want(t, 200, nil)
		f.call("GET", path+"?path=.&from=@&to=@", nil).want(t, 200, nil)
		f.call("GET", path+"?path=a.txt&path=a.tx", nil).problem(t, 404, "not-found")
		f.call("GET", path+"?from=@&to=@&path=a.tx", nil).problem(t, 404, "not-found")
	}
}

// TestForeignHashes: a blob, the tree of a directory and the checkpoint of another
// project are no checkpoints here.
func TestForeignHashes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	var list []TreeEntry
	f.call("GET", "/checkpoints/@/files", nil).want(t, 200, &list)
	other := newFixture(t, gittest.Tree{"other": gittest.File("other\n")})
	for _, hash := range []string{list[0].ID, other.track(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904"} {
		f.call("GET", "/checkpoints/"+hash, nil).problem(t, 404, "not-found")
		f.call("GET", "/diff?from="+hash, nil).problem(t, 404, "not-found")
		f.call("POST", "/apply", ChangeRequest{Action: "restore", Hash: hash}).problem(t, 404, "not-found")
		f.call("PUT", "/pins/x", map[string]string{"hash": hash}).problem(t, 404, "not-found")
	}
	gittest.AssertTree(t, f.root, someTree)
}

// TestFieldsWithoutEffect: a field that would have no effect is refused, and nothing is done.
func TestFieldsWithoutEffect(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	for _, body := range []string{
		`{"action":"restore","hash":"@","thisRoot":true}`, `{"action":"revert","from":"@","thisRoot":true}`, `{"action":"revert","from":"@","git":true}`,
		`{"action":"undo","outside":true,"paths":["a"]}`, `{"action":"redo","outside":true,"paths":["a"]}`, `{"action":"undo","git":true,"paths":["a"]}`,
	} {
		f.call("POST", "/plan", body).problem(t, 400, "bad-request")
		f.call("POST", "/apply", body).problem(t, 400, "bad-request")
	}
	f.call("POST", "/session/s/steps", `{"messageID":"m","stepID":"1"}`).want(t, 200, nil)
	f.call("POST", "/session/s/steps/1/end", nil).want(t, 200, nil)
	for _, field := range []string{"git", "outside", "endOpen", "start"} {
		f.call("POST", "/session/s/revert", `{"hunks":["0123"],"messageID":"m","`+field+`":true}`).problem(t, 400, "bad-request")
	}
}

// TestNoSuchOperation: also these answers are problem documents.
func TestNoSuchOperation(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	for _, target := range []string{"/nothing", "/", "/session", "/session//diff", "/docs", "/schemas/Result.json", "/openapi.yaml", "//status", "/checkpoints/../status", "/project/", "/ui/x"} {
		f.call("GET", target, nil).want(t, 404, nil)
	}
	r := f.call("PATCH", "/track", `{}`)
	r.problem(t, 405, "bad-request")
	if r.header.Get("Allow") != "POST" {
		t.Error(r.header)
	}
	f.call("GET", "/"+strings.Repeat("x", 40_000), nil).problem(t, 414, "bad-request")
}

// TestV63_NoInternalsInProblems: a body that is no JSON is told in words for people.
func TestV63_NoInternalsInProblems(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	internals := regexp.MustCompile(`strconv\.|invalid character|\bEOF\b|unexpected end of JSON|cannot unmarshal|json: |goroutine`)
	for _, target := range []string{"POST /track", "POST /sessions", "POST /plan", "POST /session/s/steps", "POST /projects", "POST /gc"} {
		method, path, _ := strings.Cut(target, " ")
		for _, body := range []string{"{", "[", "garbage", `{"message":`, "[]", "7", `"x"`} {
			if got := f.call(method, path, body); got.status >= 400 && (got.status >= 500 || internals.Match(got.body)) {
				t.Errorf("%s %s: %d %s", target, body, got.status, got.body)
			}
		}
	}
	for _, query := range []string{"/checkpoints?limit=x", "/checkpoints?limit=99999999999999999999", "/operations?limit=-1"} {
		if got := f.call("GET", query, nil); got.status != 400 || internals.Match(got.body) {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

// TestCleaningTwice: a cleaning beside that of another process is a conflict.
func TestCleaningTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	f.track()
	other := flock.New(filepath.Join(f.dataDir, "snapshot", cairn.ProjectID(f.root), "cairn", "collect"))
	if err := other.Lock(); err != nil {
		t.Fatal(err)
	}
	f.call("POST", "/gc", `{}`).problem(t, 409, "locked")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	f.call("POST", "/gc", `{}`).want(t, 200, nil)
}
