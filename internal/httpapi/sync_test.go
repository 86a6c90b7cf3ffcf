package httpapi

import (
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// The server lets a root be signed and pushed in which something has happened, once, and at the latest when it
// ends.
func TestServerSyncs(t *testing.T) {
	t.Parallel()
	roots, signed := make(chan string, 16), make(chan string, 16)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")}, func(o *Options) {
		o.Idle, o.Sync = 4*time.Millisecond, func(root string) { roots <- root }
		o.Sign = func(root string) { signed <- root }
	})
	f.call("POST", "/track", `{}`).want(t, 200, nil)
	if root, sign := <-roots, <-signed; root != f.root || sign != f.root {
		t.Errorf("pushes %s, signs %s", root, sign)
	}
	g := newFixture(t, gittest.Tree{"a": gittest.File("1")}, func(o *Options) {
		o.Idle, o.Sync = time.Hour, func(root string) { roots <- root }
		o.Sign = func(root string) { signed <- root }
	})
	g.call("POST", "/track", `{}`).want(t, 200, nil)
	if err := g.server.Close(); err != nil {
		t.Fatal(err)
	}
	if root, sign := <-roots, <-signed; root != g.root || sign != g.root || len(roots)+len(signed) > 0 {
		t.Errorf("pushes %s and signs %s, and %d more", root, sign, len(roots)+len(signed))
	}
}
