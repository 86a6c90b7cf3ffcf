package webui

import (
	"context"
	"net/http"
	"strings"
	"testing"
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
		a := f.get(address).want(http.StatusOK).lacks("<noon>", `data-key="u"`, `data-key="r"`, `data-key="g"`, `name=hunk`, "choose the change", "/plan", "/copy", "/blame", "/track", "What is shown")
		if n := strings.Count(a.body, "<form method=\"post\""); n > 1 && address != "/" {
			t.Errorf("%s has %d forms", address, n)
		}
	}
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
