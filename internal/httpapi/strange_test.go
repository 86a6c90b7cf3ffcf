package httpapi

import (
	"net/url"
	"strings"
	"testing"
)

// TestStrangeIDs: whatever an id or a hash is made of, it is found or it is not.
func TestStrangeIDs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	long := strings.Repeat("x", 10_000)
	for _, id := range []string{"a/b", "..", ".", "../../x", "a\x00b", "\xff", " ", "%2F", "@~99", "@~-1", "@@", "deadbeef", "\u202e", long} {
		e := url.PathEscape(id)
		for _, target := range []string{
			"/session/" + e, "/session/" + e + "/diff", "/session/" + e + "/history", "/checkpoints/" + e, "/checkpoints/" + e + "/files", "/project/" + e + "/status",
			"/checkpoints/@/file?path=" + url.QueryEscape(id), "/diff?from=" + url.QueryEscape(id), "/session/x/diff?messageID=" + url.QueryEscape(id),
		} {
			r := f.call("GET", target, nil)
			if r.status != 404 && r.status != 400 {
				t.Errorf("GET %.80s: status %d: %.200s", target, r.status, r.body)
			}
		}
		for _, target := range []string{"/session/" + e + "/revert", "/session/" + e + "/unrevert", "/session/" + e + "/steps/" + e + "/end"} {
			r := f.call("POST", target, `{"messageID":"x"}`)
			if r.status != 404 && r.status != 400 {
				t.Errorf("POST %.80s: status %d: %.200s", target, r.status, r.body)
			}
		}
	}
}
