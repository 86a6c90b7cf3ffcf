package webui

import (
	"net/http"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/session"
)

// TestSecretPlaces: the timeline says of checkpoints and steps how many secrets their files hold, and where, and never
// a secret.
func TestSecretPlaces(t *testing.T) {
	t.Parallel()
	token := "ghp" + "_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	f := newFixture(t)
	f.write("clean", "1")
	f.track("")
	if page := f.get(f.at("")); page.status != http.StatusOK || strings.Contains(page.body, "secret") {
		t.Errorf("without secrets: %d\n%s", page.status, page.body)
	}
	f.write("key.py", "key = \""+token+"\"\n")
	f.track("")
	f.stepOf(session.StepBegin{Session: "s", Message: "m", Step: "p", Prompt: "do"}, func() { f.write("two.py", "key = \""+token+"\"\n") })
	page := f.get(f.at(""))
	for _, want := range []string{"1 secret<", "2 secrets<", "key.py:1 (github-token)", "two.py:1 (github-token)"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the timeline lacks %q", want)
		}
	}
	if strings.Contains(page.body, token) {
		t.Error("the timeline has the secret")
	}
}
