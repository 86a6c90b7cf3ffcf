package webui

import (
	"net/http"
	"strings"
	"testing"
)

// A person takes a prompt back with the keyboard alone, git along with it. Nothing happens before the
// second confirmation.
func testGit(t *testing.T, b *browser) {
	f := newGitStory(t)
	after := f.standing()
	host := f.serve()
	preview := f.at("plan", "do", "session", "session", "git", "message", "m2")
	with := preview + "&git=1"
	b.lookAt(t, "git-timeline", host+f.at(""))
	b.lookAt(t, "git-stays", host+preview)
	b.lookAt(t, "git-goes", host+with)
	b.size(1280, 800)
	b.open(host + preview)
	b.loading(func() { b.press("b") })
	b.until("document.querySelector('main').textContent.includes('Changes in git')")
	b.press("x")
	b.loading(func() { b.press("Enter") })
	if got := b.text("document.querySelector('h1').textContent"); got != "Change the git repository?" || f.standing() != after {
		t.Fatalf("the first confirmation leads to %q, git stands at\n%s", got, f.standing())
	}
	for _, colours := range []string{"light", "dark"} {
		b.colours(colours)
		b.screenshot("git-sure-" + colours)
		if found := b.axe(); found != "[]" {
			t.Errorf("axe finds in the second confirmation (%s): %s", colours, found)
		}
	}
	b.press("x")
	if got := b.text("document.activeElement.name"); got != "sure" {
		t.Fatalf("x leads to %s", b.text("document.activeElement.outerHTML"))
	}
	b.loading(func() { b.press("Enter") })
	b.until("document.body.textContent.includes('Done.')")
	if !strings.Contains(f.standing(), "stash@{0}") || f.ends() != f.made+" "+f.first || f.read("b.txt") != "two\n" {
		t.Errorf("git stands at\n%s", f.standing())
	}
	f.git.In(f.root, "branch", "-f", "topic", f.made)
	b.lookAt(t, "git-conflict", host+f.at("plan", "do", "undo", "git", "1"))
	f.get(f.at("plan", "do", "undo", "git", "1")).want(http.StatusOK, "Stays in git")
}
