package listen

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
	"github.com/seed-fb9cbc17/cairn/internal/team"
	"github.com/seed-fb9cbc17/cairn/session"
)

// pushSession pushes a session from a machine of its own. All names may have any text.
func pushSession(t *testing.T, remote, dir, user, id, title, prompt string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), dir)
	gittest.Create(t, root, gittest.Tree{"<i>a": gittest.File("one\n")})
	repo, err := cairn.Open(cairn.Options{Root: root, DataDir: t.TempDir(), NoSync: true, Machine: "box", User: user})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	if err := repo.SetProjectID(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	all := session.New(repo)
	if _, err := all.Begin(t.Context(), session.SessionBegin{ID: id, Title: title, Meta: map[string]string{session.MetaAgent: "claude-code"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := all.BeginStep(t.Context(), session.StepBegin{Session: id, Message: "m1", Step: "s1", Role: session.RoleUser, Prompt: prompt}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "<i>a"), []byte("by <b>"+user+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := all.EndStep(t.Context(), session.StepEnd{Session: id, Step: "s1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Push(t.Context(), remote); err != nil {
		t.Fatal(err)
	}
}

// teamSite is a server that shows a remote, without a network.
type teamSite struct {
	t    *testing.T
	door http.Handler
	key  string
}

func newTeamSite(t *testing.T, remote string) *teamSite {
	t.Helper()
	var server *httpapi.Server
	shown, err := team.New(team.Options{
		Remote: remote, Dir: t.TempDir(), Every: time.Nanosecond, Patience: time.Hour,
		Settings: func() (cairn.Options, error) { return cairn.Options{NoSync: true}, nil },
		Register: func(root, key string) error { return server.RegisterAs(root, key) },
	})
	if err != nil {
		t.Fatal(err)
	}
	server = httpapi.New(httpapi.Options{
		CleanEvery: -1, ReadOnly: shown.ReadOnly(),
		Settings: func(root string) (cairn.Options, error) {
			return cairn.Options{Root: root, DataDir: shown.DataDir(), Disabled: shown.ReadOnly()}, nil
		},
		Refresh: func(ctx context.Context, key string) error {
			if key == "" {
				_, f := shown.List(ctx)
				return f.Err
			}
			_, _, err := shown.Project(ctx, key)
			return err
		},
	})
	server.Mount(TeamPage(server, shown, slog.New(slog.DiscardHandler)))
	t.Cleanup(func() {
		shown.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return &teamSite{t, server.PrivateDoor(), "id-shop"}
}

func (s *teamSite) do(method, address string, want int, parts ...string) string {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.door.ServeHTTP(w, httptest.NewRequest(method, address, nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != want {
		s.t.Fatalf("%s %s: %d, want %d, %v\n%s", method, address, w.Code, want, err, body)
	}
	for _, part := range parts {
		if !strings.Contains(string(body), part) {
			s.t.Errorf("%s lacks %q:\n%s", address, part, body)
		}
	}
	return string(body)
}

// TestTeamPage: two machines push; a server without a directory of either shows users, sessions, turns
// with prompts and diffs. A link to a turn leads to it on another server as well.
func TestTeamPage(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o := gittest.NewOracle(t)
	remote := filepath.Join(t.TempDir(), "fleet.git")
	o.In(filepath.Dir(remote), "init", "-q", "--bare", "--template=", remote)
	pushSession(t, remote, "shop", "ann", "ses_a", "Cart", "Add a cart")
	pushSession(t, remote, "the <shop>", "<b>bob", "ses_<b>", "<script>alert(1)</script>", "Pay & <img src=x>")
	site := newTeamSite(t, remote)

	home := site.do("GET", "/", 200, "ann@box", "&lt;b&gt;bob@box", "the &lt;shop&gt;", `href="/ui/p/id-shop/"`, "as of")
	timeline := site.do("GET", "/ui/p/id-shop/", 200, "Add a cart", "Pay &amp; &lt;img src=x&gt;", "ann@box", "claude-code", "read-only")
	list := site.do("GET", "/ui/p/id-shop/sessions", 200, "Cart", "&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;b&gt;bob@box")
	turn := html.UnescapeString(regexp.MustCompile(`href="([^"]*step\?[^"]*ses_a[^"]*)"`).FindStringSubmatch(timeline)[1])
	hostile := html.UnescapeString(regexp.MustCompile(`href="([^"]*session\?id=ses_%3C[^"]*)"`).FindStringSubmatch(list)[1])
	step := site.do("GET", turn, 200, "by &lt;b&gt;ann", "&lt;i&gt;a", "Add a cart")
	one := site.do("GET", hostile, 200, "pushed by", "&lt;b&gt;bob@box", "the &lt;shop&gt;")
	for _, body := range []string{home, timeline, list, step, one} {
		for _, bad := range []string{"<script>alert", "<img src=x", "<b>bob", "<i>a", "/plan", "/copy", "/blame", "/track", "Take checkpoint", "Restore this state"} {
			if strings.Contains(body, bad) {
				t.Errorf("a page has %q:\n%s", bad, body)
			}
		}
	}
	another := newTeamSite(t, remote)
	another.do("GET", turn, 200, "by &lt;b&gt;ann", "Add a cart")

	pushSession(t, remote, "shop", "eve", "ses_e", "Later", "Something later")
	site.do("GET", "/ui/p/id-shop/sessions", 200, "eve@box", "Later")
	if err := os.Rename(remote, remote+".away"); err != nil {
		t.Fatal(err)
	}
	site.do("GET", "/", 200, "the remote cannot be reached", "ann@box")
	site.do("GET", turn, 200, "the remote cannot be reached", "by &lt;b&gt;ann")
	site.do("GET", "/ui/p/id-other/", 404)
	fresh := newTeamSite(t, remote)
	fresh.do("GET", "/", 502, "The remote cannot be reached")
	fresh.do("GET", turn, 502, "The remote cannot be reached")
}

// TestTeamWithoutList: a request that names a project needs none for the list of projects before it: the server may
// have started a moment ago, or the project may be new on the remote. A remote that never answered is no missing
// project.
func TestTeamWithoutList(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o := gittest.NewOracle(t)
	remote := filepath.Join(t.TempDir(), "fleet.git")
	o.In(filepath.Dir(remote), "init", "-q", "--bare", "--template=", remote)
	site := newTeamSite(t, remote)
	site.do("GET", "/projects", 200, "[]")
	pushSession(t, remote, "shop", "ann", "ses_a", "Cart", "Add a cart")
	site.do("GET", "/project/id-shop/sessions", 200, "ses_a")
	newTeamSite(t, remote).do("GET", "/dav/id-shop/", 405, "is a directory")
	site.do("GET", "/project/id-other/sessions", 404, `no project \"id-other\"`)
	if err := os.Rename(remote, remote+".away"); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"/project/id-shop/sessions", "/dav/id-shop/"} {
		newTeamSite(t, remote).do("GET", address, 502, "does not appear to be a git repository")
	}
}

// TestTeamIsReadOnly: every operation that is no GET is refused, and so is every page that changes
// something or looks at a disk.
func TestTeamIsReadOnly(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	remote := filepath.Join(t.TempDir(), "fleet.git")
	o.In(filepath.Dir(remote), "init", "-q", "--bare", "--template=", remote)
	pushSession(t, remote, "shop", "ann", "ses_a", "Cart", "Add a cart")
	site := newTeamSite(t, remote)
	site.do("GET", "/projects", 200, `"id":"id-shop"`)
	before := o.In(remote, "for-each-ref")

	var api struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(site.do("GET", "/openapi.json", 200)), &api); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for path, methods := range api.Paths {
		for method := range methods {
			if method = strings.ToUpper(method); method != http.MethodGet {
				site.do(method, "/project/id-shop"+strings.NewReplacer("{", "", "}", "").Replace(path), 403, "urn:cairn:problem:read-only", "fleet.git")
				refused++
			}
		}
	}
	if refused < 20 {
		t.Errorf("only %d operations were tried", refused)
	}
	for _, page := range []string{"apply", "choose", "track", "copy"} {
		site.do("POST", "/ui/p/id-shop/"+page, 403, "read-only")
	}
	for _, page := range []string{"plan?do=undo", "compare", "copy?of=@", "blame?file=a"} {
		site.do("GET", "/ui/p/id-shop/"+page, 403, "This server is read-only")
	}
	for _, method := range []string{"PUT", "DELETE", "MKCOL", "MOVE", "COPY", "LOCK", "PROPPATCH", "PATCH", "STRANGE"} {
		site.do(method, "/dav/id-shop/@/a", 403, "read-only")
	}
	site.do("POST", "/opencode/session/ses_a/revert", 403)
	site.do("GET", "/sessions?directory=/etc", 404)
	site.do("GET", "/project/id-shop/remote", 409, "urn:cairn:problem:no-remote") // a cache has none
	var sessions []session.Session
	if err := json.Unmarshal([]byte(site.do("GET", "/project/id-shop/sessions", 200)), &sessions); err != nil || len(sessions) != 1 || sessions[0].Fetched.User != "ann" {
		t.Errorf("%+v, %v", sessions, err)
	}
	if after := o.In(remote, "for-each-ref"); after != before {
		t.Errorf("the remote has changed: %s", after)
	}
}

// TestListed: the page of a team names projects and machines as the program does, also where only a part of a
// name is known.
func TestListed(t *testing.T) {
	t.Parallel()
	at := time.Unix(1700000000, 0)
	p := &cairn.RemoteProject{Key: "k", Name: "/home/ann/a b", Stores: []cairn.RemoteStore{
		{Store: "s1", User: "ann", Machine: "laptop", Root: "/home/ann/a b"},
		{Store: "s2", User: "ann", Sessions: []cairn.RemoteSession{{Updated: at}, {Updated: at.Add(-time.Hour)}}},
		{Store: "s3", Machine: "build\x1b"},
		{Store: "s4"},
	}}
	got := listed(p)
	var who []string
	for _, s := range got.Stores {
		who = append(who, s.Who)
	}
	if want := []string{"ann@laptop", "ann", `build\033`, "store s4"}; !slices.Equal(who, want) {
		t.Errorf("machines %q, want %q", who, want)
	}
	if got.ID != "k" || !got.Last.Equal(at) || got.Stores[1].Sessions != 2 {
		t.Errorf("%+v", got)
	}
	for _, id := range []string{"ann/app", "", ""} {
		p.ID = id
		lines := answers.RemoteLines([]cairn.RemoteProject{*p})
		if lines[0] != listed(p).Name || !strings.HasPrefix(lines[1], "  "+who[0]) {
			t.Errorf("the program says %q, the page %q", lines[:2], listed(p).Name)
		}
		if id == "" {
			p.Name = "" // only the key is left
		}
	}
}
