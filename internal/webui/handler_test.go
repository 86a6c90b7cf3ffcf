package webui

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// hostile would run as a script wherever it is not escaped.
const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)>{{.}}`

func TestProjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.get("/").want(http.StatusOK, "<h1>Projects</h1>", f.at(""), "project</strong>")
}

func TestEmptyProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.get(f.at("")).want(http.StatusOK, "Nothing happened here yet")
	f.get(f.at("changes", "from", "@")).want(http.StatusOK, "There is no checkpoint yet")
	f.get(f.at("plan", "do", "undo")).want(http.StatusOK, "There is nothing to undo")
	f.get(f.at("plan", "do", "redo")).want(http.StatusOK, "There is nothing to redo")
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, address := range []string{"/", f.at(""), "/ui/nope", "/ui/assets/page.css", f.at("plan")} {
		head := f.get(address).header
		if policy := head.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", address, policy)
		}
		for name, want := range map[string]string{"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"} {
			if head.Get(name) != want {
				t.Errorf("%s: %s is %q", address, name, head.Get(name))
			}
		}
		if kind := head.Get("Content-Type"); kind == "" {
			t.Errorf("%s has no type", address)
		}
	}
}

// Nothing on a page is fetched from elsewhere, and nothing on it is a script or a
// style of its own: the policy would stop both.
func TestPagesFitTheirPolicy(t *testing.T) {
	t.Parallel()
	f := story(t)
	inline := regexp.MustCompile(`(?i)<script(?:[^>]*src=)?[^>]*>[^<]|<style|\sstyle=|\son[a-z]+=|javascript:|(?:src|href|action)="(?:https?:)?//`)
	for _, address := range f.pages() {
		body := f.get(address).want(http.StatusOK).body
		if found := inline.FindString(body); found != "" && found != "<script src=" {
			t.Errorf("%s has %q", address, found)
		}
	}
}

// pages are addresses of one page of every kind.
func (f *fixture) pages() []string {
	f.t.Helper()
	newest, err := f.repo.Lookup(f.t.Context(), "@")
	if err != nil {
		f.t.Fatal(err)
	}
	pages := []string{"/", f.at(""), f.at("sessions"), f.at("session", "id", "ses_4f1c"), f.at("step", "session", "ses_4f1c", "step", "s1"), f.at("step", "session", "ses_4f1c", "step", "s3", "view", "unified"),
		f.at("checkpoint/" + newest.ID), f.at("changes", "from", "@"), f.at("changes", "from", f.checkpointOf("before the agent"), "to", "@"), f.at("plan", "do", "restore", "to", f.checkpointOf("before the agent")),
		f.at("plan", "do", "session", "session", "ses_4f1c", "message", "m1"), f.at("blame", "file", "ledger/account.go")}
	for op := range f.repo.Operations(f.t.Context()) {
		pages = append(pages, f.at("operation/"+op.ID))
	}
	return pages
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	f := story(t)
	page := f.get(f.at("")).want(http.StatusOK, "Deposits must be checked", "Add a script", "list.sh", "before the agent")
	if strings.Index(page.body, "Add a script") > strings.LastIndex(page.body, "account_test") {
		t.Error("the newest is not first")
	}
	f.get(f.at("", "q", "ADD A")).want(http.StatusOK, "Add a script").lacks("account_test") // the first prompt is the session's title
	f.get(f.at("", "q", "account_test")).want(http.StatusOK, "Deposits must").lacks("Add a script")
	f.get(f.at("", "q", "nowhere")).want(http.StatusOK, "Nothing fits the filter")
	f.get(f.at("", "show", "checkpoints")).want(http.StatusOK, "before the agent").lacks("Deposits must")
	f.get(f.at("", "show", "operations")).want(http.StatusOK, "Nothing fits").lacks("Deposits must", "before the agent")
}

// TestReaderWhoHasGoneOnIsNoError: a search that the next letters follow ends early. The log has no word of it.
func TestReaderWhoHasGoneOnIsNoError(t *testing.T) {
	t.Parallel()
	f := story(t)
	f.log.Reset()
	ctx, gone := context.WithCancel(t.Context())
	gone()
	f.handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, f.at("", "q", "nowhere"), nil))
	if got := f.log.String(); got != "" {
		t.Errorf("the log has %q", got)
	}
}

// TestTimelineAfterAnEntryThatIsGone: a page of older entries that was open while the entry before them was deleted
// says so. No filter is in the way.
func TestTimelineAfterAnEntryThatIsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range pageEntries + 1 {
		f.stepOf(session.StepBegin{Session: fmt.Sprintf("ses_%02d", i), Message: "m", Step: "s", Prompt: "do it"}, func() { f.write("a", strings.Repeat("x", i+1)) })
	}
	older := f.at("", "after", "tses_01/m")
	f.get(f.at("")).want(http.StatusOK, html.EscapeString(older))
	f.get(older).want(http.StatusOK, "ses_00").lacks("is gone")
	if err := f.sessions.Delete(t.Context(), "ses_01"); err != nil {
		t.Fatal(err)
	}
	f.get(older).want(http.StatusOK, "This place of the history is gone", "Back to the newest").lacks("Nothing fits")
	f.get(f.at("", "after", "tses_02/m", "q", "nowhere")).want(http.StatusOK, "Nothing fits the filter")
}

// TestV65_CountsOfTheTimelineAreWhole: a number counts every file of a step, or is not
// there.
func TestV65_CountsOfTheTimelineAreWhole(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.track("nothing")
	for i := range 30 {
		f.write(fmt.Sprintf("f%02d", i), "one\ntwo\n")
	}
	f.write("large", strings.Repeat("0123456789abcde\n", 20000))
	f.track("all")
	f.get(f.at("")).want(http.StatusOK, "and 28 more files", "+20,060").lacks("not counted")
	for i := range countedFiles + 1 {
		f.write(fmt.Sprintf("h%04d", i), "one\n")
	}
	f.track("more")
	f.get(f.at("")).want(http.StatusOK, "and 1,998 more files", "lines not counted")
}

// Every entry is on exactly one page, and all pages are linked.
func TestTimelinePages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const tracks = 2*pageEntries + 5
	for i := range tracks {
		f.write("a", strings.Repeat("x", i+1))
		f.track("")
	}
	seen := make(map[string]bool)
	address := f.at("")
	item := regexp.MustCompile(`<article class="entry track item" data-item id="([^"]+)"`)
	older := regexp.MustCompile(`<a href="([^"]+)" data-more>`)
	pages := 0
	for ; address != ""; pages++ {
		page := f.get(address).want(http.StatusOK)
		for _, m := range item.FindAllStringSubmatch(page.body, -1) {
			if seen[m[1]] {
				t.Errorf("entry %s is on two pages", m[1])
			}
			seen[m[1]] = true
		}
		address = ""
		if m := older.FindStringSubmatch(page.body); m != nil {
			address = html.UnescapeString(m[1])
		}
	}
	if len(seen) != tracks || pages != 3 {
		t.Errorf("%d entries on %d pages, want %d on 3", len(seen), pages, tracks)
	}
}

func TestStep(t *testing.T) {
	t.Parallel()
	f := story(t)
	f.get(f.at("step", "session", "ses_4f1c", "step", "s1")).want(http.StatusOK,
		"Step 1 of 3", "1 file changed", `class="lines split"`, `<span class=k>func</span>`, "<b>int</b>", "Take back this step").lacks("account_test")
	f.get(f.at("step", "session", "ses_4f1c", "step", "s1", "view", "unified")).want(http.StatusOK, `class="lines"`).lacks(`class="lines split"`)
	f.get(f.at("step", "session", "ses_4f1c", "step", "s1", "file", "ledger/account.go", "context", "all")).want(http.StatusOK, "Whole file").lacks("unchanged line")
	f.get(f.at("step", "session", "ses_4f1c", "step", "s1", "file", "README.md")).want(http.StatusNotFound, "did not change here")
	f.get(f.at("step", "session", "ses_4f1c", "step", "nope")).want(http.StatusNotFound)
	f.get(f.at("step", "session", "nope", "step", "s1")).want(http.StatusNotFound)
	f.get(f.at("step")).want(http.StatusBadRequest)
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a.go", "package a\n")
	f.track("")
	name := strings.ReplaceAll(hostile, "/", "∕")
	f.stepOf(session.StepBegin{Session: "s" + hostile, Message: "m" + hostile, Step: "t" + hostile, Prompt: hostile}, func() {
		f.write(name, hostile+"\n")
		f.write("a.go", "package a // "+hostile+"\nvar x = `"+hostile+"`\n")
		f.write("a.html", "<p>\n<!-- "+hostile+" -->\n")
	})
	f.write("a.go", hostile)
	f.track(hostile)
	addresses := []string{
		f.at(""), f.at("", "q", hostile), f.at("", "q", hostile, "show", hostile), f.at("session", "id", "s"+hostile), f.at("step", "session", "s"+hostile, "step", "t"+hostile),
		f.at("changes", "from", "@~1", "to", "@"), f.at("changes", "from", hostile), f.at("plan", "do", "restore", "to", "@~1"), f.at("plan", "do", hostile),
		f.at("plan", "do", "session", "session", "s"+hostile, "message", "m"+hostile), f.at("step", "session", hostile, "step", hostile),
		f.at("step", "session", "s"+hostile, "step", "t"+hostile, "file", name), f.at("plan", "do", "restore", "to", "@~1", "path", hostile),
		"/ui/" + url.PathEscape(hostile), f.at("checkpoint/" + url.PathEscape(hostile)),
	}
	for _, address := range addresses {
		a := f.get(address)
		a.lacks("<script>", "<img src=x", "onerror=alert(1)>{{")
		if a.status >= 500 {
			t.Errorf("%s: %d\n%s", address, a.status, a.body)
		}
	}
	f.get(f.at("step", "session", "s"+hostile, "step", "t"+hostile)).want(http.StatusOK, "&lt;script&gt;", "3 files changed")
}

// Names that are not UTF-8 or that steer the terminal are shown as escapes, and their
// pages, plans and bytes can be reached.
func TestNamesOfAnyBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, shown string }{
		{"caf\xe9.txt", `caf\xe9.txt`}, {"a\nb", `a\nb`}, {"a\u202etxt.exe", `a\u{202e}txt.exe`}, {"a b&c=d%20+#?.go", "a b&amp;c=d%20&#43;#?.go"}, {"\x1b[31mred", `\x1b[31mred`},
	} {
		t.Run(c.shown, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write("a", "1\n")
			before := f.track("")
			f.write(c.name, "one\n")
			f.write("b", "2\n")
			after := f.track("")
			page := f.get(f.at("changes", "from", before, "to", after)).want(http.StatusOK, c.shown, "one")
			if strings.Contains(page.body, c.name) && c.name != "a b&c=d%20+#?.go" {
				t.Error("the name is on the page as it is")
			}
			f.get(f.at("changes", "from", before, "to", after, "file", c.name)).want(http.StatusOK, c.shown, "one").lacks("2</td>")
			raw := f.get(f.at("raw", "at", after, "file", c.name)).want(http.StatusOK)
			if raw.body != "one\n" || !strings.HasPrefix(raw.header.Get("Content-Disposition"), "attachment") || !strings.Contains(raw.header.Get("Content-Security-Policy"), "sandbox") {
				t.Errorf("raw answers %q, %v", raw.body, raw.header)
			}
			// Taken back through the page's own form, which has to carry the bytes.
			plan := f.get(f.at("plan", "do", "revert", "from", before, "to", after, "path", c.name)).want(http.StatusOK, c.shown, "delete")
			f.confirm(plan).want(http.StatusSeeOther)
			if left, _ := f.repo.Changes(t.Context(), after, ""); len(left) != 1 || left[0].Path != c.name || left[0].Status != cairn.Deleted {
				t.Errorf("the disk differs by %v", left)
			}
		})
	}
}

var formOf = regexp.MustCompile(`(?s)<form method="post" action="([^"]+)" class="buttons" id="choose">.*?name="plan" value="([^"]+)"`)

// confirm sends the form of a preview.
func (f *fixture) confirm(plan *answer) *answer {
	f.t.Helper()
	return f.send(plan, "apply", plan.ticked())
}

func TestPlanAndApply(t *testing.T) {
	t.Parallel()
	f := story(t)
	was := f.read("README.md")
	plan := f.get(f.at("plan", "do", "session", "session", "ses_4f1c", "message", "m1")).want(http.StatusOK, "account_test.go", "delete", "modify", "create", "preview")
	if f.read("README.md") != was {
		t.Fatal("a preview changed the disk")
	}
	done := f.confirm(plan).want(http.StatusSeeOther)
	if f.read("ledger/account.go") != goBefore || f.read("web/old.css") != "body { color: red }\n" {
		t.Error("the files are not as they were")
	}
	f.get(done.header.Get("Location")).want(http.StatusOK, "Done.", "account_test.go", "Revert")
	f.get(f.at("", "show", "operations")).want(http.StatusOK, "Revert</span>", "operation item")
	f.confirm(f.get(f.at("plan", "do", "undo")).want(http.StatusOK, "Undo exactly this")).want(http.StatusSeeOther)
	if f.read("ledger/account.go") != goAfter || f.read("README.md") != was {
		t.Error("the undo did not bring the work back")
	}
	f.confirm(f.get(f.at("plan", "do", "redo"))).want(http.StatusSeeOther)
	if f.read("ledger/account.go") != goBefore {
		t.Error("the redo did nothing")
	}
}

func TestStepKeepsWhatCameLater(t *testing.T) {
	t.Parallel()
	f := story(t)
	plan := f.get(stepPlan(f, "s1")).want(http.StatusOK, "account.go").lacks("list.sh")
	f.confirm(plan).want(http.StatusSeeOther)
	if f.read("ledger/account.go") != goBefore || !strings.Contains(f.read("bin/list.sh"), "accounts") {
		t.Error("not exactly the step was taken back")
	}
}

// stepPlan is the address behind "Take back" on the page of a step.
func stepPlan(f *fixture, step string) string {
	f.t.Helper()
	page := f.get(f.at("step", "session", "ses_4f1c", "step", step)).want(http.StatusOK)
	m := regexp.MustCompile(`href="([^"]+)" data-key="r"[^>]*>Take back this step`).FindStringSubmatch(page.body)
	if m == nil {
		f.t.Fatalf("no way back:\n%s", page.body)
	}
	return html.UnescapeString(m[1])
}

// A plan is carried out as it was shown or not at all.
func TestPlanOfAMovedDisk(t *testing.T) {
	t.Parallel()
	f := story(t)
	address := stepPlan(f, "s1")
	plan := f.get(address).want(http.StatusOK)
	f.write("ledger/account.go", "package ledger // by hand\n")
	refused := f.confirm(plan).want(http.StatusConflict, "The disk has changed since the preview", "Preview again")
	if f.read("ledger/account.go") != "package ledger // by hand\n" {
		t.Error("the refused plan changed the disk")
	}
	again := regexp.MustCompile(`href="([^"]+)">Preview again`).FindStringSubmatch(refused.body)
	if again == nil {
		t.Fatal("no way to a new preview")
	}
	conflict := f.get(html.UnescapeString(again[1])).want(http.StatusOK, "Conflicts", "account.go", "Overwrite")
	if formOf.MatchString(conflict.body) {
		t.Error("a plan without changes can be confirmed")
	}
	overwrite := f.get(html.UnescapeString(again[1])+"&policy=overwrite").want(http.StatusOK, "modify")
	f.confirm(overwrite).want(http.StatusSeeOther)
	if f.read("ledger/account.go") != goBefore {
		t.Error("overwriting did not")
	}
	undo := f.get(f.at("plan", "do", "undo")).want(http.StatusOK)
	f.confirm(undo).want(http.StatusSeeOther)
	f.confirm(undo).want(http.StatusConflict, "The disk has changed since the preview", "Preview again").lacks("mistyped")
	f.get(f.at("plan", "do", "undo")).want(http.StatusOK, "There is nothing to undo", "ways back on the timeline")
}

// Only the page's own forms change anything.
func TestForms(t *testing.T) {
	t.Parallel()
	f := story(t)
	before := f.read("README.md")
	first := f.checkpointOf("before the agent")
	apply := f.at("apply", "do", "restore", "to", first)
	plan, err := f.repo.Restore(t.Context(), first, cairn.RestoreOptions{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	fields := url.Values{"plan": {plan.PlanID}, "token": {testToken}}
	request := func(change func(*http.Request, url.Values)) *http.Request {
		values := url.Values{}
		for name, v := range fields {
			values[name] = v
		}
		r := httptest.NewRequest(http.MethodPost, apply, nil)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		change(r, values)
		return withBody(r, values)
	}
	for name, change := range map[string]func(*http.Request, url.Values){
		"no token":                  func(_ *http.Request, v url.Values) { v.Del("token") },
		"another token":             func(_ *http.Request, v url.Values) { v.Set("token", "x") },
		"another site":              func(r *http.Request, _ url.Values) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"another port of this host": func(r *http.Request, _ url.Values) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"an older browser, other origin": func(r *http.Request, _ url.Values) {
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set("Origin", "http://elsewhere.example")
		},
	} {
		if a := f.do(request(change)); a.status != http.StatusForbidden {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	f.do(request(func(_ *http.Request, v url.Values) { v.Del("plan") })).want(http.StatusBadRequest)
	if a := f.get(apply); a.status != http.StatusSeeOther || !strings.Contains(a.header.Get("Location"), "/plan?") {
		t.Errorf("GET of a form's address: %d, to %s", a.status, a.header.Get("Location"))
	}
	if f.read("README.md") != before {
		t.Fatal("a refused form changed the disk")
	}
	f.do(request(func(*http.Request, url.Values) {})).want(http.StatusSeeOther)
	if f.read("README.md") == before {
		t.Error("the page's own form did nothing")
	}
}

func withBody(r *http.Request, values url.Values) *http.Request {
	fresh := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(values.Encode()))
	fresh.Header = r.Header
	return fresh
}

func TestTrack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1")
	done := f.post(f.at("track"), url.Values{}).want(http.StatusSeeOther)
	f.get(done.header.Get("Location")).want(http.StatusOK, "The first checkpoint", "1 file")
}

func TestTheme(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a := f.post("/ui/theme", url.Values{"theme": {"dark"}, "back": {f.at("")}}).want(http.StatusSeeOther)
	if a.header.Get("Location") != f.at("") || !strings.Contains(a.header.Get("Set-Cookie"), "dark") {
		t.Errorf("answer %v", a.header)
	}
	r := httptest.NewRequest(http.MethodGet, f.at(""), nil)
	r.AddCookie(&http.Cookie{Name: themeCookie, Value: "dark"})
	f.do(r).want(http.StatusOK, `<html lang="en" data-theme="dark">`)
	r.Header.Set("Cookie", themeCookie+`="><script>`)
	f.do(r).want(http.StatusOK, `<html lang="en">`)
	f.post("/ui/theme", url.Values{"theme": {"pink"}}).want(http.StatusBadRequest)
	for _, back := range []string{"//elsewhere.example", "https://elsewhere.example/ui/", ""} {
		if a := f.post("/ui/theme", url.Values{"theme": {"auto"}, "back": {back}}); a.header.Get("Location") != "/" {
			t.Errorf("back to %q leads to %q", back, a.header.Get("Location"))
		}
	}
}

// Whatever an address says, the answer is a page and never a failure of the server.
func TestBadAddresses(t *testing.T) {
	t.Parallel()
	f := story(t)
	long := strings.Repeat("x", 10000)
	values := []string{"", "/", "..", "../../etc/passwd", "a\x00b", "\xff\xfe", long, "@", "@~99999999999999999999", "@~x", "deadbeef", "0000000000000000000000000000000000000000", "-1", "%", "refs/heads/main", "a\nb"}
	pages := []string{"session?id=", "sessions?q=", "sessions?skip=", "step?session=ses_4f1c&step=", "step?session=", "changes?from=", "changes?from=@&to=", "changes?from=@~1&to=@&file=", "changes?from=@~1&to=@&skip=", "changes?from=@~1&to=@&file=README.md&row=",
		"raw?at=@&file=", "blame?file=", "blame?file=README.md&at=", "changes?from=@~1&to=@&file=README.md&open=", "plan?do=restore&to=@~1&show=", "plan?do=revert&only=1&from=@~1&to=@&file=", "plan?do=revert&from=@~1&to=@&hunk=", "plan?do=restore&only=1&to=@~1&hunk=", "raw?at=", "plan?do=", "plan?do=restore&to=", "plan?do=restore&to=@&path=", "plan?do=revert&from=@&to=", "plan?do=session&session=ses_4f1c&message=", "plan?do=unrevert&session=", "plan?do=undo&policy=", "?after=", "?q=", "?show=", "session?id=ses_4f1c&after="}
	for _, page := range pages {
		for _, value := range values {
			address := f.at("") + page + url.QueryEscape(value)
			if a := f.get(address); a.status >= 500 {
				t.Errorf("%s: %d: %s", address[:min(len(address), 200)], a.status, a.body[max(0, len(a.body)-2000):])
			}
		}
	}
	for _, path := range []string{"checkpoint/", "operation/"} {
		for _, value := range values {
			if a := f.get(f.at("") + path + url.PathEscape(value)); a.status >= 500 {
				t.Errorf("%s%q: %d", path, value[:min(len(value), 50)], a.status)
			}
		}
	}
	f.get("/ui/p/nope/").want(http.StatusNotFound)
	f.get("/ui/assets/nope").want(http.StatusNotFound)
	f.get(f.at("") + "?q=%zz").want(http.StatusBadRequest)
	f.get(f.at("") + "?q=" + strings.Repeat("x", maxQuery)).want(http.StatusBadRequest)
}

func TestStatusOfErrors(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]int{
		session.ErrBusy: http.StatusConflict, session.ErrNotFound: http.StatusNotFound, session.ErrExpired: http.StatusGone,
		cairn.ErrMoved: http.StatusConflict, cairn.ErrLocked: http.StatusServiceUnavailable, cairn.ErrCorrupt: http.StatusInternalServerError,
	} {
		h := New(Options{
			Projects: func(context.Context) ([]Listed, error) { return nil, err },
			Project:  func(context.Context, string) (*Project, error) { return nil, err },
			Token:    func(*http.Request) string { return testToken },
		})
		for _, address := range []string{"/", "/ui/p/x/"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
			if w.Code != want || !strings.Contains(w.Body.String(), "<h1>") {
				t.Errorf("%v: %s answers %d, want %d", err, address, w.Code, want)
			}
		}
	}
	unknown := errors.New("x")
	if (&handler{}).statusOf(unknown) != http.StatusInternalServerError {
		t.Error("an unknown error is not the server's")
	}
	if (&handler{opt: Options{Status: func(error) int { return http.StatusTeapot }}}).statusOf(unknown) != http.StatusTeapot {
		t.Error("the server was not asked about its own error")
	}
}

// The answer to a form lies at the form's address. A browser that opens that address again, such as one that
// restores its tabs, gets the preview.
func TestAddressOfAForm(t *testing.T) {
	t.Parallel()
	f := story(t)
	for form, page := range map[string]string{"apply": "plan", "choose": "plan"} {
		if got := f.get(f.at(form, "do", "undo", "path", "a\xff")).want(http.StatusSeeOther).header.Get("Location"); got != f.at(page, "do", "undo", "path", "a\xff") {
			t.Errorf("%s leads to %s", form, got)
		}
	}
	if got := f.get(f.at("track")).want(http.StatusSeeOther).header.Get("Location"); got != f.at("") {
		t.Errorf("track leads to %s", got)
	}
}
