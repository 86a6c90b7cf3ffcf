package webui

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
	"github.com/seed-fb9cbc17/cairn/session"
)

// look is a window in which a view is looked at.
type look struct {
	colours string
	width   int
}

// looks are a phone, a small and a large window. With CAIRN_SCREENSHOTS each of them is looked at in
// both colours.
func looks() []look {
	list := []look{{"light", 400}, {"dark", 1000}, {"light", 1600}}
	if os.Getenv("CAIRN_SCREENSHOTS") != "" {
		list = append(list, look{"dark", 400}, look{"light", 1000}, look{"dark", 1600})
	}
	return list
}

// overlapping lists controls that lie over each other, and texts that are cut off without a sign.
const overlapping = `(() => {
  const shown = (e) => e.checkVisibility({visibilityProperty: true, contentVisibilityAuto: true}) && !e.closest("dialog, .skip, .sr");
  const name = (e) => e.outerHTML.slice(0, 120);
  const controls = [...document.querySelectorAll("a, button, input:not([type=hidden]), summary, .tag, time, .kind, h1")].filter(shown);
  const boxes = controls.map((e) => e.closest("header.bar, .choosing.some") ? [] : [...e.getClientRects()].filter((r) => r.width > 1 && r.height > 1));
  const found = [];
  for (let i = 0; i < controls.length; i++) for (let j = i + 1; j < controls.length; j++) {
    if (controls[i].contains(controls[j])) continue;
    if (boxes[i].some((a) => boxes[j].some((b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4))) found.push("over each other: " + name(controls[i]) + " " + name(controls[j]));
  }
  for (const e of document.querySelectorAll("main *")) {
    const style = getComputedStyle(e);
    if (shown(e) && style.overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1 && style.textOverflow !== "ellipsis" && e.clientWidth > 1) found.push("cut off: " + name(e));
  }
  return JSON.stringify(found.slice(0, 5));
})()`

// lookAt opens a view in all windows: axe finds nothing, nothing lies over anything else or is cut
// off, and the page is as wide as the window. It returns what is seen in the last window.
func (b *browser) lookAt(t *testing.T, name, address string) {
	t.Helper()
	for _, at := range looks() {
		b.size(at.width, 800)
		b.colours(at.colours)
		b.open(address)
		where := fmt.Sprintf("%s (%s, %d)", name, at.colours, at.width)
		b.wholePage(fmt.Sprintf("look-%s-%d-%s", name, at.width, at.colours))
		if found := b.axe(); found != "[]" {
			t.Errorf("axe finds in %s: %s", where, found)
		}
		if found := b.text(overlapping); found != "[]" {
			t.Errorf("%s: %s", where, found)
		}
		if wide := b.number("document.documentElement.scrollWidth"); int(wide) > at.width {
			t.Errorf("%s is %v pixels wide", where, wide)
		}
	}
}

// lastUse is when the projects of a list were used.
var lastUse = time.Date(2026, 11, 25, 9, 30, 0, 0, time.Local)

const (
	longName  = "ein-sehr-langer-name-ohne-jede-stelle-an-der-er-umgebrochen-werden-könnte-"
	longTitle = "Rework the whole of the storage layer so that nothing in it is ever written twice, that every reader sees either the old or the new state, and that a crash at any point leaves a store that the next command repairs by itself"
)

// crowded is a project with long and foreign names, many rows, and everything that a plan can list.
func crowded(t *testing.T) *fixture {
	f := newFixture(t)
	deep := strings.Repeat(longName[:40]+"/", 5) + longName + "α.go"
	f.write(deep, goBefore)
	f.write("日本語/ファイル名.txt", numbered(40))
	f.write("עברית/קובץ.md", "# שלום\n")
	f.write("zero\u200bwidth \u202egnp.txt", "hidden\n")
	f.write("moved.txt", numbered(90))
	f.write("picture.png", "\x89PNG\x00\x01\x02")
	f.write("conflict.txt", numbered(20))
	f.write("large.txt", strings.Repeat("0123456789abcdef\n", maxDiffSize/16))
	f.write("minified.js", "var a=1;"+strings.Repeat("f(1,\"two\");", 800)+"\n")
	for i := range 60 {
		f.write(fmt.Sprintf("many/file-%02d.txt", i), numbered(5))
	}
	f.track("before the agent")
	meta := map[string]string{session.MetaAgent: "an-agent-with-a-rather-long-name", modelKey: "provider/model-with-a-long-name-20261101", session.MetaTool: "shell", session.MetaCommand: "go test ./... -run 'Test" + strings.Repeat("Long", 30) + "' -count=1"}
	if _, err := f.sessions.Begin(t.Context(), session.SessionBegin{ID: "ses_long", Meta: meta}); err != nil {
		t.Fatal(err)
	}
	step := session.StepBegin{Session: "ses_long", Message: "m1", Prompt: longTitle + "\n\n- first point\n- second point", Meta: meta}
	work := []func(){
		func() { f.write(deep, goAfter) },
		func() {
			f.write("日本語/ファイル名.txt", strings.Replace(numbered(40), "line 7\n", "七行目 — "+strings.Repeat("長い", 60)+"\n", 1))
			f.write("עברית/קובץ.md", "# שלום עולם\n")
		},
		func() { f.remove("moved.txt"); f.write("renamed.txt", numbered(90)+"more\n") },
		func() {
			f.write("picture.png", "\x89PNG\x00\x02\x03")
			f.write("zero\u200bwidth \u202egnp.txt", "seen\r\n")
		},
		func() { f.write("conflict.txt", changedLines(20, "line 10\n,ten\n")) },
		func() {
			f.write("large.txt", strings.Repeat("0123456789abcdeF\n", maxDiffSize/16))
			f.write("minified.js", "var a=2;"+strings.Repeat("f(1,\"two\");", 800)+"\n")
		},
		func() {
			for i := range 60 {
				f.write(fmt.Sprintf("many/file-%02d.txt", i), changedLines(5, "line 3\n,three\n"))
			}
		},
		func() {},
	}
	for i, one := range work {
		step.Step = fmt.Sprintf("s%d", i)
		f.stepOf(step, one)
	}
	f.write("conflict.txt", changedLines(20, "line 10\n,by hand\n"))
	for i, title := range []string{strings.Repeat("Titelohneleerzeichen", 12), "把所有帐户换算成美分，并检查每一笔存款是否大于零", "תקן את הקובץ ואז הרץ את הבדיקות", "<b>not bold</b> & “quoted” 🪨", ""} {
		id := fmt.Sprintf("ses_%d", i)
		f.stepOf(session.StepBegin{Session: id, Message: "m", Step: "s", Prompt: title, Meta: meta}, func() { f.write(fmt.Sprintf("titles/%d.txt", i), title+"\n") })
	}
	f.track("after all")
	f.confirm(f.get(f.at("plan", "do", "session", "session", "ses_1", "message", "m"))).want(http.StatusSeeOther)
	return f
}

// crowdedViews are the views of crowded by name.
func crowdedViews(f *fixture) [][2]string {
	from := f.checkpointOf("before the agent")
	newest := f.checkpointOf("after all")
	deep := strings.Repeat(longName[:40]+"/", 5) + longName + "α.go"
	views := [][2]string{
		{"timeline", f.at("")}, {"timeline-operations", f.at("", "show", "operations")}, {"timeline-nothing", f.at("", "q", "nowhere")},
		{"sessions", f.at("sessions")}, {"sessions-nothing", f.at("sessions", "q", "nowhere")}, {"session", f.at("session", "id", "ses_long")},
		{"session-reverted", f.at("session", "id", "ses_1")}, {"session-untitled", f.at("session", "id", "ses_4")},
		{"step", f.at("step", "session", "ses_long", "step", "s0")}, {"step-unified", f.at("step", "session", "ses_long", "step", "s1", "view", "unified")},
		{"step-binary", f.at("step", "session", "ses_long", "step", "s3")}, {"step-large", f.at("step", "session", "ses_long", "step", "s5")}, {"step-many", f.at("step", "session", "ses_long", "step", "s6")},
		{"step-empty", f.at("step", "session", "ses_long", "step", "s7")},
		{"changes", f.at("changes", "from", from, "to", newest)}, {"changes-blanks", f.at("changes", "from", from, "space", "ignore")},
		{"file", f.at("changes", "from", from, "to", newest, "file", deep)}, {"file-whole", f.at("changes", "from", from, "to", newest, "file", "renamed.txt", "context", "all")},
		{"checkpoint", f.at("checkpoint/" + from)}, {"blame", f.at("blame", "file", deep)}, {"blame-foreign", f.at("blame", "file", "日本語/ファイル名.txt")},
		{"plan-restore", f.at("plan", "do", "restore", "to", from)}, {"plan-session", f.at("plan", "do", "session", "session", "ses_long", "message", "m1")},
		{"plan-keep", f.at("plan", "do", "session", "session", "ses_long", "message", "m1", "policy", "keep")}, {"plan-unrevert", f.at("plan", "do", "unrevert", "session", "ses_1")},
		{"plan-path", f.at("plan", "do", "restore", "to", from, "path", deep)}, {"plan-nothing", f.at("plan", "do", "restore", "to", newest, "path", "many")},
		{"plan-part", f.at("plan", "do", "part", "session", "ses_long", "message", "m1", "step", "s0", "step", "s4")}, {"plan-undo", f.at("plan", "do", "undo")}, {"plan-redo", f.at("plan", "do", "redo")},
		{"error-missing", f.at("checkpoint/abcdef1234567890")}, {"error-input", f.at("plan", "do", "nonsense")}, {"error-page", "/ui/nope"},
	}
	for op, err := range f.repo.Operations(f.t.Context()) {
		if err != nil {
			f.t.Fatal(err)
		}
		views = append(views, [2]string{"operation", f.at("operation/"+op.ID, "done", "1")})
	}
	return views
}

func testCrowded(t *testing.T, b *browser) {
	f := crowded(t)
	host := f.serve()
	for _, view := range crowdedViews(f) {
		b.lookAt(t, view[0], host+view[1])
	}
	b.forget("404 (Not Found)")
	b.forget("400 (Bad Request)")
}

// testProjects looks at lists of projects: an empty one, and one with long and foreign paths.
func testProjects(t *testing.T, b *browser) {
	var list []Listed
	server := httptest.NewServer(New(Options{
		Projects: func(context.Context) ([]Listed, error) { return list, nil },
		Token:    func(*http.Request) string { return testToken },
	}))
	t.Cleanup(server.Close)
	b.lookAt(t, "projects-none", server.URL)
	for i, root := range []string{"/srv/" + strings.Repeat(longName+"/", 4) + "src", "/home/用户/项目/账本", "/home/דנה/ספר", "/data/shared/" + strings.Repeat("x", 120)} {
		list = append(list, Listed{ID: fmt.Sprint(i), Root: root, Last: lastUse})
	}
	list = append(list, Listed{ID: "unused", Root: "/tmp/unused"})
	b.lookAt(t, "projects", server.URL)
}

// testEmpty looks at a project in which nothing has happened.
func testEmpty(t *testing.T, b *browser) {
	f := newFixture(t)
	host := f.serve()
	for name, address := range map[string]string{
		"empty-timeline": f.at(""), "empty-sessions": f.at("sessions"), "empty-changes": f.at("changes", "from", "@"), "empty-undo": f.at("plan", "do", "undo"),
	} {
		b.lookAt(t, name, host+address)
	}
	f.track("the only one")
	b.lookAt(t, "empty-first", host+f.at("checkpoint/"+f.checkpointOf("the only one")))
	b.lookAt(t, "empty-disk", host+f.at("changes", "from", "@"))
	f.write("empty.txt", "")
	f.track("")
	b.lookAt(t, "empty-blame", host+f.at("blame", "file", "empty.txt"))
	b.eval("document.querySelector('main').insertAdjacentHTML('beforeend', '<p class=probe><a href=#a>one</a><a href=#b>two</a></p><p class=probe>' + 'x'.repeat(999) + '</p>')", nil)
	b.eval("document.querySelectorAll('.probe').forEach((e) => { e.firstElementChild ? e.lastElementChild.attributeStyleMap.set('margin-left', '-2ch') : e.attributeStyleMap.set('overflow', 'hidden'); })", nil)
	if found := b.text(overlapping); strings.Count(found, "over each other") != 1 || strings.Count(found, "cut off") != 1 {
		t.Errorf("the check of looks misses what was put there for it: %s", found)
	}
}

// testLogin looks at the page for browsers that have to log in.
func testLogin(t *testing.T, b *browser) {
	server := httpapi.New(httpapi.Options{CleanEvery: -1, Settings: func(root string) (cairn.Options, error) { return cairn.Options{Root: root, DataDir: t.TempDir()}, nil }})
	web := httptest.NewServer(server.TokenDoor("secret", "looks", nil))
	t.Cleanup(func() {
		web.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, path := range map[string]string{"login": "/", "login-used": httpapi.LoginPath + "?" + url.Values{"code": {"used"}}.Encode()} {
		b.lookAt(t, name, web.URL+path)
		if n := b.number("document.querySelectorAll('h1').length"); n != 1 {
			t.Errorf("%s has %v first headings", name, n)
		}
	}
	b.forget("401 (Unauthorized)")
}

// wholePage keeps a picture of a page from its top to its end, where CAIRN_SCREENSHOTS asks for it.
func (b *browser) wholePage(name string) {
	b.t.Helper()
	dir := os.Getenv("CAIRN_SCREENSHOTS")
	if dir == "" {
		return
	}
	var answer struct{ Data []byte }
	width, height := b.number("innerWidth"), b.number("document.documentElement.scrollHeight")
	clip := map[string]any{"x": 0, "y": 0, "width": width, "height": min(height, 2400), "scale": 1}
	b.must("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true, "clip": clip}, &answer)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), answer.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
