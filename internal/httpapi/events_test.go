package httpapi

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestEvents: listeners get an event for each change, in the order of the changes.
func TestEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	web := httptest.NewServer(f.door)
	defer web.Close()
	defer f.server.Drain()
	next := listen(t, web.URL+"/events?directory="+url.QueryEscape(f.root))
	if e := next(); e.Type != EventHello {
		t.Fatalf("%+v", e)
	}
	hash := f.track()
	gittest.Create(t, f.root, gittest.Tree{"new": gittest.File("n\n")})
	f.track()
	f.call("POST", "/plan", ChangeRequest{Action: "restore", Hash: hash}).want(t, 200, nil) // nothing to tell
	f.call("POST", "/apply", ChangeRequest{Action: "restore", Hash: hash}).want(t, 200, nil)
	f.call("POST", "/undo", "").want(t, 200, nil)
	var got []string
	for range 4 {
		e := next()
		got = append(got, e.Type+" "+e.Kind)
		if e.Project == "" || e.Directory != f.root || e.Time.IsZero() {
			t.Errorf("%+v", e)
		}
		if e.Type == EventOperation && (e.Operation == "" || e.Restored+e.Deleted != 1) {
			t.Errorf("%+v", e)
		}
	}
	if diff := cmp.Diff([]string{"track ", "track ", "operation restore", "operation undo"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestEventsOfFurtherRoots: what a way back changes in another directory of its session is told as a change of that project.
func TestEventsOfFurtherRoots(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	second := f.besides(t, gittest.Tree{"s": gittest.File("1\n")})
	web := httptest.NewServer(f.door)
	defer web.Close()
	defer f.server.Drain()
	f.call("POST", "/sessions", SessionBegin{ID: "s", Further: []string{second}}).want(t, 200, nil)
	f.step("s", "m", "1", func() { gittest.Create(t, second, gittest.Tree{"new": gittest.File("2\n")}) })
	next := listen(t, web.URL+"/events?directory="+url.QueryEscape(second))
	next() // hello
	f.call("POST", "/session/s/undo", "").want(t, 200, nil)
	if e := next(); e.Type != EventOperation || e.Kind != "revert" || e.Directory != second || e.Operation == "" || e.Deleted != 1 || e.Session != "s" {
		t.Errorf("%+v", e)
	}
	f.call("POST", "/undo", "").want(t, 200, nil)
	if e := next(); e.Type != EventOperation || e.Kind != "undo" || e.Directory != second || e.Restored != 1 {
		t.Errorf("%+v", e)
	}
}

// listen opens a stream; next returns its next event.
func listen(t *testing.T, address string) (next func() Event) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if got := answer.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatal(got)
	}
	lines := bufio.NewScanner(answer.Body)
	return func() (e Event) {
		t.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					t.Fatal(err)
				}
				return e
			}
		}
		t.Fatalf("the stream has ended: %v", lines.Err())
		return e
	}
}

// TestSlowReader: a listener that does not read is dropped and delays no other; an
// event of another project reaches only the listeners of all projects.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	var h hub
	slow, _ := h.listen("")
	other, leave := h.listen("another")
	for range queueLength + 1 {
		h.send(Event{Type: EventTrack, Project: "p"})
	}
	n := 0
	for range slow.queue { // ends, because it was dropped
		n++
	}
	if n != queueLength {
		t.Errorf("%d events waited", n)
	}
	if len(other.queue) != 0 {
		t.Error("an event went astray")
	}
	leave()
	leave()
	if len(h.ears) != 0 {
		t.Error("somebody still listens")
	}
	h.close()
	late, _ := h.listen("")
	if _, ok := <-late.queue; ok {
		t.Error("an event after the end")
	}
}
