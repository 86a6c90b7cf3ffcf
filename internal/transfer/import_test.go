package transfer

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// refuses imports a bundle that must not be taken. The store stays as it was, and is not blamed.
func (m *machine) refuses(before map[string]string, why string, bundle []byte) error {
	m.Helper()
	c, err := m.Import(m.Context(), bytes.NewReader(bundle))
	if err == nil {
		m.Fatalf("%s: imported as %s", why, c.ID)
	}
	if !errors.Is(err, ErrBundle) {
		m.Errorf("%s: error %v, want one that is %v", why, err, ErrBundle)
	}
	if errors.Is(err, state.ErrCorrupt) || errors.Is(err, state.ErrStore) || strings.Contains(err.Error(), "corrupt store") {
		m.Errorf("%s: %v blames the store", why, err)
	}
	m.same(before, why)
	return err
}

// smallBundle is a bundle of a few hundred bytes, and a store that may import it.
func smallBundle(t *testing.T) (*machine, []byte) {
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n", "d/b": "x\n"})
	g := newMachine(t)
	g.track(nil)
	return g, f.export("@")
}

func TestImportTruncated(t *testing.T) {
	t.Parallel()
	g, bundle := smallBundle(t)
	before := g.listing()
	for n := 0; n < len(bundle); n += gittest.Step() {
		g.refuses(before, fmt.Sprintf("the first %d of %d bytes", n, len(bundle)), bundle[:n])
	}
	g.refuses(before, "all but the last byte", bundle[:len(bundle)-1])
	for _, more := range []string{"\x00", "\n", string(bundle)} {
		g.refuses(before, "something follows", append(bytes.Clone(bundle), more...))
	}
}

func TestImportTampered(t *testing.T) {
	t.Parallel()
	g, bundle := smallBundle(t)
	before := g.listing()
	for i := 0; i < len(bundle); i += gittest.Step() {
		for _, mask := range []byte{0x01, 0x20, 0xff} {
			if i == len("# v") && mask == 0x01 {
				continue // version 3, which is as good
			}
			other := bytes.Clone(bundle)
			other[i] ^= mask
			g.refuses(before, fmt.Sprintf("byte %d, %q, xor %#x", i, bundle[i], mask), other)
		}
	}
}

func TestImportHostile(t *testing.T) {
	t.Parallel()
	blob := blobOf("x\n")
	named := func(name string, mode object.Mode, of packed) object.Entry {
		return object.Entry{Name: name, Mode: mode, ID: of.id()}
	}
	tree := treeOf(named("a", object.Regular, blob))
	commit := commitOf(tree)
	good := bundleOf(commit, tree, blob)
	g := newMachine(t)
	g.track(nil)
	if c := newMachine(t).imported(good); c.ID != commit.id().String() {
		t.Fatalf("what these are made of is not good itself: %v", c)
	}
	id := commit.id().String()
	head := "# v2 git bundle\n" + id + " refs/cairn/exported/" + id + "\n"
	body := good[len(head)+1:]
	with := func(head string) []byte { return append([]byte(head), body...) }
	around := func(e object.Entry, more ...packed) []byte {
		tree := treeOf(e)
		return bundleOf(append([]packed{commitOf(tree), tree}, more...)...)
	}
	described := func(meta string) []byte {
		return bundleOf(commitOf(tree, "cairn "+meta+"\n"), tree, blob)
	}
	nested, bomb := treeOf(named("a", object.Regular, blob)), treeOf(named("a", object.Regular, blob))
	deep, wide := []packed{blob, nested}, []packed{blob, bomb}
	for range 5000 {
		nested = treeOf(named("d", object.Dir, nested))
		deep = append(deep, nested)
	}
	for range 30 {
		bomb = treeOf(named("a", object.Dir, bomb), named("b", object.Dir, bomb))
		wide = append(wide, bomb)
	}
	oddMode := packed{kind: object.Tree, content: "100664 a\x00" + string(tree.content[len("100644 a\x00"):])}

	before := g.listing()
	for why, bundle := range map[string][]byte{
		"empty":                  nil,
		"text":                   []byte("hello\n"),
		"zeros":                  make([]byte, 1<<20),
		"endless line":           []byte("# v2 git bundle\n" + strings.Repeat("a", 1<<20)),
		"many refs":              with("# v2 git bundle\n" + strings.Repeat(id+" HEAD\n", 1000) + "\n"),
		"version 4":              with("# v4 git bundle\n" + head[16:] + "\n"),
		"a filter":               with("# v3 git bundle\n@filter=blob:none\n" + head[16:] + "\n"),
		"sha-256":                with("# v3 git bundle\n@object-format=sha256\n" + head[16:] + "\n"),
		"a capability in v2":     with("# v2 git bundle\n@object-format=sha1\n" + head[16:] + "\n"),
		"a prerequisite":         with("# v2 git bundle\n-" + id + " x\n" + head[16:] + "\n"),
		"no ref":                 with("# v2 git bundle\n\n"),
		"HEAD only":              with("# v2 git bundle\n" + id + " HEAD\n\n"),
		"another ref":            with("# v2 git bundle\n" + id + " refs/heads/main\n\n"),
		"a ref of another id":    with("# v2 git bundle\n" + id + " refs/cairn/exported/" + blob.id().String() + "\n\n"),
		"an escaping ref":        with("# v2 git bundle\n" + id + " refs/cairn/exported/../../../x\n\n"),
		"two checkpoints":        with(head + blob.id().String() + " HEAD\n\n"),
		"a ref to nothing":       bundleWith(3, strings.Repeat("1", 40), commit, tree, blob),
		"a ref to zero":          bundleWith(3, strings.Repeat("0", 40), commit, tree, blob),
		"a ref to a tree":        bundleWith(3, tree.id().String(), commit, tree, blob),
		"no objects":             bundleWith(0, id),
		"fewer than announced":   bundleWith(4, id, commit, tree, blob),
		"more than announced":    bundleWith(2, id, commit, tree, blob),
		"very many announced":    bundleWith(1<<32-1, id, commit, tree, blob),
		"missing blob":           bundleOf(commit, tree),
		"missing tree":           bundleOf(commit, blob),
		"a blob too many":        bundleOf(commit, tree, blob, blobOf("more\n")),
		"a tag":                  bundleOf(commit, tree, blob, packed{kind: object.Tag, content: "object " + id + "\n"}),
		"an object twice":        bundleOf(commit, tree, blob, blob),
		"a kind of none":         bundleOf(commit, tree, blob, packed{kind: 5, content: "x"}),
		"smaller than said":      bundleOf(commit, tree, packed{kind: object.Blob, content: "x\n", size: 3}),
		"larger than said":       bundleOf(commit, tree, packed{kind: object.Blob, content: "x\n", size: 1}),
		"said to be enormous":    bundleOf(commit, tree, packed{kind: object.Blob, content: "x\n", size: 1 << 50}),
		"an enormous tree":       bundleOf(commit, tree, packed{kind: object.Tree, content: "x\n", size: 1 << 40}),
		"delta without base":     bundleOf(commit, tree, blob, packed{kind: 7, content: "\x02\x02\x90\x02", base: strings.Repeat("\x01", 20)}),
		"delta before the pack":  bundleOf(commit, tree, blob, packed{kind: 6, content: "\x02\x02\x90\x02", base: "\xff\xff\x7f"}),
		"delta of itself":        bundleOf(commit, tree, blob, packed{kind: 6, content: "\x02\x02\x90\x02", base: "\x00"}),
		"delta that copies more": bundleOf(commit, tree, blob, packed{kind: 7, content: "\x02\x05\x90\x05", base: string(idBytes(blob))}),
		"delta bomb":             bundleOf(commit, tree, blob, packed{kind: 7, content: "\x02\xff\xff\xff\xff\xff\x7f\x90\x02", base: string(idBytes(blob))}),
		"history":                bundleOf(commitOf(tree, "parent "+strings.Repeat("1", 40)), tree, blob),
		"no checkpoint":          bundleOf(commitOf(tree, ""), tree, blob),
		"later metadata":         described(`{"v":3}`),
		"metadata that is none":  described(`{`),
		"an escaping directory":  described(`{"v":1,"empty":["../x"]}`),
		"an absolute directory":  described(`{"v":1,"bare":["/x"]}`),
		"a .git directory":       described(`{"v":1,"empty":["a/.GIT/hooks"]}`),
		"bits of a .git":         described(`{"v":1,"perms":{".git/config":"777"}}`),
		"bits outside":           described(`{"v":1,"perms":{"a/../../x":"777"}}`),
		"skipped outside":        described(`{"v":1,"skipped":[{"path":"..","reason":"ignored","size":1}]}`),
		"a file for a tree":      around(named("a", object.Dir, blob), blob),
		"a tree for a file":      around(named("a", object.Regular, tree), tree, blob),
		"a submodule":            around(named("a", object.Gitlink, commit), commit),
		".git":                   around(named(".git", object.Regular, blob), blob),
		".Git as a directory":    around(named(".Git", object.Dir, tree), tree, blob),
		"git~1":                  around(named("git~1", object.Regular, blob), blob),
		"dots":                   around(named("..", object.Dir, tree), tree, blob),
		"a slash":                around(named("a/b", object.Regular, blob), blob),
		"no name":                around(named("", object.Regular, blob), blob),
		"unsorted":               bundleOf(commitOf(treeOf(named("b", object.Regular, blob), named("a", object.Regular, blob))), treeOf(named("b", object.Regular, blob), named("a", object.Regular, blob)), blob),
		"an old mode":            bundleOf(commitOf(oddMode), oddMode, blob),
		"torn tree":              bundleOf(commitOf(blobTree("100644 a\x00123")), blobTree("100644 a\x00123")),
		"too deep":               bundleOf(append([]packed{commitOf(nested)}, deep...)...),
		"a tree bomb":            bundleOf(append([]packed{commitOf(bomb)}, wide...)...),
	} {
		t.Logf("%s: %v", why, g.refuses(before, why, bundle))
	}
	for _, bundle := range [][]byte{
		with("# v2 git bundle\n" + id + " HEAD\n" + head[16:] + "\n"),
		with("# v3 git bundle\n" + head[16:] + "\n"),
		with("# v3 git bundle\n@object-format=sha1\n" + head[16:] + "\n"),
	} {
		newMachine(t).imported(bundle)
	}
}

// A delta may precede its base, and be the base of another.
func TestImportDeltaBeforeItsBase(t *testing.T) {
	t.Parallel()
	one, two, base := blobOf("x\n"), blobOf("x\ny"), blobOf("x\n!")
	tree := treeOf(
		object.Entry{Name: "a", Mode: object.Regular, ID: one.id()},
		object.Entry{Name: "b", Mode: object.Regular, ID: two.id()},
		object.Entry{Name: "c", Mode: object.Regular, ID: base.id()},
	)
	f := newMachine(t)
	c := f.imported(bundleOf(commitOf(tree), tree,
		packed{kind: 7, content: "\x02\x03\x90\x02\x01y", base: string(idBytes(one))},
		packed{kind: 7, content: "\x03\x02\x90\x02", base: string(idBytes(base))},
		base))
	if got, want := statetest.Contents(t, f.Store, c.ID), map[string]string{"a": "x\n", "b": "x\ny", "c": "x\n!"}; !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// An input that fails, or never ends, is no bad bundle, and leaves nothing.
func TestImportInterrupted(t *testing.T) {
	t.Parallel()
	f := newMachine(t)
	f.track(map[string]string{"a": strings.Repeat("1\n", 100000)})
	bundle := f.export("@")
	r := newMachine(t)
	r.track(nil)
	before := r.listing()
	broken := errors.New("cable pulled")
	for _, n := range []int{0, 5, 100, 200, len(bundle) - 30, len(bundle) - 1, len(bundle)} {
		_, err := r.Import(t.Context(), io.MultiReader(bytes.NewReader(bundle[:n]), iotest.ErrReader(broken)))
		wantError(t, err, broken)
		if errors.Is(err, ErrBundle) {
			t.Errorf("%v blames the bundle", err)
		}
		if n < 200 || n == len(bundle) {
			continue // what comes then is wrong anyway
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err = r.Import(ctx, io.MultiReader(bytes.NewReader(bundle[:n]), readerFunc(func(p []byte) (int, error) {
			cancel()
			return copy(p, "\x00"), nil
		})))
		wantError(t, err, context.Canceled)
		cancel()
	}
	r.same(before, "interrupted")
	if c, err := r.Import(t.Context(), iotest.OneByteReader(bytes.NewReader(bundle))); err != nil {
		t.Errorf("byte by byte: %v, %v", c, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// FuzzImport sends hostile bundles. Whatever is taken can be listed and exported,
// and is the same then; whatever is refused leaves nothing.
func FuzzImport(f *testing.F) {
	blob := blobOf("x\n")
	tree := treeOf(object.Entry{Name: "a", Mode: object.Regular, ID: blob.id()})
	commit := commitOf(tree)
	f.Add(bundleOf(commit, tree, blob), false)
	f.Add(bundleOf(commit, tree, packed{kind: 7, content: "\x03\x02\x90\x02", base: string(idBytes(blobOf("x\n!")))}, blobOf("x\n!")), true)
	f.Add(bundleOf(commitOf(treeOf()), treeOf()), true)
	f.Add([]byte("# v2 git bundle\n\n"), false)
	x := newMachine(f)
	x.track(nil)
	f.Fuzz(func(t *testing.T, bundle []byte, mend bool) {
		if len(bundle) > 16<<10 {
			return
		}
		if mend { // a checksum that fits, so that the rest is looked at
			if head := bytes.Index(bundle, []byte("\n\n")) + 2; head > 1 && len(bundle) > head+20 {
				sum := sha1.Sum(bundle[head : len(bundle)-20])
				bundle = append(bytes.Clone(bundle[:len(bundle)-20]), sum[:]...)
			}
		}
		x := &machine{x.Transport, t}
		before := x.listing()
		c, err := x.Import(t.Context(), bytes.NewReader(bundle))
		if err != nil {
			x.same(before, err.Error())
			return
		}
		for _, err := range x.List(t.Context(), c.ID, "") {
			if err != nil {
				t.Fatal(err)
			}
		}
		var again bytes.Buffer
		if err := x.Export(t.Context(), &again, c.ID); err != nil {
			t.Fatal(err)
		}
		if d, err := x.Import(t.Context(), &again); err != nil || d.Hash != c.Hash {
			t.Errorf("exported and imported again: %v, %v", d, err)
		}
	})
}

// TestImportOfWhatWasPurged: a bundle comes as it is. What it holds of a purged path is said.
func TestImportOfWhatWasPurged(t *testing.T) {
	t.Parallel()
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n", "key": "secret\n"})
	with := f.export("@")
	f.track(map[string]string{"a": "2\n"})
	without := f.export("@")
	g := f.other()
	g.track(nil)
	if err := g.DB.WritePrivate(odb.PrivatePurged, []byte(`["key","none"]`)); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	g.Store.Log = slog.New(slog.NewTextHandler(&log, nil))
	g.imported(without)
	if log.Len() > 0 {
		t.Errorf("the import of a state without it logs %s", &log)
	}
	g.imported(with)
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "paths=key count=1") {
		t.Errorf("the import logs %s", text)
	}
}
