package cairn_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// manyKinds holds one of everything that travels.
func manyKinds() gittest.Tree {
	random := make([]byte, 9<<20) // streamed, and not to be compressed
	r := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	return gittest.Tree{
		"a":      gittest.File("1\n"),
		"copy":   gittest.File("1\n"),
		"empty":  gittest.File(""),
		"run":    gittest.Exec("#!/bin/sh\n"),
		"link":   gittest.Link("a"),
		"large":  gittest.File(string(random)),
		"zeros":  gittest.File(strings.Repeat("\x00", 9<<20)),
		"d/e/f":  gittest.File("deep\n"),
		"d/same": gittest.File("deep\n"),
		"hollow": gittest.Dir(),
	}
}

func (f *fixture) export(spec string) []byte {
	f.Helper()
	var b bytes.Buffer
	if err := f.repo().Export(f.Context(), &b, spec); err != nil {
		f.Fatalf("export %s: %v", spec, err)
	}
	return b.Bytes()
}

func (f *fixture) imported(bundle []byte) *cairn.Checkpoint {
	f.Helper()
	c, err := f.repo().Import(f.Context(), bytes.NewReader(bundle))
	if err != nil {
		f.Fatalf("import: %v", err)
	}
	return c
}

// storeListing is every file of a store with its contents, but lock.holder.
func storeListing(t testing.TB, store string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(store, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() == "lock.holder" {
			return err
		}
		rel, err := filepath.Rel(store, path)
		if err != nil || e.IsDir() {
			files[rel] = "directory"
			return err
		}
		data, err := os.ReadFile(path)
		files[rel] = fmt.Sprintf("%x", sha1.Sum(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Git verifies, clones and fetches an exported bundle.
func TestGitReadsExport(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, manyKinds())
	f.track()
	f.write("a", "2\n")
	got, err := f.repo().Track(t.Context(), cairn.TrackOptions{Message: "before the migration\n\nwith a body"})
	if err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(t.TempDir(), "x.bundle")
	if err := os.WriteFile(bundle, f.export("@"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	o.In(dir, "init", "-q", "--bare", "empty.git")
	empty := filepath.Join(dir, "empty.git")
	if out := o.In(empty, "bundle", "verify", bundle); !strings.Contains(out, "complete history") {
		t.Errorf("verify: %s", out)
	}
	id := strings.Fields(o.In(empty, "bundle", "list-heads", bundle))[0]

	clone := filepath.Join(dir, "clone")
	o.In(dir, "clone", "-q", "-c", "fetch.fsckObjects=true", bundle, clone)
	if tree := o.WriteTree(clone); tree != got.Hash {
		t.Errorf("cloned %s, want %s", tree, got.Hash)
	}

	o.In(empty, "-c", "fetch.fsckObjects=true", "fetch", "-q", bundle, "refs/cairn/*:refs/cairn/*")
	o.In(empty, "fsck", "--strict", "--full")
	ref := "refs/cairn/exported/" + id
	if tree := strings.TrimSpace(o.In(empty, "rev-parse", ref+"^{tree}")); tree != got.Hash {
		t.Errorf("tree %s, want %s", tree, got.Hash)
	}
	if parents := strings.TrimSpace(o.In(empty, "log", "-1", "--format=%P", ref)); parents != "" {
		t.Errorf("parents %q", parents)
	}
	store := f.repo().StoreDir()
	const format = "--format=%an %ae %at %cn %ce %ct %B"
	if diff := cmp.Diff(o.In(store, "log", "-1", format, got.Checkpoint), o.In(empty, "log", "-1", format, ref)); diff != "" {
		t.Error(diff)
	}
	if raw := o.In(empty, "cat-file", "commit", ref); !strings.Contains(raw, "\ncairn-origin "+got.Checkpoint+"\n") {
		t.Errorf("origin is not named:\n%s", raw)
	}
	if objects := strings.Count(o.In(empty, "rev-list", "--objects", "--all"), "\n"); !strings.Contains(o.In(empty, "count-objects", "-v"), fmt.Sprintf("in-pack: %d\n", objects)) &&
		!strings.Contains(o.In(empty, "count-objects", "-v"), fmt.Sprintf("count: %d\n", objects)) {
		t.Errorf("the bundle holds more than the checkpoint's %d objects:\n%s", objects, o.In(empty, "count-objects", "-v"))
	}
}

// A checkpoint comes out elsewhere as it went in, with all that git cannot hold.
func TestExportImport(t *testing.T) {
	t.Parallel()
	f := newFixture(t, manyKinds())
	if err := os.Chmod(f.path("a"), 0o640); err != nil {
		t.Fatal(err)
	}
	f.write(".gitignore", "secret\n")
	f.write("secret", "x\n")
	from := f.track()
	bundle := f.export(from.Hash)
	if again := f.export(from.Checkpoint[:12]); !bytes.Equal(bundle, again) {
		t.Error("the same checkpoint gives another bundle")
	}
	want := f.manifest()
	delete(want, "secret")

	g := newFixture(t, gittest.Tree{"other": gittest.File("o\n")})
	own := g.track()
	c := g.imported(bundle)
	if c.Hash != from.Hash || c.ID == from.Checkpoint {
		t.Errorf("imported %+v from %+v", c, from)
	}
	for _, spec := range []string{from.Hash, from.Hash[:8], c.ID, c.ID[:8]} {
		if found, err := g.repo().Lookup(t.Context(), spec); err != nil || found.ID != c.ID {
			t.Errorf("%s is %v, %v", spec, found, err)
		}
	}
	if newest, err := g.repo().Lookup(t.Context(), "@"); err != nil || newest.ID != own.Checkpoint {
		t.Errorf("@ has become %v, %v", newest, err)
	}
	if changes, err := g.repo().Changes(t.Context(), "@", c.ID); err != nil || len(changes) != from.Files+1 {
		t.Errorf("%d changes, %v, want %d", len(changes), err, from.Files+1)
	}
	n := 0
	for _, err := range g.repo().List(t.Context(), c.ID, "") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != from.Files {
		t.Errorf("lists %d files, want %d", n, from.Files)
	}
	g.restoreAll(c.ID)
	if diff := cmp.Diff(want, g.manifest()); diff != "" {
		t.Error(diff)
	}
	if op, err := g.repo().Undo(t.Context(), cairn.RevertOptions{}); err != nil || !op.Complete() || g.read("other") != "o\n" {
		t.Errorf("undo: %+v, %v", op, err)
	}

	// Again, from what was imported: the same bytes, the same checkpoint.
	if again := g.export(c.ID); !bytes.Equal(again, bundle) {
		t.Error("exported again it is another bundle")
	}
	before := storeListing(t, g.repo().StoreDir())
	if again := g.imported(bundle); again.ID != c.ID {
		t.Errorf("imported twice: %s, %s", c.ID, again.ID)
	}
	if diff := cmp.Diff(before, storeListing(t, g.repo().StoreDir())); diff != "" {
		t.Errorf("the second import changed the store: %s", diff)
	}
	if here := f.imported(bundle); here.Hash != from.Hash {
		t.Errorf("imported at home: %v", here)
	}
	if found, err := f.repo().Lookup(t.Context(), from.Hash); err != nil || found.ID != from.Checkpoint {
		t.Errorf("the own checkpoint comes first: %v, %v", found, err)
	}
}

func TestExportEmptyTree(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	from := f.track()
	if c := newFixture(t, nil).imported(f.export("@")); c.Hash != from.Hash {
		t.Errorf("imported %s, want %s", c.Hash, from.Hash)
	}
	if c := f.imported(f.export("@")); c.Hash != from.Hash {
		t.Errorf("imported %s, want %s", c.Hash, from.Hash)
	}
	gittest.NewOracle(t).In(f.repo().StoreDir(), "fsck", "--strict")
}

// Bundles that git writes hold deltas.
func TestImportGitsBundle(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	tree := gittest.Tree{}
	for i := range 60 { // alike, so that there are deltas
		tree[fmt.Sprintf("d/file%02d", i)] = gittest.File(strings.Repeat(fmt.Sprintf("line of file %d\nand what they share\n", i), 50) + strings.Repeat("the rest is the same\n", 500))
	}
	f := newFixture(t, tree)
	from := f.track()
	path := filepath.Join(t.TempDir(), "x.bundle")
	if err := os.WriteFile(path, f.export("@"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-c", "repack.useDeltaBaseOffset=true", "repack", "-adfq", "--depth=50"},
		{"-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq"},
	} {
		dir := filepath.Join(t.TempDir(), "r.git")
		o.In(filepath.Dir(dir), "init", "-q", "--bare", dir)
		o.In(dir, "fetch", "-q", path, "refs/cairn/*:refs/cairn/*")
		o.In(dir, args...)
		for _, version := range []string{"2", "3"} {
			if version == "3" && !o.AtLeast(2, 28) {
				t.Log("this git writes no bundles of version 3")
				continue
			}
			out := filepath.Join(t.TempDir(), "git.bundle")
			o.In(dir, "bundle", "create", "-q", "--version="+version, out, "--all")
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > 40<<10 {
				t.Errorf("%d bytes: there are no deltas in it", len(data))
			}
			g := newFixture(t, nil)
			if c := g.imported(data); c.Hash != from.Hash {
				t.Errorf("%q, version %s: %s, want %s", args, version, c.Hash, from.Hash)
			}
			g.restoreAll(from.Hash)
			if diff := cmp.Diff(f.manifest(), g.manifest()); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// refused imports what must not be taken, and compares the store before and after.
func (f *fixture) refused(t testing.TB, why string, bundle []byte) error {
	t.Helper()
	r := f.repo()
	before := storeListing(t, r.StoreDir())
	c, err := r.Import(f.Context(), bytes.NewReader(bundle))
	if err == nil {
		t.Fatalf("%s: imported as %s", why, c.ID)
	}
	if !errors.Is(err, cairn.ErrBundle) {
		t.Errorf("%s: error %v, want one that is %v", why, err, cairn.ErrBundle)
	}
	if errors.Is(err, cairn.ErrCorrupt) || errors.Is(err, cairn.ErrStore) || strings.Contains(err.Error(), "corrupt store") {
		t.Errorf("%s: %v blames the store", why, err)
	}
	if diff := cmp.Diff(before, storeListing(t, r.StoreDir())); diff != "" {
		t.Errorf("%s: the store has changed: %s", why, diff)
	}
	return err
}

func TestImportTruncated(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "d/b": gittest.Exec("x\n")})
	f.track()
	bundle := f.export("@")
	g := newFixture(t, nil)
	g.track()
	for n := range bundle {
		g.refused(t, fmt.Sprintf("the first %d of %d bytes", n, len(bundle)), bundle[:n])
	}
	for _, more := range []string{"\x00", "\n", string(bundle)} {
		g.refused(t, "something follows", append(bytes.Clone(bundle), more...))
	}
}

func TestImportTampered(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "d/b": gittest.Exec("x\n")})
	f.track()
	bundle := f.export("@")
	g := newFixture(t, nil)
	g.track()
	for i := range bundle {
		for _, mask := range []byte{0x01, 0x20, 0xff} {
			if i == len("# v") && mask == 0x01 {
				continue // version 3, which is as good
			}
			other := bytes.Clone(bundle)
			other[i] ^= mask
			g.refused(t, fmt.Sprintf("byte %d, %q, xor %#x", i, bundle[i], mask), other)
		}
	}
}

// packed is an object for a pack that a test makes up.
type packed struct {
	kind    object.Kind
	content string
	size    int64  // said to be; 0 = true
	base    string // of a delta, as it follows the head
}

func (p packed) id() object.ID { return object.Sum(p.kind, []byte(p.content)) }

// bundleOf makes a bundle of objects, the checkpoint first.
func bundleOf(objects ...packed) []byte {
	return bundleWith(int64(len(objects)), objects[0].id().String(), objects...)
}

func bundleWith(count int64, id string, objects ...packed) []byte {
	return append([]byte("# v2 git bundle\n"+id+" refs/cairn/exported/"+id+"\n\n"), packOf(count, objects...)...)
}

func packOf(count int64, objects ...packed) []byte {
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(count))
	for _, p := range objects {
		size := uint64(len(p.content))
		if p.size != 0 {
			size = uint64(p.size)
		}
		b := byte(p.kind)<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			pack = append(pack, b|0x80)
			b = byte(size & 0x7f)
		}
		pack = append(append(pack, b), p.base...)
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		io.WriteString(w, p.content)
		w.Close()
		pack = append(pack, z.Bytes()...)
	}
	sum := sha1.Sum(pack)
	return append(pack, sum[:]...)
}

const plainMeta = `{"v":1,"perm":{"file":"644","exec":"755","dir":"755"}}`

func commitOf(tree packed, extra ...string) packed {
	text := "tree " + tree.id().String() + "\n"
	meta := "cairn " + plainMeta + "\n"
	for _, e := range extra {
		if strings.HasPrefix(e, "parent ") {
			text += e + "\n"
		} else {
			meta = e
		}
	}
	return packed{kind: object.Commit, content: text + "author a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n" + meta + "\nm\n"}
}

func treeOf(entries ...object.Entry) packed {
	return packed{kind: object.Tree, content: string(object.AppendTree(nil, entries))}
}

func blobOf(content string) packed { return packed{kind: object.Blob, content: content} }

func TestImportHostile(t *testing.T) {
	t.Parallel()
	blob := blobOf("x\n")
	named := func(name string, mode object.Mode, of packed) object.Entry {
		return object.Entry{Name: name, Mode: mode, ID: of.id()}
	}
	tree := treeOf(named("a", object.Regular, blob))
	commit := commitOf(tree)
	good := bundleOf(commit, tree, blob)
	g := newFixture(t, nil)
	g.track()
	if c := newFixture(t, nil).imported(good); c.ID != commit.id().String() {
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
		t.Logf("%s: %v", why, g.refused(t, why, bundle))
	}
	for _, bundle := range [][]byte{
		with("# v2 git bundle\n" + id + " HEAD\n" + head[16:] + "\n"),
		with("# v3 git bundle\n" + head[16:] + "\n"),
		with("# v3 git bundle\n@object-format=sha1\n" + head[16:] + "\n"),
	} {
		newFixture(t, nil).imported(bundle)
	}
}

func idBytes(p packed) []byte { id := p.id(); return id[:] }

func blobTree(content string) packed { return packed{kind: object.Tree, content: content} }

// A delta may precede its base, and be the base of another.
func TestImportDeltaBeforeItsBase(t *testing.T) {
	t.Parallel()
	one, two, base := blobOf("x\n"), blobOf("x\ny"), blobOf("x\n!")
	tree := treeOf(
		object.Entry{Name: "a", Mode: object.Regular, ID: one.id()},
		object.Entry{Name: "b", Mode: object.Regular, ID: two.id()},
		object.Entry{Name: "c", Mode: object.Regular, ID: base.id()},
	)
	f := newFixture(t, nil)
	c := f.imported(bundleOf(commitOf(tree), tree,
		packed{kind: 7, content: "\x02\x03\x90\x02\x01y", base: string(idBytes(one))},
		packed{kind: 7, content: "\x03\x02\x90\x02", base: string(idBytes(base))},
		base))
	f.restoreAll(c.ID)
	if f.read("a") != "x\n" || f.read("b") != "x\ny" || f.read("c") != "x\n!" {
		t.Errorf("%q %q %q", f.read("a"), f.read("b"), f.read("c"))
	}
}

// An input that fails, or never ends, is no bad bundle, and leaves nothing.
func TestImportInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(strings.Repeat("1\n", 100000))})
	f.track()
	bundle := f.export("@")
	g := newFixture(t, nil)
	g.track()
	r := g.repo()
	before := storeListing(t, r.StoreDir())
	broken := errors.New("cable pulled")
	for _, n := range []int{0, 5, 100, 200, len(bundle) - 30, len(bundle) - 1, len(bundle)} {
		_, err := r.Import(t.Context(), io.MultiReader(bytes.NewReader(bundle[:n]), iotest.ErrReader(broken)))
		assertError(t, err, broken)
		if errors.Is(err, cairn.ErrBundle) {
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
		assertError(t, err, context.Canceled)
		cancel()
	}
	if diff := cmp.Diff(before, storeListing(t, r.StoreDir())); diff != "" {
		t.Errorf("the store has changed: %s", diff)
	}
	if c, err := r.Import(t.Context(), iotest.OneByteReader(bytes.NewReader(bundle))); err != nil {
		t.Errorf("byte by byte: %v, %v", c, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A damaged checkpoint is not exported as if it were whole.
func TestExportDamaged(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(strings.Repeat("some text\n", 1000))})
	f.track()
	packs, err := filepath.Glob(filepath.Join(f.repo().StoreDir(), "objects", "pack", "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	data, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for i := 12; i < len(data)-20; i += 3 {
		other := bytes.Clone(data)
		other[i] ^= 0x55
		if err := os.WriteFile(packs[0], other, 0o600); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.repo().Export(t.Context(), &b, "@"); err != nil {
			damaged++
			continue
		}
		newFixture(t, nil).imported(b.Bytes())
	}
	if damaged == 0 {
		t.Error("no damage was noticed")
	}
	if err := os.WriteFile(packs[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	assertError(t, f.repo().Export(t.Context(), failingWriter{}, "@"), errFull)
	assertError(t, f.repo().Export(t.Context(), io.Discard, "no such"), cairn.ErrNotFound)
	ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	assertError(t, f.repo().Export(ctx, io.Discard, "@~0"), context.DeadlineExceeded)
}

var errFull = errors.New("disk full")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

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
	x := newFuzzStore(f, nil)
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
		before := storeListing(t, x.StoreDir())
		c, err := x.Import(t.Context(), bytes.NewReader(bundle))
		if err != nil {
			if diff := cmp.Diff(before, storeListing(t, x.StoreDir())); diff != "" {
				t.Errorf("%v: the store has changed: %s", err, diff)
			}
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
