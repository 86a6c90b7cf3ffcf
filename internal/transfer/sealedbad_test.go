package transfer

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// TestSealedDamage: a flipped byte, a cut and a byte more, in each blob, refuse the whole fetch.
func TestSealedDamage(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o, k, remote, f := sealedMachine(t)
	f.pushes(remote, "1\n")
	f.pushes(remote, "2\n")
	g := f.other().sealsFor(k)
	before := g.listing()
	names, ids := refsBelow(o, remote, "refs/cairn/")
	if len(names) != 3 {
		t.Fatalf("refs %q", names)
	}
	for i, name := range names {
		blob, part := ids[i], strings.HasPrefix(name, envelope.RefParts)
		if part {
			blob = strings.Fields(o.In(remote, "ls-tree", ids[i]))[2]
		}
		data := o.In(remote, "cat-file", "blob", blob)
		flipped := []byte(data)
		flipped[len(data)/2] ^= 1
		for why, bad := range map[string]string{"flipped": string(flipped), "cut": data[:len(data)-1], "half": data[:len(data)/2], "more": data + "x", "empty": ""} {
			id := strings.TrimSpace(o.Feed(remote, bad, "hash-object", "-w", "--stdin"))
			if part {
				id = strings.TrimSpace(o.Feed(remote, "100644 blob "+id+"\t000000\n", "mktree"))
			}
			o.In(remote, "update-ref", name, id)
			fetched, err := g.Fetch(t.Context(), remote)
			if !errors.Is(err, sealed.ErrDamaged) || len(fetched) > 0 {
				t.Errorf("%s, %s: fetched %q, %v", name, why, fetched, err)
			}
			g.same(before, why)
		}
		o.In(remote, "update-ref", name, ids[i])
	}
	g.fetch(remote)
}

// TestSealedPartsSwapped: a part in the place of another one is refused, also one of the same key and project.
func TestSealedPartsSwapped(t *testing.T) {
	t.Parallel()
	o, k, remote, f := sealedMachine(t)
	f.pushes(remote, "1\n")
	h := f.other().sealsFor(k)
	h.track(map[string]string{"b": "1\n"})
	h.push(remote)
	g := f.other().sealsFor(k)
	before := g.listing()
	for _, prefix := range []string{envelope.RefParts, envelope.RefNotes} {
		names, ids := refsBelow(o, remote, prefix)
		if len(names) != 2 {
			t.Fatalf("refs %q", names)
		}
		o.In(remote, "update-ref", names[0], ids[1])
		o.In(remote, "update-ref", names[1], ids[0])
		_, err := g.Fetch(t.Context(), remote)
		if !errors.Is(err, sealed.ErrDamaged) && !errors.Is(err, envelope.ErrForeign) {
			t.Errorf("%s swapped: %v", prefix, err)
		}
		g.same(before, "swapped")
		for i, name := range names {
			o.In(remote, "update-ref", name, ids[i])
		}
	}
}

// TestSealedReplay: an older note is refused by a machine that has seen a newer one, and so is one that another
// holder of the public key made. The next push of the owner mends it.
func TestSealedReplay(t *testing.T) {
	t.Parallel()
	o, k := gittest.NewOracle(t), newKey(t)
	remote := bareRepository(t, o)
	f, g := newMachine(t).sealsFor(k), (*machine)(nil)
	f.pushes(remote, "1\n")
	names, old := refsBelow(o, remote, envelope.RefNotes)
	f.pushes(remote, "2\n")
	g = f.other().sealsFor(k)
	g.fetch(remote)
	o.In(remote, "update-ref", names[0], old[0])
	before := g.listing()
	_, err := g.Fetch(t.Context(), remote)
	wantError(t, err, envelope.ErrReplayed)
	_, err = g.ListRemote(t.Context(), remote, false)
	wantError(t, err, envelope.ErrReplayed)
	g.same(before, "a replay")
	id := strings.TrimPrefix(names[0], envelope.RefNotes)
	store, _ := f.DB.Identity(false)
	forged := envelope.Note{ID: id, Proof: envelope.NewID(), Number: 1 << 60, Key: state.ProjectID(f.Root), Store: store}
	data, err := forged.Seal(sealed.Age{}, []string{k.recipient})
	if err != nil {
		t.Fatal(err)
	}
	o.In(remote, "update-ref", names[0], strings.TrimSpace(o.Feed(remote, string(data), "hash-object", "-w", "--stdin")))
	_, err = g.Fetch(t.Context(), remote)
	wantError(t, err, envelope.ErrForeign)
	g.same(before, "a forged note")
	c := f.pushes(remote, "3\n")
	g.fetch(remote)
	g.has(f, c)
}

// TestSealedHostile: a holder of the public key can seal what is no checkpoint. Nothing of it comes in.
func TestSealedHostile(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o, k := gittest.NewOracle(t), newKey(t)
	f := newMachine(t).sealsFor(k)
	f.track(map[string]string{"a": "1\n"})
	blob := blobOf("x\n")
	good := treeOf(object.Entry{Name: "a", Mode: object.Regular, ID: blob.id()})
	evil := treeOf(object.Entry{Name: ".git", Mode: object.Regular, ID: blob.id()})
	for why, test := range map[string]struct {
		name    string
		objects []packed
	}{
		".git":               {"tracks/x", []packed{commitOf(evil), evil, blob}},
		"a commit of others": {"tracks/x", []packed{commitOf(good, ""), good, blob}},
		"no commit":          {"tracks/x", []packed{blob}},
		"an evil name":       {"tracks/../../../heads/x", []packed{commitOf(good), good, blob}},
		"no name":            {"", []packed{commitOf(good), good, blob}},
		"a missing blob":     {"tracks/x", []packed{commitOf(treeOf(object.Entry{Name: "a", Mode: object.Regular, ID: blobOf("elsewhere").id()}))}},
	} {
		remote := bareRepository(t, o)
		forge(t, o, remote, f, k, map[string]string{test.name: test.objects[0].id().String()}, packOf(int64(len(test.objects)), test.objects...))
		before := f.listing()
		if fetched, err := f.Fetch(t.Context(), remote); err == nil || len(fetched) > 0 {
			t.Errorf("%s: fetched %q, %v", why, fetched, err)
		}
		f.same(before, why)
	}
	remote := bareRepository(t, o)
	fine := commitOf(good)
	forge(t, o, remote, f, k, map[string]string{"tracks/x": fine.id().String()}, packOf(3, fine, good, blob))
	f.fetch(remote)
}

// forge seals a pack as the part of a store that does not exist, with lines of its own choice.
func forge(t *testing.T, o *gittest.Oracle, remote string, m *machine, k key, tips map[string]string, pack []byte) {
	t.Helper()
	added := hashed{o, remote}
	w, err := envelope.NewWriter(added, sealed.Age{}, []string{k.recipient})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(pack); err != nil {
		t.Fatal(err)
	}
	part, tree, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	part.Tips = tips
	note := envelope.Note{
		ID: envelope.NewID(), Proof: envelope.NewID(), Number: 1, Key: state.ProjectID(m.Root), Store: "0123456789abcdef",
		About: []byte("{}"), Parts: []envelope.Part{part},
	}
	data, err := note.Seal(sealed.Age{}, []string{k.recipient})
	if err != nil {
		t.Fatal(err)
	}
	id, err := added.Add(object.Blob, data)
	if err != nil {
		t.Fatal(err)
	}
	o.In(remote, "update-ref", envelope.RefNotes+note.ID, id.String())
	o.In(remote, "update-ref", part.Ref(note.ID), tree.String())
}

// hashed adds objects to a repository by git.
type hashed struct {
	o   *gittest.Oracle
	dir string
}

// Add implements envelope.Adder.
func (h hashed) Add(kind object.Kind, content []byte) (object.ID, error) {
	return object.ParseID(strings.TrimSpace(h.o.Feed(h.dir, string(content), "hash-object", "-w", "-t", kind.String(), "--stdin")))
}

// TestSealedLater: a note of a later release is left out, and the lines of the other stores come.
func TestSealedLater(t *testing.T) {
	t.Parallel()
	o, k, remote, f := sealedMachine(t)
	f.pushes(remote, "1\n")
	for version, want := range map[string]error{"2": nil, "0": sealed.ErrDamaged, `"2"`: sealed.ErrDamaged} {
		var data bytes.Buffer
		w, err := sealed.Age{}.Seal(&data, []string{k.recipient})
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(w)
		_, err = z.Write([]byte(`{"v":` + version + `,"parts":"of another form"}`))
		if err := errors.Join(err, z.Close(), w.Close()); err != nil {
			t.Fatal(err)
		}
		id := strings.TrimSpace(o.Feed(remote, data.String(), "hash-object", "-w", "--stdin"))
		o.In(remote, "update-ref", envelope.RefNotes+envelope.NewID(), id)
		g := f.other().sealsFor(k)
		fetched, err := g.Fetch(t.Context(), remote)
		if !errors.Is(err, want) || (err == nil) != (len(fetched) > 0) {
			t.Errorf("version %s: fetched %q, %v", version, fetched, err)
		}
		for name := range strings.Lines(o.In(remote, "for-each-ref", "--format=%(refname)", envelope.RefNotes)) {
			if name = strings.TrimSpace(name); strings.Contains(o.In(remote, "rev-parse", name), id) {
				o.In(remote, "update-ref", "-d", name)
			}
		}
	}
}
