package webui

import (
	"net/http"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/session"
)

// A file says for each line who wrote it, and for which prompt.
func TestBlame(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a.go", "package a\n\nvar old = 1\n")
	f.track("")
	step := session.StepBegin{Session: "s" + hostile, Message: "m", Step: "t", Prompt: "Add a constant " + hostile, Meta: map[string]string{session.MetaAgent: "codex", session.MetaTool: "edit"}}
	f.stepOf(step, func() { f.write("a.go", "package a\n\nvar old = 1\n\nconst fresh = 2 // <b>\n") })
	f.write("a.go", "package a\n\nvar old = 1\n\nconst fresh = 2 // <b>\n\nvar mine = 3\n")
	page := f.get(f.at("blame", "file", "a.go")).want(http.StatusOK, "<strong>codex</strong>", "Add a constant", "<strong>user</strong>", "<strong>unknown</strong>", "&lt;b&gt;", `title="edit"`).lacks("<script>alert")
	agent, user := strings.Index(page.body, "<strong>codex"), strings.Index(page.body, "<strong>user")
	if fresh := strings.Index(page.body, "fresh"); fresh < agent || fresh > user {
		t.Error("the agent's line is not the agent's")
	}
	f.get(f.at("blame", "file", "a.go", "at", f.track(""))).want(http.StatusOK, "mine")
	f.get(f.at("blame", "file", "nope")).want(http.StatusNotFound)
	f.get(f.at("blame", "file", "../x")).want(http.StatusBadRequest)
}
