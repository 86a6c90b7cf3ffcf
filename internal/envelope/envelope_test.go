package envelope

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
)

func newKey(t testing.TB) (recipients []string, identity []byte) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return []string{id.Recipient().String()}, []byte(id.String())
}

// heap keeps objects in memory.
type heap map[object.ID]struct {
	kind object.Kind
	data []byte
}

// Add implements Adder.
func (h heap) Add(kind object.Kind, content []byte) (object.ID, error) {
	id := object.Sum(kind, content)
	h[id] = struct {
		kind object.Kind
		data []byte
	}{kind, bytes.Clone(content)}
	return id, nil
}

// Read implements Objects.
func (h heap) Read(id object.ID) (object.Kind, []byte, error) {
	o, ok := h[id]
	if !ok {
		return 0, nil, errors.New("no object")
	}
	return o.kind, o.data, nil
}

// Stat implements Objects.
func (h heap) Stat(id object.ID) (object.Kind, int64, error) {
	kind, data, err := h.Read(id)
	return kind, int64(len(data)), err
}

func sealPart(t *testing.T, h heap, recipients []string, content []byte) (Part, object.ID) {
	t.Helper()
	w, err := NewWriter(h, sealed.Age{}, recipients)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	p, tree, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return p, tree
}

func openPart(h heap, tree object.ID, p Part, identity []byte) ([]byte, error) {
	r, err := NewReader(h, sealed.Age{}, tree, p, identity)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// TestPart: a part of no byte, of one piece and of several is read as it was written. One with a piece too few,
// too many, or in another place is refused.
func TestPart(t *testing.T) {
	t.Parallel()
	recipients, identity := newKey(t)
	random := make([]byte, 2*PieceSize+12345)
	rand.NewChaCha8([32]byte{2}).Read(random)
	for _, size := range []int{0, 1, 100_000, len(random)} {
		h := make(heap)
		p, tree := sealPart(t, h, recipients, random[:size])
		got, err := openPart(h, tree, p, identity)
		if err != nil || !bytes.Equal(got, random[:size]) {
			t.Fatalf("%d bytes: %d, %v", size, len(got), err)
		}
		_, data, _ := h.Read(tree)
		entries, err := object.ParseTree(data)
		if err != nil || len(entries) != 1+size/PieceSize {
			t.Fatalf("%d bytes in %d pieces, %v", size, len(entries), err)
		}
		empty, _ := h.Add(object.Blob, nil)
		nothing := object.Entry{Name: "0", Mode: object.Regular, ID: empty}
		for why, bad := range map[string][]object.Entry{"an empty piece": append([]object.Entry{nothing}, entries...), "too few": entries[1:], "too many": append(entries[:len(entries):len(entries)], entries...), "none": nil} {
			tree, _ := h.Add(object.Tree, object.AppendTree(nil, bad))
			if _, err := openPart(h, tree, p, identity); !errors.Is(err, sealed.ErrDamaged) {
				t.Errorf("%d bytes, %s: %v", size, why, err)
			}
		}
		other := p
		other.Sum = strings.Repeat("0", 64)
		if _, err := openPart(h, tree, other, identity); !errors.Is(err, sealed.ErrDamaged) {
			t.Errorf("another part: %v", err)
		}
	}
}

// TestPartOfManyPieces: a tree with more pieces than a push makes is refused before it is read.
func TestPartOfManyPieces(t *testing.T) {
	t.Parallel()
	recipients, identity := newKey(t)
	h := make(heap)
	p, tree := sealPart(t, h, recipients, []byte("x"))
	_, data, _ := h.Read(tree)
	many, _ := h.Add(object.Tree, bytes.Repeat(data, maxPieces+1))
	if _, err := openPart(h, many, p, identity); !errors.Is(err, sealed.ErrDamaged) || !strings.Contains(err.Error(), "its ref is a tree of") {
		t.Error(err)
	}
}

// TestNote: a note is read as it was written, and what no push writes is refused.
func TestNote(t *testing.T) {
	t.Parallel()
	recipients, identity := newKey(t)
	id := NewID()
	fine := func() *Note {
		return &Note{
			ID: id, Proof: NewID(), Number: 7, Key: "id-shop", Store: "0123456789abcdef", About: []byte(`{"v":1}`),
			Parts: []Part{{Sum: strings.Repeat("a", 64), Size: 1, Tips: map[string]string{"pins/p": strings.Repeat("1", 40)}}},
		}
	}
	for why, change := range map[string]func(*Note){
		"": func(*Note) {}, "another id": func(n *Note) { n.ID = NewID() }, "no proof": func(n *Note) { n.Proof = "" }, "no number": func(n *Note) { n.Number = 0 },
		"no project": func(n *Note) { n.Key = "../x" }, "no store": func(n *Note) { n.Store = "x/y" }, "no sum": func(n *Note) { n.Parts[0].Sum = "../../x" },
		"no size": func(n *Note) { n.Parts[0].Size = -1 }, "no commit": func(n *Note) { n.Parts[0].Tips["pins/p"] = "--x" },
		"the zero commit": func(n *Note) { n.Parts[0].Tips["pins/p"] = strings.Repeat("0", 40) },
	} {
		n := fine()
		change(n)
		data, err := n.Seal(sealed.Age{}, recipients)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Open(sealed.Age{}, id, data, identity)
		if (err == nil) != (why == "") {
			t.Errorf("%q: %v", why, err)
		}
		if err == nil && (got.Number != 7 || Heads(got.Parts)["pins/p"].ID.IsZero()) {
			t.Errorf("read %+v", got)
		}
	}
	_, other := newKey(t)
	data, err := fine().Seal(sealed.Age{}, recipients)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(sealed.Age{}, id, data, other); !errors.Is(err, sealed.ErrKey) {
		t.Errorf("another key: %v", err)
	}
	long := fine()
	long.About = []byte(`"` + strings.Repeat("x", MaxNote) + `"`)
	if _, err := long.Seal(sealed.Age{}, recipients); err == nil {
		t.Error("a note is sealed that no reader takes")
	}
	var bomb bytes.Buffer
	w, err := sealed.Seal(&bomb, recipients)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "no note"); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	if _, err := Open(sealed.Age{}, id, bomb.Bytes(), identity); !errors.Is(err, sealed.ErrDamaged) {
		t.Errorf("no note: %v", err)
	}
}

// TestSeen: of one id only newer notes with the same proof are taken.
func TestSeen(t *testing.T) {
	t.Parallel()
	seen := Seen{"x": {Proof: "p", Number: 5}}
	for want, n := range map[error]*Note{nil: {ID: "x", Proof: "p", Number: 5}, ErrReplayed: {ID: "x", Proof: "p", Number: 4}, ErrForeign: {ID: "x", Proof: "q", Number: 9}} {
		if err := seen.Check(n); !errors.Is(err, want) {
			t.Errorf("%+v: %v, want %v", n, err, want)
		}
	}
	if err := seen.Check(&Note{ID: "y", Proof: "q", Number: 1}); err != nil {
		t.Errorf("a new id: %v", err)
	}
}

// TestMergeFrom: few parts stay, many small ones become one, a large one and those of lines that are gone stay.
func TestMergeFrom(t *testing.T) {
	t.Parallel()
	parts := func(sizes ...int64) (list []Part) {
		for _, size := range sizes {
			list = append(list, Part{Size: size})
		}
		return list
	}
	for _, c := range []struct {
		parts       []Part
		fixed, want int
	}{
		{nil, 0, 0},
		{parts(1, 1, 1), 0, 3},
		{parts(1, 1, 1, 1), 0, 0},
		{parts(100, 1, 1, 1), 0, 1},
		{parts(100, 50, 1, 1), 0, 2},
		{parts(100, 50, 30, 30), 0, 0},
		{parts(1, 1, 1, 1), 1, 1},
		{parts(1, 1, 1, 1), 2, 2},
		{parts(1, 1, 1, 1), 3, 4},
		{parts(1, 1, 1, 100), 0, 0},
	} {
		if got := MergeFrom(c.parts, c.fixed, 4); got != c.want {
			t.Errorf("%v, %d fixed: from %d, want %d", c.parts, c.fixed, got, c.want)
		}
	}
}

// TestFingerprint: the order of recipients does not count.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	if Fingerprint([]string{"a", "b"}) != Fingerprint([]string{"b", "a", "a"}) || Fingerprint([]string{"a"}) == Fingerprint([]string{"b"}) || Fingerprint(nil) != "" {
		t.Error("fingerprints are wrong")
	}
}
