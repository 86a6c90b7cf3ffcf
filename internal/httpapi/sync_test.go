package httpapi

import (
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// The server lets a root be pushed in which something has happened, once, and at the latest when it
// ends.
func TestServerSyncs(t *testing.T) {
	t.Parallel()
	roots := make(chan string, 16)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")}, func(o *Options) {
		o.Idle, o.Sync = 4*time.Millisecond, func(root string) { roots <- root }
	})
	f.call("POST", "/track", `{}`).want(t, 200, nil)
	if root := <-roots; root != f.root {
		t.Errorf("pushes %s", root)
	}
	g := newFixture(t, gittest.Tree{"a": gittest.File("1")}, func(o *Options) {
		o.Idle, o.Sync = time.Hour, func(root string) { roots <- root }
	})
	g.call("POST", "/track", `{}`).want(t, 200, nil)
	if err := g.server.Close(); err != nil {
		t.Fatal(err)
	}
	if root := <-roots; root != g.root || len(roots) > 0 {
		t.Errorf("pushes %s, and %d more", root, len(roots))
	}
}
