package httpapi

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// golden is a request to OpenCode 1.18.33 and its answer, as captured.
type golden struct {
	Request struct {
		Method, Path string
		Body         json.RawMessage
	}
	Status   int
	Response any
}

// check sends the request of a golden file and compares the answer field by field, but
// for the fields that only the agent itself knows. edit may change the expected answer
// where cairn departs from OpenCode on purpose.
func (f *fixture) check(name string, edit ...func(want, got any)) any {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "opencode", filepath.FromSlash(name)+".json"))
	if err != nil {
		f.t.Fatal(err)
	}
	data = []byte(strings.ReplaceAll(string(data), "/home/dev/project", filepath.ToSlash(f.root)))
	var g golden
	if err := json.Unmarshal(data, &g); err != nil {
		f.t.Fatal(err)
	}
	r := f.call(g.Request.Method, "/opencode"+g.Request.Path, string(g.Request.Body))
	var got any
	if err := json.Unmarshal(r.body, &got); err != nil {
		f.t.Fatalf("%s: %v: %s", name, err, r.body)
	}
	for _, e := range edit {
		e(g.Response, got)
	}
	if diff := cmp.Diff(plain(g.Response), plain(got)); diff != "" || r.status != g.Status {
		f.t.Errorf("%s: status %d, not %d (- captured, + got):\n%s", name, r.status, g.Status, diff)
	}
	return got
}

// plain takes out of a session what only the agent itself knows. The times must be
// there.
func plain(v any) any {
	m, ok := v.(map[string]any)
	if !ok || m["projectID"] == nil {
		return v
	}
	out := make(map[string]any)
	for key, value := range m {
		switch key {
		case "slug", "projectID", "tokens", "agent", "model", "version":
		case "time":
			_, created := value.(map[string]any)["created"].(float64)
			_, updated := value.(map[string]any)["updated"].(float64)
			out[key] = created && updated
		default:
			out[key] = value
		}
	}
	return out
}

const (
	ocID  = "ses_e0483e254ffesVy0WRHpPPy7Q9"
	user1 = "msg_1fb7c1f210014f7DxgtcbbdhPe"
	user2 = "msg_1fb7c4889001ICtgBWpywnUDFV"
)

// assistant records a message of the model with one step.
func (f *fixture) assistant(id, message string, do func(), parts ...session.Part) {
	f.t.Helper()
	path := "/session/" + id + "/steps"
	f.call("POST", path, StepBegin{MessageID: message, Role: "assistant", StepID: "step-" + message}).want(f.t, 200, nil)
	do()
	f.call("POST", path+"/step-"+message+"/end", StepEnd{Parts: parts}).want(f.t, 200, nil)
}

func (f *fixture) user(id, message, part string) {
	f.t.Helper()
	f.call("POST", "/session/"+id+"/messages", MessageBegin{MessageID: message, Role: "user", Parts: []session.Part{{ID: part, Type: "text"}}}).want(f.t, 200, nil)
}

// newOpenCode is the project of the captures, with the session that they are about.
func newOpenCode(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, gittest.Tree{
		"edit.txt": gittest.File("old\n"), "del.txt": gittest.File("bye\n"), "keep.txt": gittest.File("one\ntwo\nthree\nuser-dirty\n"),
		".gitignore": gittest.File("*.log\nnode_modules\n"), "bin.dat": gittest.File("\x00\x01"), "untracked.txt": gittest.File("mine\n"),
	})
	gittest.NewOracle(t).Init(f.root)
	f.call("POST", "/sessions", SessionBegin{ID: ocID, Title: "golden"}).want(t, 200, nil)
	f.user(ocID, user1, "prt_1fb7c1f2d0014b1O43OZsVdgyz")
	f.assistant(ocID, "msg_1fb7c2caf001kzcLxKpWSHut21", func() { f.write("new.txt", "hello\n") },
		session.Part{ID: "prt_1fb7c3df2001LEwAPNAkimWzcy", Type: "step-start"}, session.Part{ID: "prt_1fb7c3df70016TV45Rzh0xMcaV", Type: "tool"},
		session.Part{ID: "prt_1fb7c3f62001mL2k1yjEVQ7rLZ", Type: "step-finish"}, session.Part{ID: "prt_1fb7c4007001XCNbtcmig1lr48", Type: "patch"})
	f.assistant(ocID, "msg_1fb7c401a001arqAuLWGUic0Tn", func() {
		f.write("edit.txt", "NEW\n")
		f.remove("del.txt")
		f.write("made-by-bash.txt", "x\n")
		f.write("ignored.log", "i\n")
		f.write("bin.dat", "\x01\x02\x03")
	}, session.Part{ID: "prt_1fb7c40d6001SXu7Aw01Tg9ZhM", Type: "step-start"}, session.Part{ID: "prt_1fb7c40e30012Y8HCZoNajYqj1", Type: "tool"},
		session.Part{ID: "prt_1fb7c40fb0016qTwLdr9E5nSZ5", Type: "tool"}, session.Part{ID: "prt_1fb7c43e4001p9Vi1tYKW2FA97", Type: "step-finish"},
		session.Part{ID: "prt_1fb7c44b2001CUbuPD22b0te9p", Type: "patch"})
	f.assistant(ocID, "msg_1fb7c44c4001I0biKxTgzbdO7C", func() {}, session.Part{ID: "prt_1fb7c45920016T4Ofb6r2kOhBu", Type: "text"})
	f.user(ocID, user2, "prt_1fb7c4890001jw5RiNgmeRudng")
	f.assistant(ocID, "msg_1fb7c48e9001Cu9lyGAa3z57dm", func() { f.write("keep.txt", "one\nTWO\nthree\nuser-dirty\n") },
		session.Part{ID: "prt_1fb7c4aeb001Xvt4PlZzh8Xjrd", Type: "tool"}, session.Part{ID: "prt_1fb7c4d08001psM5l2b0GfCH39", Type: "patch"})
	f.assistant(ocID, "msg_1fb7c4d160014DsEHKAdzOqumH", func() {
		if err := os.MkdirAll(filepath.Join(f.root, "sub", "deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		f.write("sub/deep/n.txt", "n\n")
	}, session.Part{ID: "prt_1fb7c4dea001wl37RvDP4WiVd2", Type: "tool"}, session.Part{ID: "prt_1fb7c4fd5001CDInncGR8CqQDH", Type: "patch"})
	f.assistant(ocID, "msg_1fb7c4fde001Utm6g2DmNDzWOr", func() {}, session.Part{ID: "prt_1fb7c5090001780bYldn3SeBXA", Type: "text"})
	return f
}

func (f *fixture) remove(name string) {
	f.t.Helper()
	if err := os.Remove(filepath.Join(f.root, filepath.FromSlash(name))); err != nil {
		f.t.Fatal(err)
	}
}

// TestOpenCode replays the captured requests in their order.
func TestOpenCode(t *testing.T) {
	t.Parallel()
	f := newOpenCode(t)
	after := gittest.Manifest(t, f.root)
	f.check("10-diff-user1")
	f.check("11-diff-user2")
	f.check("13-revert-user2", f.ourState)
	f.check("15-revert-user1", f.ourState)
	// OpenCode does not delete again what the agent had deleted, which shows in later
	// captures; here everything is as it was.
	f.check("16-unrevert")
	gittest.AssertEqual(t, "after unrevert", after, gittest.Manifest(t, f.root))
	f.check("17-unrevert-again-noop")
	f.check("18-revert-part", f.ourState, func(want, _ any) {
		revert := want.(map[string]any)["revert"].(map[string]any)
		revert["diff"] = strings.Replace(revert["diff"].(string), "diff --git a/edit.txt",
			"diff --git a/del.txt b/del.txt\nnew file mode 100644\nindex 0000000..b023018\n--- /dev/null\n+++ b/del.txt\n@@ -0,0 +1 @@\n+bye\ndiff --git a/edit.txt", 1)
	})
	f.check("19-unrevert-2")
	f.check("20-revert-unknown")
	f.check("21-diff-unknown-session")
	f.check("22-revert-unknown-session")
	f.check("23-revert-bad-body")
	fork := f.check("24-fork", func(want, got any) { want.(map[string]any)["id"] = got.(map[string]any)["id"] })
	if id := fork.(map[string]any)["id"].(string); !strings.HasPrefix(id, "ses_") || id == ocID {
		t.Error(id)
	}
	f.check("27-revert-before-prompt", f.ourState)
}

// ourState puts what depends on files that the captures do not show, and on what
// OpenCode's unrevert had left different, into an expected answer: the id of the
// snapshot, and that of the first contents of bin.dat.
func (f *fixture) ourState(want, _ any) {
	revert := want.(map[string]any)["revert"].(map[string]any)
	revert["snapshot"] = f.snapshot(ocID)
	revert["diff"] = strings.Replace(revert["diff"].(string), "aed2973..6772730", "aed2973..bdc955b", 1)
}

// TestOpenCodeWhole: without messageID the diff is the whole session's, and not [].
func TestOpenCodeWhole(t *testing.T) {
	t.Parallel()
	f := newOpenCode(t)
	var list []struct{ File, Status, Patch string }
	f.call("GET", "/opencode/session/"+ocID+"/diff?workspace=w&directory="+url.QueryEscape(f.root), nil).want(t, 200, &list)
	var files []string
	for _, d := range list {
		files = append(files, d.File)
	}
	if want := []string{"bin.dat", "del.txt", "edit.txt", "keep.txt", "made-by-bash.txt", "new.txt", "sub/deep/n.txt"}; !slices.Equal(files, want) {
		t.Errorf("%q", files)
	}
	for _, message := range []string{"msg_none", "msg_1fb7c401a001arqAuLWGUic0Tn"} { // unknown, and not the user's
		f.call("GET", "/opencode/session/"+ocID+"/diff?messageID="+message, nil).want(t, 200, &list)
		if len(list) != 0 {
			t.Errorf("%s: %+v", message, list)
		}
	}
	f.call("GET", "/opencode/session/ses_nope/diff?messageID=msg_x", nil).want(t, 404, nil)
	var all []map[string]any
	f.call("GET", "/opencode/session", nil).want(t, 200, &all)
	if len(all) != 1 || all[0]["id"] != ocID {
		t.Errorf("%v", all)
	}
	f.call("GET", "/opencode/session/"+ocID, nil).want(t, 200, nil)
	for _, target := range []string{"/opencode/nothing", "/opencode/", "/opencode/session/x/y/z"} {
		f.call("GET", target, nil).want(t, 404, &struct{ Name string }{})
	}
	for _, body := range []string{`{"messageID":1}`, `[]`, `{`, `{"messageID":"m","partID":{}}`, `null`, ``} {
		var e named
		f.call("POST", "/opencode/session/"+ocID+"/revert", body).want(t, 400, &e)
		if e.Name != "BadRequest" || e.Data["message"] == "" {
			t.Errorf("%s: %+v", body, e)
		}
	}
}

// TestOpenCodeEdges: line ends, links, modes, large contexts and names that are not
// ASCII.
func TestOpenCodeEdges(t *testing.T) {
	t.Parallel()
	id, user := "ses_e047ae0e4ffecigZgH3086hkML", "msg_1fb851f7a001Qd0U47NwkbcoUe"
	var big strings.Builder
	for i := range 60 {
		big.WriteString("line " + itoa(i) + "\n")
	}
	f := newFixture(t, gittest.Tree{
		"big.txt": gittest.File(big.String()), "crlf.txt": gittest.File("a\r\nb\r\n"), "sp ace é.txt": gittest.File("x\n"),
		"run.sh": gittest.Exec("#!/bin/sh\n"), "link": gittest.Link("big.txt"),
	})
	f.call("POST", "/sessions", SessionBegin{ID: id, Title: "e"}).want(t, 200, nil)
	f.user(id, user, "prt_1")
	f.assistant(id, "msg_1fb85270b0011Fxjp22JpYtrUU", func() {
		f.write("big.txt", strings.ReplaceAll(big.String(), "line 30", "LINE 30"))
		f.write("crlf.txt", "a\r\nB\r\n")
		f.write("sp ace é.txt", "y\n")
		f.write("nonl.txt", "n")
		f.remove("link")
		gittest.Create(t, f.root, gittest.Tree{"link": gittest.Link("crlf.txt")})
		if err := os.Chmod(filepath.Join(f.root, "run.sh"), 0o644); err != nil {
			t.Fatal(err)
		}
	})
	f.check("edge/05-edge-diff")
	f.check("edge/06-edge-revert", func(want, _ any) {
		// OpenCode cannot find the name that is not ASCII and deletes the file. Here it
		// goes back like the others.
		revert := want.(map[string]any)["revert"].(map[string]any)
		revert["snapshot"] = f.snapshot(id)
		text := revert["diff"].(string)
		at := strings.Index(text, "diff --git a/sp ace")
		revert["diff"] = text[:at] + "diff --git a/sp ace é.txt b/sp ace é.txt\nindex 975fbec..587be6b 100644\n--- a/sp ace é.txt\t\n+++ b/sp ace é.txt\t\n@@ -1 +1 @@\n-y\n+x"
	})
}

func itoa(n int) string {
	data, _ := json.Marshal(n)
	return string(data)
}

// snapshot is the tree of the newest checkpoint of a session.
func (f *fixture) snapshot(id string) string {
	f.t.Helper()
	var list []session.Message
	f.call("GET", "/session/"+id+"/history", nil).want(f.t, 200, &list)
	steps := list[len(list)-1].Steps
	return steps[len(steps)-1].After.Hash
}

func TestOpenCodeBusy(t *testing.T) {
	t.Parallel()
	id := "ses_e047ab0c9ffery4ZRihTFbvIwg"
	f := newFixture(t, someTree)
	f.user(id, "msg_1fb854f3f001q9Z0CojadV6lge", "prt_1")
	f.call("POST", "/session/"+id+"/steps", StepBegin{MessageID: "m", Role: "assistant"}).want(t, 200, nil)
	f.check("edge/13-busy-revert")
}

// TestOpenCodeForkUnknown: the answer names the session or the message that is missing.
func TestOpenCodeForkUnknown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.user("ses_1", "msg_1", "prt_1")
	for target, want := range map[string]string{"ses_1": "Message not found: msg_x", "ses_x": "Session not found: ses_x"} {
		var e named
		f.call("POST", "/opencode/session/"+target+"/fork", `{"messageID":"msg_x"}`).want(t, 404, &e)
		if e.Name != "NotFoundError" || e.Data["message"] != want {
			t.Errorf("%s: %+v", target, e)
		}
	}
}

// TestOpenCodeRefused: a refusal that waiting does not change is not told as a busy session.
func TestOpenCodeRefused(t *testing.T) {
	t.Parallel()
	f, off := newSwitchedFixture(t)
	f.user("ses_1", "msg_1", "prt_1")
	f.assistant("ses_1", "msg_2", func() { f.write("new.txt", "new\n") })
	off.Store(true)
	var e named
	f.call("POST", "/opencode/session/ses_1/revert", `{"messageID":"msg_1"}`).want(t, 409, &e)
	if message, _ := e.Data["message"].(string); e.Name != "UnknownError" || !strings.Contains(message, switchedOff) {
		t.Errorf("%+v", e)
	}
}
