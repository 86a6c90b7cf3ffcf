package transfer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// TestSealedMerge: beyond some number of parts the newest become one, and the large ones stay. A machine that
// fetched before and one that did not get everything, also a line that the first store has dropped since.
func TestSealedMerge(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o, k := gittest.NewOracle(t), newKey(t)
	remote := bareRepository(t, o)
	f, g := newMachine(t).sealsFor(k), (*machine)(nil)
	f.mostParts = 8
	data := make([]byte, 200_000)
	rand.NewChaCha8([32]byte{1}).Read(data)
	large, most := string(data), 0
	var last *history.Checkpoint
	for i := range 30 {
		last = f.track(map[string]string{"large": large, "a": fmt.Sprint(i)})
		switch i {
		case 3:
			f.session("gone", "x", 1, map[string]string{"b": "of a session\n"})
		case 5:
			if err := f.DB.DeleteRef(history.LineRef("gone")); err != nil {
				t.Fatal(err)
			}
		case 10:
			g = f.other().sealsFor(k)
			g.fetch(remote)
		}
		f.push(remote)
		names, _ := refsBelow(o, remote, envelope.RefParts)
		most = max(most, len(names))
	}
	if most < 8 || most > 14 { // a part with the line that is gone stays, with those before it
		t.Errorf("%d parts at most", most)
	}
	h := f.other().sealsFor(k)
	for _, m := range []*machine{g, h} {
		m.fetch(remote)
		m.has(f, last)
		store, _ := f.DB.Identity(false)
		id, err := m.DB.Ref(history.RefRemotes + store + "/sessions/gone")
		if err != nil {
			t.Fatal(err)
		}
		if got := statetest.Contents(t, m.Store, id.String()); got["b"] != "of a session\n" {
			t.Errorf("the session that is gone has %v", got)
		}
	}
	o.In(h.DB.Dir(), "fsck", "--strict", "--full")
	if kib, want := packedKiB(t, o, remote), 3*200; kib > want {
		t.Errorf("%d KiB were sent, want at most %d: the large part was sent again", kib, want)
	}
}

// TestSealedMergeSigned: lists of signatures, of which each push brings the newest, keep no part from becoming one
// with others.
func TestSealedMergeSigned(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o, k, remote, f := sealedMachine(t)
	f.mostParts = 4
	var list object.ID
	for i := range 10 {
		f.session("s", "x", int64(i), map[string]string{"a": fmt.Sprint(i)})
		list = f.signed("sessions/s", fmt.Sprintf("{\"text\":\"%d\"}\n", i))
		f.push(remote)
	}
	if names, _ := refsBelow(o, remote, envelope.RefParts); len(names) > 4 {
		t.Errorf("%d parts", len(names))
	}
	g := f.other().sealsFor(k)
	g.fetch(remote)
	store, _ := f.DB.Identity(false)
	if id, err := g.DB.Ref(history.RefSignatures + "remotes/" + store + "/sessions/s"); id != list {
		t.Errorf("signatures %s, %v, want %s", id, err, list)
	}
}

// TestSealedMergeThinned: a head on the remote that is thinned here stays in its part.
func TestSealedMergeThinned(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	_, k, remote, f := sealedMachine(t)
	c := f.pushes(remote, "1\n")
	later := f.other().sealsFor(k)
	later.takesOver(f)
	later.thinned(f, c)
	later.mostParts = 4
	var last *history.Checkpoint
	for i := range 8 {
		last = later.session("s", "x", int64(i), map[string]string{"a": fmt.Sprint(i)})
		later.push(remote)
	}
	g := f.other().sealsFor(k)
	g.fetch(remote)
	g.has(f, c)
	g.has(later, last)
}

// thinned records a checkpoint of another store as thinned in this one.
func (m *machine) thinned(from *machine, c *history.Checkpoint) {
	m.Helper()
	_, data, err := from.DB.Read(history.IDOf(c))
	if err != nil {
		m.Fatal(err)
	}
	batch := m.DB.NewBatch()
	defer batch.Discard()
	id, err := thinned.Add(batch, map[object.ID]*thinned.Record{history.IDOf(c): {At: 1, Rule: "hourly", Commit: data}}, nil)
	if err == nil {
		err = batch.Commit(odb.RefUpdate{Name: thinned.Ref, ID: id})
	}
	if err != nil {
		m.Fatal(err)
	}
	if _, err := m.ReadCheckpoint(history.IDOf(c)); err != nil {
		m.Fatal(err)
	}
}

// signed sets the list of signatures of a line.
func (m *machine) signed(line, text string) object.ID {
	m.Helper()
	batch := m.DB.NewBatch()
	defer batch.Discard()
	id, err := batch.Add(object.Blob, []byte(text))
	if err == nil {
		err = batch.Commit(odb.RefUpdate{Name: history.RefSignatures + line, ID: id})
	}
	if err != nil {
		m.Fatal(err)
	}
	return id
}

// packedKiB is the size of the objects of a repository, of which no cleaning has removed any.
func packedKiB(t *testing.T, o *gittest.Oracle, dir string) (kib int) {
	t.Helper()
	var count, loose, packed int
	text := o.In(dir, "count-objects", "-v")
	for line := range strings.Lines(text) {
		fmt.Sscanf(line, "size: %d", &loose)
		fmt.Sscanf(line, "size-pack: %d", &packed)
		fmt.Sscanf(line, "count: %d", &count)
	}
	return max(loose-4*count, 0) + packed // files take whole blocks
}
