package webui

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// readOnlyStory shows the story as a server of a remote does.
func readOnlyStory(t *testing.T) *fixture {
	t.Helper()
	f := story(t)
	project := &Project{ID: "id-shop", Root: f.root, Repo: f.repo, Sessions: f.sessions, Name: "/home/ann/<shop>", Notice: "as of <noon>"}
	f.handler = New(Options{
		ReadOnly: "read-only: a remote",
		Notice:   func(context.Context) string { return "as of <noon>" },
		Projects: func(context.Context) ([]Listed, error) {
			return []Listed{{ID: "id-shop", Name: "/home/ann/<shop>", Stores: []ListedStore{{Who: "ann@<box>", Root: "/home/ann/<shop>", Sessions: 2}, {Who: "store 0123456789abcdef"}}}}, nil
		},
		Project: func(context.Context, string) (*Project, error) { return project, nil },
		Token:   func(*http.Request) string { return testToken },
	})
	return f
}

// teamPages are the pages that a server of a remote has.
func (f *fixture) teamPages() (list []string) {
	f.t.Helper()
	for _, address := range f.pages() {
		if at := strings.Replace(address, f.at(""), "/ui/p/id-shop/", 1); !strings.Contains(at, "/plan") && !strings.Contains(at, "/blame") && !strings.Contains(at, "from=%40") {
			list = append(list, at)
		}
	}
	return list
}

// TestReadOnlyPages have no form but that of the colours, and no address of a preview.
func TestReadOnlyPages(t *testing.T) {
	t.Parallel()
	f := readOnlyStory(t)
	f.get("/").want(http.StatusOK, "<h1>Team</h1>", "ann@&lt;box&gt;", "&lt;shop&gt;", "as of &lt;noon&gt;", `href="/ui/p/id-shop/"`).lacks("<shop>", "<box>")
	pages := f.teamPages()
	if len(pages) < 5 {
		t.Fatalf("%q", pages)
	}
	for _, address := range pages {
		a := f.get(address).want(http.StatusOK).lacks("<noon>", `data-key="u"`, `data-key="r"`, `data-key="g"`, `name=hunk`, "choose the change", "/plan", "/copy", "/blame", "/track", "show=operations")
		if n := strings.Count(a.body, "<form method=\"post\""); n > 1 && address != "/" {
			t.Errorf("%s has %d forms", address, n)
		}
	}
}

// TestTeamShowsCheckpoints: what machines pushed outside of sessions stands among the turns, with whose it is and what it
// changed on that machine. The states around steps have no entry of their own.
func TestTeamShowsCheckpoints(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	remote := filepath.Join(t.TempDir(), "fleet.git")
	o.In(filepath.Dir(remote), "init", "-q", "--bare", "--template=", remote)
	ann, bob := newPusher(t, remote, "ann"), newPusher(t, remote, "bob")
	ann.track("ann begins", "1\n")
	bob.track("bob begins", "one\ntwo\n")
	id := ann.track("ann goes on", "1\n2\n3\n")
	ann.turn("ses_a", "m1", "by an agent\n")
	site := teamSite(t, remote)
	site.get("/ui/p/id-shop/").want(http.StatusOK, "ann begins", "bob begins", "ann goes on", "ann@box", "bob@box", "Prompt m1")
	list := site.get("/ui/p/id-shop/?show=checkpoints").want(http.StatusOK, "ann begins", "bob begins", "ann goes on", "/checkpoint/"+id).lacks("Prompt m1")
	if n := strings.Count(list.body, `class="entry track`); n != 3 {
		t.Errorf("%d checkpoints are shown", n)
	}
	entry := list.body[strings.Index(list.body, "ann goes on"):]
	if entry = entry[:strings.Index(entry, "</article>")]; !strings.Contains(entry, "+2") {
		t.Errorf("against the state before it on its machine: %s", entry)
	}
	site.get("/ui/p/id-shop/checkpoint/"+id).want(http.StatusOK, "ann goes on")
	site.get("/ui/p/id-shop/?q=bob%40box").want(http.StatusOK, "bob begins").lacks("ann begins")
}

func testTeam(t *testing.T, b *browser) {
	f := readOnlyStory(t)
	host := f.serve()
	for _, address := range append([]string{"/"}, f.teamPages()...) {
		for _, width := range []int{1280, 400} {
			b.size(width, 800)
			b.open(host + address)
			b.screenshot("team")
			if found := b.axe(); found != "[]" {
				t.Errorf("axe finds in %s (%d): %s", address, width, found)
			}
			if wide := b.number("document.documentElement.scrollWidth"); int(wide) > width {
				t.Errorf("%s is %v pixels wide in a window of %d", address, wide, width)
			}
		}
	}
	b.size(1280, 800)
	b.open(host + "/")
	b.loading(func() { b.text("document.querySelector('section.team a').click()") })
	b.until("document.body.textContent.includes('Deposits must be checked')")
	b.press("u")
	if at := b.text("location.pathname"); at != "/ui/p/id-shop/" {
		t.Errorf("the key of undo leads to %s", at)
	}
}
