package transfer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// TestSealedCutLine: a line whose beginning was cleaned away goes on where the remote has the beginning.
func TestSealedCutLine(t *testing.T) {
	t.Parallel()
	_, k, remote, f := sealedMachine(t)
	next := newKey(t)
	first := f.pushes(remote, "1\n")
	second := f.pushes(remote, "2\n")
	if err := f.DB.SetShallow([]object.ID{history.IDOf(second)}); err != nil {
		t.Fatal(err)
	}
	third := f.track(map[string]string{"a": "3\n"})
	if pushed := f.push(remote); len(pushed) != 1 {
		t.Errorf("pushed %q", pushed)
	}
	g := f.other().sealsFor(k)
	g.fetch(remote)
	g.has(f, first, second, third)
	f.pin(third.ID, "p") // leads to the same beginning
	if pushed := f.push(remote); len(pushed) != 1 {
		t.Errorf("pushed %q", pushed)
	}
	if pushed := f.sealsFor(next).push(remote); len(pushed) != 0 {
		t.Errorf("pushed %q, though the beginning is not here to be sealed again", pushed)
	}
}

// TestSealedRekey: other recipients get everything, and the former identity opens nothing of what is there.
func TestSealedRekey(t *testing.T) {
	t.Parallel()
	o, former, remote, f := sealedMachine(t)
	next := newKey(t)
	first := f.pushes(remote, "1\n")
	second := f.pushes(remote, "2\n")
	g := f.other().sealsFor(former)
	g.fetch(remote)
	_, before := refsBelow(o, remote, "refs/cairn/")
	f.sealsFor(next).push(remote)
	names, after := refsBelow(o, remote, "refs/cairn/")
	if len(names) != 2 || slices.ContainsFunc(after, func(id string) bool { return slices.Contains(before, id) }) {
		t.Errorf("refs %q after another key", names)
	}
	h := f.other().sealsFor(former)
	if _, err := h.Fetch(t.Context(), remote); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("with the former key: %v", err)
	}
	h.sealsFor(next).fetch(remote)
	h.has(f, first, second)
	third := f.pushes(remote, "3\n")
	g.sealsFor(next).fetch(remote)
	g.has(f, third)
}

// TestSealedLostRemote: what the remote has lost comes again, and so does a push whose end was not known.
func TestSealedLostRemote(t *testing.T) {
	t.Parallel()
	o, k, remote, f := sealedMachine(t)
	c := f.pushes(remote, "1\n")
	for why, lose := range map[string]func(){
		"a part": func() {
			names, _ := refsBelow(o, remote, envelope.RefParts)
			o.In(remote, "update-ref", "-d", names[0])
		},
		"the note": func() {
			names, _ := refsBelow(o, remote, envelope.RefNotes)
			o.In(remote, "update-ref", "-d", names[0])
		},
		"everything": func() {
			os.RemoveAll(remote)
			o.In(filepath.Dir(remote), "init", "-q", "--bare", "--template=", remote)
		},
	} {
		lose()
		f.push(remote)
		g := f.other().sealsFor(k)
		g.fetch(remote)
		g.has(f, c)
		if names, _ := refsBelow(o, remote, "refs/cairn/"); len(names) != 2 {
			t.Errorf("%s: refs %q", why, names)
		}
	}
}

// TestSealedCopiedStore: two copies of one store that push to one remote lose no line, and come to rest.
func TestSealedCopiedStore(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o, k := gittest.NewOracle(t), newKey(t)
	remote := bareRepository(t, o)
	f, twin := newMachine(t).sealsFor(k), newMachine(t).sealsFor(k)
	f.pushes(remote, "1\n")
	for _, m := range []*machine{f, twin} {
		if err := m.SetProjectID(t.Context(), "shop"); err != nil {
			t.Fatal(err)
		}
	}
	twin.takesOver(f)
	var ours, theirs *history.Checkpoint
	for i := range 4 {
		ours = f.session("ours", "x", int64(i), map[string]string{"a": fmt.Sprint("ours", i)})
		f.push(remote)
		theirs = twin.session("theirs", "x", int64(i), map[string]string{"a": fmt.Sprint("theirs", i)})
		twin.push(remote)
	}
	if names, _ := refsBelow(o, remote, envelope.RefNotes); len(names) != 2 {
		t.Errorf("notes %q", names)
	}
	g := newMachine(t).sealsFor(k)
	if err := g.SetProjectID(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	g.fetch(remote)
	g.has(f, ours)
	g.has(twin, theirs)
}

// TestSealedAtOnce: many machines, and two processes of one, push at once and lose nothing.
func TestSealedAtOnce(t *testing.T) {
	t.Parallel()
	o, k := gittest.NewOracle(t), newKey(t)
	remote := bareRepository(t, o)
	first := newMachine(t).sealsFor(k)
	machines := []*machine{first, machineOf(t, statetest.Reopen(t, first.Store)).sealsFor(k)}
	for range 3 {
		machines = append(machines, first.other().sealsFor(k))
	}
	var want []*history.Checkpoint
	errs := make(chan error)
	for i, m := range machines {
		want = append(want, m.session(fmt.Sprint("s", i), "x", 1, map[string]string{"a": fmt.Sprint(i)}))
	}
	for _, m := range machines {
		go func() {
			_, err := m.Push(t.Context(), remote)
			errs <- err
		}()
	}
	for range machines {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	o.In(remote, "fsck", "--strict")
	g := first.other().sealsFor(k)
	g.fetch(remote)
	for i, m := range machines {
		g.has(m, want[i])
	}
}

// TestSealedClean: lines that the store has dropped go from the remote, which is written again.
func TestSealedClean(t *testing.T) {
	t.Parallel()
	o, k, remote, f := sealedMachine(t)
	c := f.track(map[string]string{"a": "1\n"})
	f.session("gone", "x", 1, map[string]string{"a": "2\n"})
	f.push(remote)
	if err := f.DB.DeleteRef(history.LineRef("gone")); err != nil {
		t.Fatal(err)
	}
	if pushed := f.push(remote); len(pushed) != 0 {
		t.Errorf("pushed %q", pushed)
	}
	before := refsOf(o, remote)
	if would := f.cleanRemote(remote, true); len(would) != 1 || refsOf(o, remote) != before {
		t.Errorf("would drop %q", would)
	}
	if dropped := f.cleanRemote(remote, false); len(dropped) != 1 {
		t.Errorf("dropped %q", dropped)
	}
	g := f.other().sealsFor(k)
	g.fetch(remote)
	g.has(f, c)
	if refs := refsOf(o, g.DB.Dir()); strings.Contains(refs, "gone") {
		t.Errorf("refs\n%s", refs)
	}
}

// TestSealedCleanCut: a cleaning of the remote takes no line away that goes on here and has its beginning only there.
func TestSealedCleanCut(t *testing.T) {
	t.Parallel()
	o, k, remote, f := sealedMachine(t)
	first := f.track(map[string]string{"a": "1\n"})
	second := f.track(map[string]string{"a": "2\n"})
	f.session("gone", "x", 1, map[string]string{"b": "2\n"})
	f.push(remote)
	if err := f.DB.DeleteRef(history.LineRef("gone")); err != nil {
		t.Fatal(err)
	}
	if err := f.DB.SetShallow([]object.ID{history.IDOf(second)}); err != nil {
		t.Fatal(err)
	}
	before := refsOf(o, remote)
	for _, dryRun := range []bool{true, false} {
		_, err := f.CleanRemote(t.Context(), remote, dryRun)
		if err == nil || !strings.Contains(err.Error(), "its beginning is only there") || refsOf(o, remote) != before {
			t.Errorf("dry run %v: %v, and the remote has\n%s", dryRun, err, refsOf(o, remote))
		}
	}
	g := f.other().sealsFor(k)
	g.fetch(remote)
	g.has(f, first, second)
}

// TestSealedAgain: a line that was begun again gets a second name, as in an open push.
func TestSealedAgain(t *testing.T) {
	t.Parallel()
	_, k, remote, f := sealedMachine(t)
	first := f.pushes(remote, "1\n")
	f.removeLines()
	second := f.track(map[string]string{"a": "2\n"})
	pushed := f.push(remote)
	if len(pushed) != 1 || !strings.HasSuffix(pushed[0], "-"+second.ID[:12]) {
		t.Errorf("pushed %q", pushed)
	}
	third := f.track(map[string]string{"a": "3\n"})
	if again := f.push(remote); !slices.Equal(again, pushed) {
		t.Errorf("pushed %q, then %q", pushed, again)
	}
	g := f.other().sealsFor(k)
	g.fetch(remote)
	g.has(f, first, second, third)
}

// TestSealedLostObject: objects that the store has lost come back from what it sealed itself.
func TestSealedLostObject(t *testing.T) {
	t.Parallel()
	_, k, remote, f := sealedMachine(t)
	c := f.pushes(remote, "1\n")
	f.pushes(remote, "2\n")
	g := f.other().sealsFor(k)
	g.fetch(remote)
	// What a cleaning drops, without a ref to it, comes again although it has come before.
	for _, ref := range []string{"refs/cairn/remotes", "objects"} {
		if err := os.RemoveAll(filepath.Join(g.DB.Dir(), filepath.FromSlash(ref))); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"objects/pack", "objects/info"} {
		if err := os.MkdirAll(filepath.Join(g.DB.Dir(), filepath.FromSlash(dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h := machineOf(t, statetest.Reopen(t, g.Store)).sealsFor(k)
	h.fetch(remote)
	h.has(f, c)
}

// takesOver gives a store the identity of another one, and what it knows of remotes.
func (m *machine) takesOver(other *machine) {
	m.Helper()
	for _, name := range []odb.Private{"id", odb.PrivateSealed} {
		data, err := os.ReadFile(other.DB.PrivatePath(string(name)))
		if err != nil {
			m.Fatal(err)
		}
		if err := os.WriteFile(m.DB.PrivatePath(string(name)), data, 0o600); err != nil {
			m.Fatal(err)
		}
	}
}

// TestSealedCleanRewritten: a cleaning of the remote takes away what a purge has rewritten, with its contents.
func TestSealedCleanRewritten(t *testing.T) {
	t.Parallel()
	_, k, remote, f := sealedMachine(t)
	old := f.session("s", "x", 1, map[string]string{"a": "a secret\n"})
	f.push(remote)
	rewritten := f.other().sealsFor(k)
	rewritten.takesOver(f)
	c := rewritten.session("s", "x", 1, map[string]string{"a": "none\n"})
	rewritten.push(remote)
	if dropped := rewritten.cleanRemote(remote, false); !slices.Equal(dropped, []string{"sessions/s"}) {
		t.Errorf("dropped %q", dropped)
	}
	if dropped := rewritten.cleanRemote(remote, true); len(dropped) != 0 {
		t.Errorf("would drop %q", dropped)
	}
	g := f.other().sealsFor(k)
	g.fetch(remote)
	g.has(rewritten, c)
	if _, err := g.Lookup(t.Context(), old.ID); err == nil {
		t.Error("the old state is still there")
	}
}

// TestSealedCleanAfterOpenPushes: where a store pushes openly since, a cleaning of the remote takes away its sealed lines
// if they hold a state that a purge has rewritten. Before, it takes none: sealed lines may be all that is there.
func TestSealedCleanAfterOpenPushes(t *testing.T) {
	t.Parallel()
	o, k, remote, f := sealedMachine(t)
	old := f.session("s", "x", 1, map[string]string{"a": "a secret\n"})
	f.push(remote)
	rewritten := f.other().sealsFor(k)
	rewritten.takesOver(f)
	c := rewritten.session("s", "x", 1, map[string]string{"a": "none\n"})
	rewritten.Opt.Encrypt = []string{settings.EncryptNone}
	if dropped := rewritten.cleanRemote(remote, false); len(dropped) != 0 {
		t.Errorf("dropped %q before an open push", dropped)
	}
	rewritten.push(remote)
	for _, dry := range []bool{true, false} {
		if dropped := rewritten.cleanRemote(remote, dry); !slices.Equal(dropped, []string{"sessions/s"}) {
			t.Errorf("dry run %v: dropped %q", dry, dropped)
		}
	}
	if refs := refsOf(o, remote); strings.Contains(refs, envelope.RefNotes) || strings.Contains(refs, envelope.RefParts) {
		t.Errorf("left\n%s", refs)
	}
	if dropped := rewritten.cleanRemote(remote, true); len(dropped) != 0 {
		t.Errorf("would drop %q again", dropped)
	}
	g := f.other().sealsFor(k)
	g.fetch(remote)
	g.has(rewritten, c)
	if _, err := g.Lookup(t.Context(), old.ID); err == nil {
		t.Error("the old state is still there")
	}
	rewritten.sealsFor(k).push(remote)
	g.fetch(remote)
}
