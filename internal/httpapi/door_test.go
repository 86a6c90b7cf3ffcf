package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

const testToken = "0123456789abcdefTOKEN"

func tokenDoor(f *fixture) *Door {
	return f.server.TokenDoor(testToken, "8390", []string{"127.0.0.1:8390", "localhost:8390"})
}

// from makes a request as it would come over TCP.
func from(t *testing.T, method, target string, header ...string) *http.Request {
	t.Helper()
	var body any
	if method != "GET" {
		body = "{}"
	}
	r := request(t, method, target, body)
	r.Host = "127.0.0.1:8390"
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func TestToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	d := tokenDoor(f)
	good := "Bearer " + testToken
	for _, c := range []struct {
		header []string
		status int
	}{
		{nil, 401},
		{[]string{"Authorization", good}, 200},
		{[]string{"Authorization", "bearer " + testToken}, 200},
		{[]string{"Authorization", good + "x"}, 401},
		{[]string{"Authorization", "Bearer "}, 401},
		{[]string{"Authorization", "Basic " + testToken}, 401},
		{[]string{"Authorization", testToken}, 401},
		{[]string{"Cookie", "cairn-8390=" + testToken}, 401},
		{[]string{"Cookie", loggedIn(t, d)}, 200},
		{[]string{"Cookie", loggedIn(t, d), "Authorization", "Bearer wrong"}, 401},
		{[]string{"Cookie", "cairn-1=" + testToken}, 401},
		{[]string{"Cookie", "cairn-8390=" + testToken, "Authorization", "Bearer wrong"}, 401},
		{[]string{"Authorization", good, "Host", "LOCALHOST:8390"}, 200},
		// A foreign name that leads to this machine.
		{[]string{"Authorization", good, "Host", "evil.example:8390"}, 403},
		{[]string{"Authorization", good, "Host", "127.0.0.1"}, 403},
		{[]string{"Authorization", good, "Host", ""}, 403},
	} {
		for _, target := range []string{"/status", "/nothing", "/openapi.json", "/opencode/session/x"} {
			r := call(t, d, from(t, "GET", target, c.header...))
			if c.status == 200 && r.status != 401 && r.status != 403 {
				continue
			}
			if r.status != c.status {
				t.Errorf("%s with %q: status %d, not %d", target, c.header, r.status, c.status)
			}
		}
	}
	r := call(t, d, from(t, "GET", "/status"))
	r.problem(t, 401, "unauthorized")
	if r.header.Get("WWW-Authenticate") == "" || r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error(r.header)
	}
}

// TestOtherSites: a request that a page of another site makes a browser send is
// refused, with or without the cookie.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	d := tokenDoor(f)
	cookie := loggedIn(t, d)
	for _, c := range []struct {
		method, target string
		header         []string
		status         int
	}{
		{"POST", "/track", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"POST", "/track", []string{"Origin", "http://127.0.0.1:8390"}, 200},
		{"POST", "/track", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"POST", "/track", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"POST", "/track", []string{"Origin", "http://evil.example"}, 403},
		{"POST", "/track", []string{"Origin", "http://127.0.0.1:9999"}, 403},
		{"POST", "/track", []string{"Origin", "null"}, 403},
		{"GET", "/status", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"}, 403},
		{"GET", "/status", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"}, 200},
		{"GET", "/status", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}, 200},
		{"OPTIONS", "/track", []string{"Origin", "http://evil.example", "Access-Control-Request-Method", "POST"}, 405},
	} {
		r := call(t, d, from(t, c.method, c.target, append([]string{"Cookie", cookie}, c.header...)...))
		if r.status != c.status || r.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s with %q: status %d, not %d", c.method, c.target, c.header, r.status, c.status)
		}
	}
}

// loggedIn logs a browser in and returns its cookie.
func loggedIn(t *testing.T, d *Door) string {
	t.Helper()
	w := httptest.NewRecorder()
	d.ServeHTTP(w, from(t, "GET", "/login?code="+d.LoginCode()))
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("status %d, %d cookies", w.Code, len(cookies))
	}
	return cookies[0].Name + "=" + cookies[0].Value
}

// TestV30_CookieIsNoToken: a browser sends its cookie to every port of the host. The
// server behind another port learns nothing that lets it in as a program, or lets it in
// after the server was started again.
func TestV30_CookieIsNoToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	d := tokenDoor(f)
	first, second := loggedIn(t, d), loggedIn(t, d)
	_, value, _ := strings.Cut(first, "=")
	if first == second || strings.Contains(first, testToken) {
		t.Errorf("cookies %s and %s", first, second)
	}
	call(t, d, from(t, "GET", "/status", "Authorization", "Bearer "+value)).problem(t, 401, "unauthorized")
	call(t, d, from(t, "GET", "/status", "Cookie", second)).want(t, 200, nil)
	call(t, tokenDoor(f), from(t, "GET", "/status", "Cookie", first)).problem(t, 401, "unauthorized")
	for range maxBrowsers {
		loggedIn(t, d)
	}
	if n := len(d.logins.cookies); n > maxBrowsers {
		t.Errorf("%d cookies are in force", n)
	}
}

// TestV31_BrowserIsToldHowToLogIn: a person sees a page, a program the problem document.
func TestV31_BrowserIsToldHowToLogIn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	d := tokenDoor(f)
	for _, c := range []struct {
		method, target string
		header         []string
		page           string
	}{
		{"GET", "/", []string{"Sec-Fetch-Mode", "navigate", "Accept", "text/html"}, "not logged in"},
		{"GET", "/session/x", []string{"Accept", "text/html,application/xhtml+xml"}, "not logged in"},
		{"GET", "/", []string{"Sec-Fetch-Mode", "navigate", "Cookie", "cairn-8390=old"}, "not logged in"},
		{"GET", "/login?code=used", []string{"Sec-Fetch-Mode", "navigate"}, "used before"},
		{"GET", "/status", []string{"Sec-Fetch-Mode", "cors", "Accept", "text/html"}, ""},
		{"GET", "/status", []string{"Accept", "application/json"}, ""},
		{"GET", "/", []string{"Accept", "text/html", "Authorization", "Bearer wrong"}, ""},
		// A form of a page that was open when the server was started again.
		{"POST", "/ui/p/x/apply?do=undo", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "navigate", "Accept", "text/html"}, "Nothing was done"},
		{"POST", "/track", []string{"Accept", "text/html"}, ""},
	} {
		w := httptest.NewRecorder()
		d.ServeHTTP(w, from(t, c.method, c.target, c.header...))
		body, html := w.Body.String(), strings.HasPrefix(w.Header().Get("Content-Type"), "text/html")
		if w.Code != 401 || html != (c.page != "") || !strings.Contains(body, c.page) || !strings.Contains(body, "cairn serve --login") {
			t.Errorf("%s %s with %q: status %d, %s", c.method, c.target, c.header, w.Code, body)
		}
	}
}

// TestLoginOfAServerOfARemote: such a server is not the one that cairn serve --login finds. Its remote is named to no
// browser that has not logged in.
func TestLoginOfAServerOfARemote(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.server.opt.ReadOnly = "read-only: shows secret.git"
	d := tokenDoor(f)
	for _, target := range []string{"/", "/login?code=used"} {
		for _, accept := range []string{"text/html", "application/json"} {
			w := httptest.NewRecorder()
			d.ServeHTTP(w, from(t, "GET", target, "Accept", accept))
			body := w.Body.String()
			if w.Code != 401 || !strings.Contains(body, "cairn serve --login --remote REMOTE") || strings.Contains(body, "secret.git") {
				t.Errorf("%s for %s: %d, %s", target, accept, w.Code, body)
			}
			if accept == "text/html" && !strings.Contains(body, "team/REMOTE/serve/token") {
				t.Errorf("%s: the token is elsewhere: %s", target, body)
			}
		}
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	d := tokenDoor(f)
	for _, target := range []string{"/login", "/login?code=", "/login?code=" + testToken} {
		call(t, d, from(t, "GET", target)).problem(t, 401, "unauthorized")
	}
	link := "/login?code=" + d.LoginCode()
	w := httptest.NewRecorder()
	d.ServeHTTP(w, from(t, "GET", link))
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("status %d, %d cookies", w.Code, len(cookies))
	}
	c := cookies[0]
	// With Strict a browser would not send the cookie for a person who follows a link of a wiki or of a chat.
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
		t.Errorf("%+v", c)
	}
	call(t, d, from(t, "GET", "/status", "Cookie", c.Name+"="+c.Value)).want(t, 200, nil)
	call(t, d, from(t, "GET", link)).problem(t, 401, "unauthorized") // it was good for once
	first := d.LoginCode()
	for range 2 * maxLogins {
		d.LoginCode()
	}
	if n := len(d.logins.codes); n > maxLogins {
		t.Errorf("%d codes wait", n)
	}
	call(t, d, from(t, "GET", "/login?code="+first)).problem(t, 401, "unauthorized")
}

// TestTooMany: more requests at once than there are places are turned away, and events
// do not take the places of requests.
func TestTooMany(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree, func(o *Options) { o.MaxRequests, o.MaxStreams = 1, 1 })
	f.track()
	f.server.requests <- struct{}{}
	r := f.call("GET", "/status", nil)
	r.problem(t, 429, "too-many")
	if r.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	<-f.server.requests
	f.server.streams <- struct{}{}
	f.call("GET", "/events", nil).problem(t, 429, "too-many")
	f.call("GET", "/status", nil).want(t, 200, nil)
}

// TestSettings: a request with other settings than the server's is refused before its
// body is read.
func TestSettings(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	same := protocol.Settings("test", cairn.Options{Root: f.root, DataDir: f.dataDir, NoSync: true, Command: "another"})
	for settings, status := range map[string]int{
		same: 200, "nonsense": 412,
		protocol.Settings("another build", cairn.Options{Root: f.root, DataDir: f.dataDir, NoSync: true}):                412,
		protocol.Settings("test", cairn.Options{Root: f.root, DataDir: f.dataDir, NoSync: true, MaxFileSize: 1}):         412,
		protocol.Settings("test", cairn.Options{Root: f.root, DataDir: f.dataDir + "x", NoSync: true}):                   412,
		protocol.Settings("test", cairn.Options{Root: f.root, DataDir: f.dataDir, NoSync: true, Include: []string{"x"}}): 412,
	} {
		r := request(t, "POST", "/track", "{}")
		r.Header.Set(protocol.SettingsHeader, settings)
		if status == 412 {
			r.Body = unread{t}
			call(t, f.door, r).problem(t, 412, "settings")
		} else {
			call(t, f.door, r).want(t, status, nil)
		}
	}
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, errors.New("not to be read")
}
func (u unread) Close() error { return nil }

// TestBrokenBody: a connection that breaks, or chunks that are none, are the client's
// fault.
func TestBrokenBody(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	r := request(t, "POST", "/track", "{}")
	r.Body = tornBody{}
	call(t, f.door, r).problem(t, 400, "bad-request")
}

type tornBody struct{}

func (tornBody) Read([]byte) (int, error) { return 0, errors.New("unexpected EOF") }
func (tornBody) Close() error             { return nil }

// TestPanic: a bug is a 500 that says nothing, and is logged with everything.
func TestPanic(t *testing.T) {
	t.Parallel()
	log := &records{}
	f := newFixture(t, someTree, func(o *Options) { o.Logger = slog.New(log) })
	f.server.mux.HandleFunc("GET /bug", func(http.ResponseWriter, *http.Request) { panic("a bug") })
	text := f.call("GET", "/bug", nil).problem(t, 500, "internal")
	if strings.Contains(text, "a bug") || !strings.Contains(log.text, "a bug") || !strings.Contains(log.text, "door_test.go") {
		t.Errorf("answered %q, logged %q", text, log.text)
	}
}

// records keeps what is logged.
type records struct {
	slog.Handler
	text string
}

func (l *records) Enabled(context.Context, slog.Level) bool { return true }
func (l *records) Handle(_ context.Context, r slog.Record) error {
	l.text += r.Message
	r.Attrs(func(a slog.Attr) bool {
		l.text += " " + a.String()
		return true
	})
	return nil
}

func TestCheckToken(t *testing.T) {
	t.Parallel()
	for token, ok := range map[string]bool{testToken: true, "short": false, "with a blank in it": false, "caf\u00e9caf\u00e9caf\u00e9caf\u00e9": false, "line\nline\nline\nline": false} {
		if err := CheckToken(token); (err == nil) != ok {
			t.Errorf("%q: %v", token, err)
		}
	}
}
