package listen

import (
	"bufio"
	"context"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
	"github.com/seed-fb9cbc17/cairn/session"
)

// A browser logs in with the link, finds the project, reverts a prompt, and hears of
// it on the stream that its page names.
func TestServePage(t *testing.T) {
	t.Parallel()
	dataDir, dir := t.TempDir(), t.TempDir()
	server := httpapi.New(httpapi.Options{
		CleanEvery: -1,
		Settings: func(root string) (cairn.Options, error) {
			return cairn.Options{Root: root, DataDir: dataDir, NoSync: true}, nil
		},
	})
	root, err := server.Register(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	server.Mount(Page(server, slog.New(slog.DiscardHandler)))
	door := server.TokenDoor("secret", "cookie", nil)
	web := httptest.NewServer(door)
	t.Cleanup(func() {
		server.Drain()
		web.CloseClientConnections()
		web.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	get := func(address string, want int) string {
		t.Helper()
		answer, err := browser.Get(web.URL + address)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != want {
			t.Fatalf("%s: %s, %v\n%s", address, answer.Status, err, body)
		}
		return string(body)
	}
	find := func(pattern, page string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("no %s in\n%s", pattern, page)
		}
		return html.UnescapeString(m[1])
	}

	get("/", http.StatusUnauthorized)
	home := get("/login?code="+door.LoginCode(), http.StatusOK)
	timeline := find(`href="(/ui/p/[0-9a-f]+/)"`, home)
	get(timeline, http.StatusNotFound) // nothing was ever captured

	file := filepath.Join(root, "a.txt")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("before\n")
	repo, err := cairn.Open(cairn.Options{Root: root, DataDir: dataDir, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	sessions := session.New(repo)
	if _, err := sessions.BeginStep(t.Context(), session.StepBegin{Session: "s/1", Message: "m", Role: session.RoleUser, Step: "a", Prompt: "Write after."}); err != nil {
		t.Fatal(err)
	}
	write("after\n")
	if _, err := sessions.EndStep(t.Context(), session.StepEnd{Session: "s/1", Step: "a"}); err != nil {
		t.Fatal(err)
	}

	page := get(timeline, http.StatusOK)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream, err := http.NewRequestWithContext(ctx, http.MethodGet, web.URL+find(`data-events="([^"]+)"`, page), nil)
	if err != nil {
		t.Fatal(err)
	}
	events, err := browser.Do(stream)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	lines := bufio.NewScanner(events.Body)
	heard := func(event string) {
		t.Helper()
		for lines.Scan() {
			if lines.Text() == "event: "+event {
				return
			}
		}
		t.Fatalf("never heard of %s: %v", event, lines.Err())
	}
	heard("hello")

	made, err := repo.Fork(t.Context(), filepath.Join(t.TempDir(), "fork"), cairn.ForkOptions{})
	if err == nil {
		err = os.WriteFile(filepath.Join(string(made.Dir), "in-the-fork.txt"), []byte("f\n"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	forks := get(timeline+"forks", http.StatusOK) // the server knows the fork from now on
	find(`(in-the-fork\.txt)`, get(find(`data-main href="([^"]+compare[^"]+)"`, forks), http.StatusOK))

	preview := get(find(`href="([^"]+do=session[^"]*)">Revert from here`, page), http.StatusOK)
	form := url.Values{"token": {find(`name="token" value="([^"]+)"`, preview)}, "plan": {find(`name="plan" value="([^"]+)"`, preview)}}
	action := web.URL + find(`<form method="post" action="([^"]+)" class="buttons"`, preview)
	stranger, err := browser.PostForm(action, url.Values{"plan": form["plan"]})
	if err != nil {
		t.Fatal(err)
	}
	stranger.Body.Close()
	if stranger.StatusCode != http.StatusForbidden {
		t.Errorf("a form without its token: %s", stranger.Status)
	}
	done, err := browser.PostForm(action, form)
	if err != nil {
		t.Fatal(err)
	}
	result, err := io.ReadAll(done.Body)
	done.Body.Close()
	if err != nil || done.StatusCode != http.StatusOK || !strings.Contains(string(result), "Done.") {
		t.Fatalf("%s, %v\n%s", done.Status, err, result)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "before\n" {
		t.Errorf("the file has %q, %v", text, err)
	}
	heard("operation")
	if !strings.Contains(get(timeline, http.StatusOK), "reverted") {
		t.Error("the timeline does not say that the prompt is reverted")
	}
}
