package transfer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// TestSealedStaysSealed: a push that names no recipient to a remote that was pushed to sealed is sealed, until an
// open one is asked for.
func TestSealedStaysSealed(t *testing.T) {
	t.Parallel()
	o, k, remote, f := sealedMachine(t)
	f.pushes(remote, "1\n")
	f.Opt.Encrypt = nil
	f.pushes(remote, "2\n")
	own := func() int { names, _ := refsBelow(o, remote, "refs/cairn/"+state.ProjectID(f.Root)); return len(names) }
	if own() != 0 {
		t.Error("the push was open")
	}
	if err := os.WriteFile(f.DB.PrivatePath(string(odb.PrivateSealed)), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Push(t.Context(), remote); err == nil || own() != 0 {
		t.Errorf("after damage: %v", err)
	}
	g := f.other().sealsFor(k)
	g.fetch(remote)
	f.Opt.Encrypt = []string{settings.EncryptNone}
	c := f.pushes(remote, "3\n")
	if own() != 1 {
		t.Error("the push was not open")
	}
	g.fetch(remote) // both are there, and the open lines are newer
	g.has(f, c)
	f.Opt.Encrypt = nil
	c = f.pushes(remote, "4\n")
	g.Opt.Identity = ""
	g.fetch(remote)
	g.has(f, c)
}

// TestSealedTwice: where a store has begun a second note, that one says where a pin is.
func TestSealedTwice(t *testing.T) {
	t.Parallel()
	o, k, remote, f := sealedMachine(t)
	old := f.session("s", "x", 1, map[string]string{"a": "1\n"})
	f.Now = func() time.Time { return time.Now().Add(time.Hour) }
	f.pin(f.track(map[string]string{"a": "2\n"}).ID, "p")
	f.push(remote)
	if err := f.DB.DropPrivate(odb.PrivateSealed); err != nil {
		t.Fatal(err)
	}
	if err := f.Unpin(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	f.pin(old.ID, "p")
	f.push(remote)
	if names, _ := refsBelow(o, remote, envelope.RefNotes); len(names) != 2 {
		t.Errorf("notes %q", names)
	}
	g := f.other().sealsFor(k)
	g.fetch(remote)
	store, _ := f.DB.Identity(false)
	if id, err := g.DB.Ref(history.RefRemotes + store + "/pins/p"); id != history.IDOf(old) {
		t.Errorf("the pin is at %s, %v, want %s", id, err, old.ID)
	}
}

// noSealer fails before anything is sealed.
type noSealer struct{ sealed.Age }

var errNoSeal = errors.New("nothing is sealed")

func (noSealer) Seal(io.Writer, []string) (io.WriteCloser, error) { return nil, errNoSeal }

// TestSealedAfterFailure: after a sealed push that failed early, one that names no recipient is sealed.
func TestSealedAfterFailure(t *testing.T) {
	t.Parallel()
	o, _, remote, f := sealedMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.Opt.Sealer = noSealer{}
	_, err := f.Push(t.Context(), remote)
	wantError(t, err, errNoSeal)
	f.Opt.Encrypt, f.Opt.Sealer = nil, sealed.Age{}
	f.push(remote)
	if names, _ := refsBelow(o, remote, "refs/cairn/"); len(names) != 2 || !strings.HasPrefix(names[0], envelope.RefParts) {
		t.Errorf("refs %q", names)
	}
}

// TestSealedThenOpen: what a store has pushed openly since counts, also where no commit leads to the other one: a pin
// that was moved, a line that was begun again, and signatures.
func TestSealedThenOpen(t *testing.T) {
	t.Parallel()
	_, k, remote, f := sealedMachine(t)
	f.session("s", "x", 1, map[string]string{"a": "1\n"})
	f.signed("sessions/s", "{\"text\":\"1\"}\n")
	f.pin(f.track(map[string]string{"a": "1\n"}).ID, "p")
	f.push(remote)
	g := f.other().sealsFor(k)
	g.fetch(remote)
	f.removeLines()
	if err := errors.Join(f.DB.DeleteRef(history.LineRef("s")), f.Unpin(t.Context(), "p")); err != nil {
		t.Fatal(err)
	}
	f.Now = func() time.Time { return time.Now().Add(time.Hour) }
	f.Opt.Encrypt = []string{settings.EncryptNone}
	want := map[string]object.ID{
		"remotes/%s/sessions/s":            history.IDOf(f.session("s", "x", 2, map[string]string{"a": "2\n"})),
		"signatures/remotes/%s/sessions/s": f.signed("sessions/s", "{\"text\":\"2\"}\n"),
	}
	c := f.track(map[string]string{"a": "2\n"})
	f.pin(c.ID, "p")
	want["remotes/%s/pins/p"] = history.IDOf(c)
	f.push(remote)
	g.fetch(remote)
	store, _ := f.DB.Identity(false)
	for name, id := range want {
		if got, err := g.DB.Ref(history.RefRoot + fmt.Sprintf(name, store)); got != id {
			t.Errorf("%s is %s, %v, want %s", name, got, err, id)
		}
	}
}

// TestSealedForgotten: after damage to what is known of remotes, a push to one of them names the recipients of that
// one alone. To the others nothing goes open by itself.
func TestSealedForgotten(t *testing.T) {
	t.Parallel()
	o, k := gittest.NewOracle(t), newKey(t)
	one, two := bareRepository(t, o), bareRepository(t, o)
	f := newMachine(t).sealsFor(k)
	f.track(map[string]string{"a": "1\n"})
	f.push(one)
	f.push(two)
	for i, damage := range []string{"{", "null", ""} {
		if err := os.WriteFile(f.DB.PrivatePath(string(odb.PrivateSealed)), []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		f.track(map[string]string{"a": fmt.Sprint("again", i)})
		f.sealsFor(k).push(one)
		f.Opt.Encrypt = nil
		f.push(one)
		if _, err := f.Push(t.Context(), two); !errors.Is(err, errForgotten) {
			t.Errorf("%q: the push to the other remote: %v", damage, err)
		}
		if names, _ := refsBelow(o, two, "refs/cairn/"+state.ProjectID(f.Root)); len(names) > 0 {
			t.Errorf("%q: the push to the other remote was open", damage)
		}
	}
	f.Opt.Encrypt = []string{settings.EncryptNone}
	f.push(two)
	f.Opt.Encrypt = nil
	f.track(map[string]string{"a": "open\n"})
	if pushed := f.push(two); len(pushed) != 1 {
		t.Errorf("pushed %q after an open push was asked for", pushed)
	}
}

// TestSealedSeen: of two fetches that end in the other order, the newer notes are remembered. A damaged file is named.
func TestSealedSeen(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for _, seen := range []envelope.Seen{
		{"a": {Proof: "p", Number: 1}, "b": {Proof: "q", Number: 7}},
		{"a": {Proof: "p", Number: 6, Parts: []string{"x"}}},
		{"a": {Proof: "p", Number: 5, Parts: []string{"x", "y"}}},
		{"a": {Proof: "p", Number: 6}},
	} {
		f := &sealedFetch{Transport: m.Transport, seen: seen}
		if err := m.Exclusive(t.Context(), f.writeSeen); err != nil {
			t.Fatal(err)
		}
	}
	seen, err := m.seenNotes()
	if err != nil || seen["a"].Number != 6 || len(seen["a"].Parts) != 1 || seen["b"].Number != 7 {
		t.Errorf("seen %+v, %v", seen, err)
	}
	path := m.DB.PrivatePath(string(odb.PrivateSeen))
	for _, damage := range []string{"{", "null", ""} {
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := m.seenNotes(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", damage, err)
		}
	}
}

// TestSealedOnlyMine: a fetch from a remote that has sealed lines of this store alone brings nothing, and is no error.
func TestSealedOnlyMine(t *testing.T) {
	t.Parallel()
	_, _, remote, f := sealedMachine(t)
	f.pushes(remote, "1\n")
	for range 2 {
		if fetched, err := f.Fetch(t.Context(), remote); err != nil || len(fetched) > 0 {
			t.Errorf("fetched %q, %v", fetched, err)
		}
	}
	_, err := newMachine(t).sealsFor(key{f.Opt.Encrypt[0], f.Opt.Identity}).Fetch(t.Context(), remote)
	wantError(t, err, state.ErrNotFound)
}

// openedSealed has a machine that pushes sealed, and another one with the same key and no recipient, which has fetched
// that and has a checkpoint of its own.
func openedSealed(t *testing.T) (o *gittest.Oracle, remote string, f, g *machine) {
	o, k, remote, f := sealedMachine(t)
	f.pushes(remote, "1\n")
	g = f.other().sealsFor(k)
	g.Opt.Encrypt = nil
	g.fetch(remote)
	g.track(map[string]string{"own": "1\n"})
	return o, remote, f, g
}

// TestOpenedIsNotShown: a store that has opened sealed lines of another one pushes there in the open only when it was
// told to. Its own lines may hold theirs, as those of a resumed session do.
func TestOpenedIsNotShown(t *testing.T) {
	t.Parallel()
	o, remote, f, g := openedSealed(t)
	refs := refsOf(o, remote)
	for range 2 {
		if _, err := g.Push(t.Context(), remote); !errors.Is(err, errShown) {
			t.Fatal(err)
		}
	}
	if now := refsOf(o, remote); now != refs {
		t.Errorf("the remote has\n%s", now)
	}
	g.Opt.Encrypt = []string{settings.EncryptNone}
	g.push(remote)
	g.Opt.Encrypt = nil
	f.pushes(remote, "2\n")
	g.fetch(remote)
	g.track(map[string]string{"own": "2\n"})
	g.push(remote) // it was told so
}

// TestOpenedIsSealed: recipients settle it as well.
func TestOpenedIsSealed(t *testing.T) {
	t.Parallel()
	o, remote, f, g := openedSealed(t)
	g.Opt.Encrypt = f.Opt.Encrypt
	g.push(remote)
	g.Opt.Encrypt = nil
	g.fetch(remote)
	g.track(map[string]string{"own": "2\n"})
	g.push(remote)
	if refs := refsOf(o, remote); strings.Contains(refs, "/tracks/") {
		t.Errorf("the remote has\n%s", refs)
	}
}
