package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/redo"
)

type sample struct {
	kind    object.Kind
	content []byte
}

// samples are objects of every kind, with sizes around the limits of encodings and buffers.
func samples(t testing.TB) []sample {
	var all []sample
	for _, n := range []int{0, 1, 15, 16, 17, 2047, 2048, 4095, 8191, 8192, 65535, 65536, 65537,
		2*64<<10 - 1, 2 * 64 << 10, pack.InMemory, pack.InMemory + 1} {
		all = append(all, sample{object.Blob, prose(uint64(n), n)}, sample{object.Blob, noise(uint64(n), n)})
	}
	all = append(all, sample{object.Blob, bytes.Repeat([]byte{0}, 3<<20)}, sample{object.Blob, noise(99, 5<<20)})
	tree := object.AppendTree(nil, []object.Entry{
		{Name: "empty", Mode: object.Regular, ID: object.Sum(object.Blob, nil)},
		{Name: "one", Mode: object.Executable, ID: object.Sum(object.Blob, prose(1, 1))},
	})
	who := object.Signature{Name: "a", Email: "a@example.org", When: time.Unix(1700000000, 0).UTC()}
	commit, err := object.AppendCommit(nil, &object.CommitData{
		Tree: object.Sum(object.Tree, tree), Author: who, Committer: who, Message: "m\n",
	})
	must(t, err)
	return append(all, sample{object.Tree, nil}, sample{object.Tree, tree}, sample{object.Commit, commit})
}

func addAll(t testing.TB, b *Batch, all []sample) {
	t.Helper()
	for _, s := range all {
		id, err := b.Add(s.kind, s.content)
		if err != nil {
			t.Fatal(err)
		}
		if want := object.Sum(s.kind, s.content); id != want {
			t.Fatalf("id %s, want %s", id, want)
		}
	}
}

func TestBatchRoundTrip(t *testing.T) {
	t.Parallel()
	all := samples(t)
	for _, opt := range []Options{{}, {NoSync: true}} {
		db, err := Create(filepath.Join(t.TempDir(), "store"), testRoot, opt)
		must(t, err)
		defer db.Close()
		b := db.NewBatch()
		addAll(t, b, all)
		for _, s := range all {
			if ok, err := db.Has(object.Sum(s.kind, s.content)); ok || err != nil {
				t.Fatalf("visible before the commit: %v, %v", ok, err)
			}
		}
		must(t, b.Commit())
		for _, reader := range []*DB{db, reopen(t, db)} {
			for _, s := range all {
				checkObject(t, reader, s)
			}
		}
		names, err := readNames(db.path(packDir))
		if err != nil || len(names) != 2 {
			t.Errorf("one batch made %q, %v", names, err)
		}
		fsck(t, db)
	}
}

// checkObject reads an object by every method.
func checkObject(t testing.TB, db *DB, s sample) {
	t.Helper()
	id := object.Sum(s.kind, s.content)
	if ok, err := db.Has(id); !ok || err != nil {
		t.Fatalf("has %s: %v, %v", id, ok, err)
	}
	if kind, size, err := db.Stat(id); kind != s.kind || size != int64(len(s.content)) || err != nil {
		t.Fatalf("stat %s: %v, %d, %v; want %v, %d", id, kind, size, err, s.kind, len(s.content))
	}
	if kind, content, err := db.Read(id); kind != s.kind || !bytes.Equal(content, s.content) || err != nil {
		t.Fatalf("read %s: %v, %d bytes, %v; want %v, %d", id, kind, len(content), err, s.kind, len(s.content))
	}
	kind, size, r, err := db.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if kind != s.kind || size != int64(len(s.content)) || !bytes.Equal(content, s.content) || err != nil {
		t.Fatalf("open %s: %v, %d, %d bytes, %v; want %v, %d", id, kind, size, len(content), err, s.kind, len(s.content))
	}
	must(t, r.Close())
	if ids, err := db.Prefix(id.String()[:12], 0); err != nil || !slices.Contains(ids, id) {
		t.Fatalf("prefix of %s: %v, %v", id, ids, err)
	}
}

// Git reads the same objects as this package has written.
func TestGitReadsWhatWeWrite(t *testing.T) {
	t.Parallel()
	needGit(t)
	db := newStore(t)
	all := samples(t)
	b := db.NewBatch()
	addAll(t, b, all)
	must(t, b.Commit())
	var ask, want strings.Builder
	for _, s := range all {
		id := object.Sum(s.kind, s.content)
		fmt.Fprintln(&ask, id)
		fmt.Fprintf(&want, "%s %s %d\n%s\n", id, s.kind, len(s.content), s.content)
	}
	if got := git(t, db.Dir(), ask.String(), "cat-file", "--batch"); got != want.String() {
		t.Fatalf("git reads %d bytes, want %d", len(got), want.Len())
	}
	out := git(t, db.Dir(), "", "verify-pack", "-v", filepath.Join(packDir, db.PackNames()[0]+pack.IndexExt))
	unique := make(map[object.ID]bool)
	for _, s := range all {
		unique[object.Sum(s.kind, s.content)] = true
	}
	if want := fmt.Sprintf("non delta: %d objects", len(unique)); !strings.Contains(out, want) {
		t.Errorf("verify-pack does not say %q", want)
	}
	if out := git(t, db.Dir(), "", "count-objects", "-v"); !strings.Contains(out, "garbage: 0\n") {
		t.Errorf("count-objects says\n%s", out)
	}
}

func TestEmptyBatchWritesNothing(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	must(t, db.NewBatch().Commit())
	id := commit(t, db, "x")[0]
	before, err := readNames(db.path(packDir))
	must(t, err)
	b := db.NewBatch()
	again, err := b.Add(object.Blob, []byte("x"))
	if again != id || err != nil || b.Len() != 0 || !b.Has(id) {
		t.Fatalf("%s, %v, len %d", again, err, b.Len())
	}
	must(t, b.Commit())
	after, err := readNames(db.path(packDir))
	must(t, err)
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(before, after) {
		t.Errorf("before %q, after %q", before, after)
	}
}

func TestBatchKnowsLooseObjects(t *testing.T) {
	t.Parallel()
	needGit(t)
	db := newStore(t)
	git(t, db.Dir(), "loose", "hash-object", "-w", "--stdin")
	b := db.NewBatch()
	defer b.Discard()
	_, err := b.Add(object.Blob, []byte("loose"))
	if err != nil || b.Len() != 0 {
		t.Fatalf("len %d, %v", b.Len(), err)
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, content := range map[string][]byte{"in memory": []byte("x"), "spilled": noise(1, 2*pack.SpillAt)} {
		db := newStore(t)
		b := db.NewBatch()
		id, err := b.Add(object.Blob, content)
		must(t, err)
		names, err := readNames(db.path(packDir))
		must(t, err)
		if spilled := len(names) == 1; spilled != (name == "spilled") {
			t.Errorf("%s: open batch has files %q", name, names)
		}
		b.Discard()
		b.Discard()
		if names, err := readNames(db.path(packDir)); err != nil || len(names) != 0 {
			t.Errorf("%s: left %q, %v", name, names, err)
		}
		if _, err := b.Add(object.Blob, []byte("y")); !errors.Is(err, errBatchDone) {
			t.Errorf("%s: add after discard: %v", name, err)
		}
		if err := b.Commit(); !errors.Is(err, errBatchDone) {
			t.Errorf("%s: commit after discard: %v", name, err)
		}
		if ok, err := db.Has(id); ok || err != nil {
			t.Errorf("%s: has: %v, %v", name, ok, err)
		}
	}
}

// TestShow: what a small batch holds can be read from Show to its end, and nothing of a large one.
func TestShow(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	small := 0
	for _, s := range samples(t) {
		id := object.Sum(s.kind, s.content)
		b := db.NewBatch()
		addAll(t, b, []sample{s})
		isThere := func(want bool) {
			t.Helper()
			kind, content, err := db.Read(id)
			if want && (err != nil || kind != s.kind || !bytes.Equal(content, s.content)) || !want && !errors.Is(err, ErrNotFound) {
				t.Errorf("%s of %d bytes: %s, %d bytes, %v", s.kind, len(s.content), kind, len(content), err)
			}
		}
		isThere(false)
		shows := b.Show()
		isThere(shows)
		if shows {
			small++
		}
		if got := b.w.Size() <= redo.MaxRecord && b.w.InMemory(); got != shows {
			t.Errorf("%d bytes: shown %v", len(s.content), shows)
		}
		b.Discard()
		isThere(false)
		if b.Show() {
			t.Error("a batch is shown after its end")
		}
	}
	if small < 10 {
		t.Errorf("%d batches were shown", small)
	}
}

// TestShowUntilCommit: after the publish of a shown batch the store has its objects, those that were added last included.
// A second batch takes the place of one that is shown, and its end hides no other.
func TestShowUntilCommit(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	first, second := db.NewBatch(), db.NewBatch()
	defer second.Discard()
	addAll(t, first, []sample{{object.Blob, []byte("1")}})
	addAll(t, second, []sample{{object.Blob, []byte("2")}})
	if !first.Show() || !second.Show() {
		t.Fatal("not shown")
	}
	addAll(t, first, []sample{{object.Blob, []byte("3")}})
	must(t, first.Commit())
	for _, content := range []string{"1", "2", "3"} {
		if _, got, err := db.Read(object.Sum(object.Blob, []byte(content))); err != nil || string(got) != content {
			t.Errorf("%q, %v, want %s", got, err, content)
		}
	}
}

// TestShowEndsBeforeThePublish: a batch is not shown while it is written. A reader of any object would wait for the disk
// with it.
func TestShowEndsBeforeThePublish(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	b := db.NewBatch()
	defer b.Discard()
	addAll(t, b, []sample{{object.Blob, []byte("1")}})
	asked := 0
	b.Limit(func(int64) error {
		if asked++; db.shown.Load() != nil {
			t.Error("shown while it is written")
		}
		return nil
	})
	if !b.Show() {
		t.Fatal("not shown")
	}
	must(t, b.Commit())
	if asked == 0 {
		t.Error("nothing was written")
	}
}

func TestBatchOfManyPieces(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	b := db.NewBatch()
	var ids []object.ID
	for i := range 30 {
		id, err := b.Add(object.Blob, noise(uint64(i), 500_000))
		must(t, err)
		ids = append(ids, id)
	}
	must(t, b.Commit())
	for i, id := range ids {
		wantBlob(t, reopen(t, db), id, string(noise(uint64(i), 500_000)))
	}
	fsck(t, db)
}

func TestAddFromSeveralGoroutines(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	old := commit(t, db, string(prose(3, 700)))[0]
	b := db.NewBatch()
	const workers, blobs = 8, 200
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range blobs {
				n := (i + w*17) % blobs // the same blobs in another order
				if _, err := b.Add(object.Blob, prose(uint64(n), 700)); err != nil {
					t.Error(err)
				}
				id, err := b.AddBlob(bytes.NewReader(noise(uint64(n), 40_000)), 40_000)
				if err != nil || !b.Has(id) {
					t.Errorf("%s: %v", id, err)
				}
			}
		})
	}
	wg.Wait()
	if got, want := b.Len(), 2*blobs-1; got != want {
		t.Errorf("%d objects, want %d", got, want)
	}
	must(t, b.Commit())
	for n := range blobs {
		wantBlob(t, db, object.Sum(object.Blob, prose(uint64(n), 700)), string(prose(uint64(n), 700)))
		wantBlob(t, db, object.Sum(object.Blob, noise(uint64(n), 40_000)), string(noise(uint64(n), 40_000)))
	}
	wantBlob(t, db, old, string(prose(3, 700)))
	fsck(t, db)
}

func TestIncompressibleDataIsStored(t *testing.T) {
	t.Parallel()
	const n = 1 << 20
	packed := func(content []byte, stream bool) int64 {
		db := newStore(t)
		b := db.NewBatch()
		var err error
		if stream {
			_, err = b.AddBlob(bytes.NewReader(content), int64(len(content)))
		} else {
			_, err = b.Add(object.Blob, content)
		}
		must(t, err)
		must(t, b.Commit())
		info, err := os.Stat(db.path(packDir, db.PackNames()[0]+pack.Ext))
		must(t, err)
		return info.Size()
	}
	for _, tt := range []struct {
		name     string
		content  []byte
		from, to float64 // of the size, in the pack
	}{
		{"noise", noise(1, n), 1, 1.001},
		{"prose", prose(1, n), 0.1, 0.5},
		{"noise first", append(noise(1, n/2), prose(1, n/2)...), 0.5, 0.75},
		{"prose first", append(prose(1, n/2), noise(1, n/2)...), 0.5, 0.75},
		{"large noise", noise(2, pack.StreamAbove+1), 1, 1.001},
		{"large prose", prose(2, pack.StreamAbove+1), 0.1, 0.5},
	} {
		size := float64(packed(tt.content, len(tt.content) > n)) / float64(len(tt.content))
		if size < tt.from || size > tt.to {
			t.Errorf("%s: %.4f of the size", tt.name, size)
		}
	}
}

// The beginning of a batch is stored uncompressed where that saves time, and the rest is
// compressed.
func TestHotObjectsArePlain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		kind  object.Kind
		size  int
		count int // objects
		plain int // of them stored as they are
	}{
		{"a small blob", object.Blob, plainBlob, 3, 3},
		{"a usual blob", object.Blob, plainBlob + 1, 3, 0},
		{"a large tree", object.Tree, plainTree, 3, 3},
		{"a huge tree", object.Tree, plainTree + 1, 3, 0},
		{"many blobs", object.Blob, plainBlob, plainMost/plainBlob + 5, plainMost / plainBlob},
		{"many trees", object.Tree, plainTree, plainMost/plainTree + 5, plainMost / plainTree},
		{"a commit", object.Commit, 400, 3, 0},
	} {
		db := newStore(t)
		b := db.NewBatch()
		var ids []object.ID
		for i := range tt.count {
			id, err := b.Add(tt.kind, prose(uint64(i), tt.size))
			must(t, err)
			ids = append(ids, id)
		}
		must(t, b.Commit())
		size, err := db.StoredSizes()
		must(t, err)
		plain := 0
		for i, id := range ids {
			if size(id) > int64(tt.size) {
				plain++
			}
			if _, content, err := db.Read(id); err != nil || !bytes.Equal(content, prose(uint64(i), tt.size)) {
				t.Fatalf("%s: %v", tt.name, err)
			}
		}
		if plain != tt.plain {
			t.Errorf("%s: %d of %d are stored as they are, not %d", tt.name, plain, tt.count, tt.plain)
		}
	}
}

// A batch stays failed after a failed write, and leaves no file.
func TestR69FailedWritesLeaveNoTrace(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("directories in use cannot be renamed on this system")
	}
	db := newStore(t)
	id := commit(t, db, "kept")[0]
	b := db.NewBatch()
	_, err := b.Add(object.Blob, []byte("small"))
	must(t, err)
	away := db.path(packDir) + ".away"
	must(t, os.Rename(db.path(packDir), away))
	if _, err := b.Add(object.Blob, noise(1, 2*pack.SpillAt)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("add: %v", err)
	}
	must(t, os.Rename(away, db.path(packDir)))
	if _, err := b.Add(object.Blob, []byte("more")); err == nil {
		t.Error("the batch goes on after a failed write")
	}
	if err := b.Commit(); err == nil || !strings.Contains(err.Error(), db.Dir()) {
		t.Errorf("commit: %v", err)
	}
	b.Discard()
	names, err := readNames(db.path(packDir))
	if err != nil || len(names) != 2 {
		t.Errorf("left %q, %v", names, err)
	}
	wantBlob(t, db, id, "kept")
	commit(t, db, "small", "more")
	fsck(t, db)
}

// An object that another process has removed meanwhile is written again.
func TestNewBatchNoticesLostPacks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be removed on this system")
	}
	db := newStore(t)
	id := commit(t, db, "x")[0]
	wantBlob(t, db, id, "x")
	for _, name := range db.PackNames() {
		must(t, os.Remove(db.path(packDir, name+pack.Ext)))
		must(t, os.Remove(db.path(packDir, name+pack.IndexExt)))
	}
	if got := commit(t, db, "x")[0]; got != id {
		t.Fatal(got)
	}
	wantBlob(t, reopen(t, db), id, "x")
}

// A pack that a loss of power has emptied or cut off does not count: its objects are stored
// again.
func TestTornPacksDoNotCount(t *testing.T) {
	t.Parallel()
	for name, tear := range map[string]func(path string, size int64) error{
		"emptied": func(path string, size int64) error { return os.Truncate(path, 0) },
		"cut off": func(path string, size int64) error { return os.Truncate(path, size-1) },
		"zeroed":  func(path string, size int64) error { return os.WriteFile(path, make([]byte, size), 0o600) },
	} {
		db := newStore(t)
		id := commit(t, db, "x")[0]
		path := db.path(packDir, db.PackNames()[0]+pack.Ext)
		info, err := os.Stat(path)
		must(t, err)
		must(t, tear(path, info.Size()))
		other := reopen(t, db)
		if ok, err := other.Has(id); ok || err != nil {
			t.Errorf("%s: has %v, %v", name, ok, err)
		}
		commit(t, other, "x") // which makes a pack of the same name
		wantBlob(t, other, id, "x")
		wantBlob(t, reopen(t, db), id, "x")
	}
}
