package odb

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/redo"
)

// boot returns the options of a process in the n-th boot, with a log on any file system.
func boot(n byte) Options {
	return Options{token: func() (redo.Token, bool) { return redo.Token{n}, true }}
}

// newLogged returns an empty store that flushes and keeps a log.
func newLogged(t testing.TB) *DB {
	t.Helper()
	return openLogged(t, filepath.Join(t.TempDir(), "store"), 1)
}

func openLogged(t testing.TB, dir string, n byte) *DB {
	t.Helper()
	db, err := Create(dir, testRoot, boot(n))
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// put publishes a blob and refs to it.
func put(t testing.TB, db *DB, content []byte, refs ...string) object.ID {
	t.Helper()
	return putIn(t, db.NewBatch(), content, refs...)
}

// putIn is put in a batch that is empty.
func putIn(t testing.TB, b *Batch, content []byte, refs ...string) object.ID {
	t.Helper()
	defer b.Discard()
	id, err := b.Add(object.Blob, content)
	must(t, err)
	var updates []RefUpdate
	for _, ref := range refs {
		updates = append(updates, RefUpdate{ref, id})
	}
	must(t, b.Commit(updates...))
	return id
}

// logged returns the records of the log.
func logged(t testing.TB, db *DB) []redo.Record {
	t.Helper()
	w, err := db.log.Lock()
	must(t, err)
	if w == nil {
		return nil
	}
	defer w.Unlock()
	return w.Records()
}

// loggedFiles returns the files that records name.
func loggedFiles(records []redo.Record, db *DB) (files []string) {
	seen := make(map[string]bool)
	add := func(path string) {
		if !seen[path] {
			seen[path] = true
			files = append(files, path)
		}
	}
	for _, rec := range records {
		if len(rec.Pack) > 0 {
			add(db.path(packDir, rec.Name+pack.Ext))
			add(db.path(packDir, rec.Name+pack.IndexExt))
		}
		for _, ref := range rec.Refs {
			add(db.refPath(ref.Name))
		}
	}
	return files
}

// The size of the header of a log, and of a log that was full once.
const (
	logHead = 16
	fullLog = 1 << 20
)

// In the boot of its records the log is not replayed: the kernel has the files.
func TestSameBootNeedsNoRecovery(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	put(t, db, []byte("a"), "refs/cairn/x")
	size := len(logged(t, db))
	other := openLogged(t, db.Dir(), 1)
	if got := len(logged(t, other)); size != 1 || got != size {
		t.Fatalf("%d records, then %d", size, got)
	}
}

// Two processes append in turn, each behind the records of the other.
func TestLogOfTwo(t *testing.T) {
	t.Parallel()
	a := newLogged(t)
	b := openLogged(t, a.Dir(), 1)
	blobs, refs := make(map[object.ID][]byte), make(map[string]object.ID)
	before := image(t, a.Dir())
	for i := range 20 {
		db := []*DB{a, b}[i%2]
		content, name := fmt.Appendf(nil, "%d", i), fmt.Sprintf("refs/cairn/%d", i%3)
		id := put(t, db, content, name)
		blobs[id], refs[name] = content, id
	}
	if n := len(logged(t, a)); n != 20 {
		t.Fatalf("%d records, want 20", n)
	}
	losePower(t, b, before, rand.New(rand.NewPCG(1, 1)))
	checkStore(t, openLogged(t, a.Dir(), 2), blobs, refs)
}

// A process that is killed between its record and the renames has reported nothing. When others
// have gone on, a loss of power must not bring its refs back.
func TestPromiseOfTheDead(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	first := put(t, db, []byte("first"), "refs/cairn/x", "refs/cairn/y")
	w, err := db.log.Lock()
	must(t, err)
	must(t, w.Append(&redo.Record{Refs: []redo.Ref{{Name: "refs/cairn/y", From: first, To: object.Sum(object.Blob, []byte("never"))}}}))
	w.Unlock()
	other := openLogged(t, db.Dir(), 1)
	second := put(t, other, []byte("second"), "refs/cairn/x")
	for _, rec := range logged(t, other) {
		for _, ref := range rec.Refs {
			if ref.Name == "refs/cairn/y" {
				t.Fatalf("the log still says %v", rec.Refs)
			}
		}
	}
	after := openLogged(t, db.Dir(), 2)
	for name, want := range map[string]object.ID{"refs/cairn/x": second, "refs/cairn/y": first} {
		if got, err := after.Ref(name); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", name, got, err, want)
		}
	}
}

// A program that does not know the log has the last word about a ref.
func TestForeignRefStays(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	put(t, db, []byte("a"), "refs/cairn/x", "refs/cairn/y")
	foreign := commitOf(t, db, "foreign")
	must(t, os.WriteFile(db.refPath("refs/cairn/x"), []byte(foreign.String()+"\n"), 0o600))
	after := openLogged(t, db.Dir(), 2)
	if got, err := after.Ref("refs/cairn/x"); err != nil || got != foreign {
		t.Fatalf("ref is %s, %v; want %s", got, err, foreign)
	}
}

func commitOf(t *testing.T, db *DB, content string) object.ID { return put(t, db, []byte(content)) }

// A store that does not flush leaves no log behind that names old values.
func TestLogEndsWithoutFlushing(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	a := put(t, db, []byte("a"), "refs/cairn/x")
	put(t, db, []byte("b"), "refs/cairn/x")
	quick, err := Open(db.Dir(), testRoot, Options{NoSync: true, token: boot(1).token})
	must(t, err)
	defer quick.Close()
	must(t, quick.SetRef("refs/cairn/x", a)) // back to a value that the log knows
	if n := len(logged(t, quick)); n != 0 {
		t.Fatalf("%d records", n)
	}
	if got, err := openLogged(t, db.Dir(), 2).Ref("refs/cairn/x"); err != nil || got != a {
		t.Fatalf("ref is %s, %v; want %s", got, err, a)
	}
}

// A fold empties the log. A collection removes it with the copies of objects in it.
func TestLogEnds(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	for i := range foldAt {
		put(t, db, fmt.Appendf(nil, "%d", i), "refs/cairn/x")
	}
	if n := len(logged(t, db)); n != foldAt {
		t.Fatalf("%d records", n)
	}
	fold(t, db)
	if n := len(logged(t, db)); n != 0 {
		t.Fatalf("%d records after a fold", n)
	}
	put(t, db, []byte("secret of a user"), "refs/cairn/y")
	must(t, db.DeleteRef("refs/cairn/y"))
	CollectThorough(t, db)
	for path, data := range image(t, db.Dir()) {
		if bytes.Contains(data, []byte("secret of a user")) {
			t.Errorf("%s holds it", path)
		}
	}
	if !fileMissing(db.path(redoFile)) {
		t.Error("there is a log")
	}
}

// A full log is flushed, grows once, and starts again from its beginning.
func TestFullLog(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	blobs, refs := make(map[object.ID][]byte), make(map[string]object.ID)
	for i := range 12 {
		content := noise(uint64(i), redo.MaxRecord*3/4)
		id := put(t, db, content, "refs/cairn/x")
		blobs[id], refs["refs/cairn/x"] = content, id
		put(t, db, fmt.Appendf(nil, "small %d", i), "refs/cairn/y")
	}
	refs["refs/cairn/y"] = object.Sum(object.Blob, []byte("small 11"))
	if info, err := os.Stat(db.path(redoFile)); err != nil || info.Size() != fullLog {
		t.Fatalf("the log has %v, %v", info, err)
	}
	checkStore(t, openLogged(t, db.Dir(), 2), blobs, refs)
}

// More refs than a record has room for are set.
func TestManyRefsAtOnce(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	id := put(t, db, []byte("a"), "refs/cairn/x")
	var names []string
	for i := range 800 {
		names = append(names, fmt.Sprintf("refs/cairn/many/%s-%d", strings.Repeat("n", 60), i))
	}
	put(t, db, []byte("b"), names...)
	var updates []RefUpdate
	for _, name := range names {
		updates = append(updates, RefUpdate{name, id})
	}
	must(t, db.SetRefs(updates...))
	found, err := openLogged(t, db.Dir(), 2).Refs("refs/cairn/many/")
	if err != nil || len(found) != len(names) || found[0].ID != id {
		t.Fatalf("%d refs, %v", len(found), err)
	}
}

// A damaged log keeps no process from opening the store, and changes no ref.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	a := put(t, db, []byte("a"), "refs/cairn/x")
	whole, err := os.ReadFile(db.path(redoFile))
	must(t, err)
	for name, data := range map[string][]byte{
		"empty":  {},
		"short":  whole[:logHead+3],
		"header": append([]byte("GARBAGE!"), whole[8:]...),
		"zeros":  make([]byte, redo.FileSize),
		"length": slices.Concat(whole[:logHead], []byte{0xff, 0xff, 0xff, 0xff}, whole[logHead+4:]),
		"body":   slices.Concat(whole[:logHead+40], []byte{whole[logHead+40] ^ 1}, whole[logHead+41:]),
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.WriteFile(db.path(redoFile), data, 0o600))
			after := openLogged(t, db.Dir(), 2)
			if got, err := after.Ref("refs/cairn/x"); err != nil || got != a {
				t.Fatalf("ref is %s, %v", got, err)
			}
			b := put(t, after, []byte(name), "refs/cairn/"+name)
			if got, err := openLogged(t, db.Dir(), 3).Ref("refs/cairn/" + name); err != nil || got != b {
				t.Fatalf("ref is %s, %v", got, err)
			}
		})
	}
}

// If a pack that was to be flushed before its record is missing, its publish has never returned.
func TestLargePackThatNeverArrived(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	small := put(t, db, []byte("small"), "refs/cairn/x")
	put(t, db, noise(3, 2*redo.MaxRecord), "refs/cairn/x")
	for _, rec := range logged(t, db) {
		if rec.Name != "" && len(rec.Pack) == 0 {
			stem := pack.New(db.path(packDir), rec.Name).Stem
			must(t, errors.Join(os.Remove(stem+pack.Ext), os.Remove(stem+pack.IndexExt)))
		}
	}
	must(t, os.WriteFile(db.refPath("refs/cairn/x"), []byte(small.String()+"\n"), 0o600))
	if got, err := openLogged(t, db.Dir(), 2).Ref("refs/cairn/x"); err != nil || got != small {
		t.Fatalf("ref is %s, %v; want %s", got, err, small)
	}
}

// A store without write permission is read as it is.
func TestRecoveryWithoutPermission(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("nothing is forbidden to the superuser")
	}
	db := newLogged(t)
	a := put(t, db, []byte("a"), "refs/cairn/x")
	must(t, os.Chmod(db.path(privateDir), 0o500))
	must(t, os.Chmod(db.path(lockFile), 0o400))
	must(t, os.Chmod(db.path(redoFile), 0o400))
	t.Cleanup(func() { os.Chmod(db.path(privateDir), 0o700) })
	if got, err := openLogged(t, db.Dir(), 2).Ref("refs/cairn/x"); err != nil || got != a {
		t.Fatalf("ref is %s, %v", got, err)
	}
}

// TestLogOfAnOlderVersion: a log of a mebibyte is filled, and all of its records are replayed.
func TestLogOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/store"
	db := openLogged(t, dir, 1)
	ids := []object.ID{put(t, db, noise(0, 9000), "refs/cairn/disk")}
	must(t, os.Truncate(db.path(redoFile), fullLog))
	for len(ids)*9000 < 2*redo.FileSize {
		ids = append(ids, put(t, db, noise(uint64(len(ids)), 9000), "refs/cairn/disk"))
	}
	must(t, db.Close())
	must(t, os.RemoveAll(db.path(packDir)))
	must(t, os.Mkdir(db.path(packDir), 0o700))
	after := openLogged(t, dir, 2) // another boot
	for i, id := range ids {
		wantBlob(t, after, id, string(noise(uint64(i), 9000)))
	}
}

// TestFullLogGrows: a log that was full has more room from then on, also for other processes.
func TestFullLogGrows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/store"
	db := openLogged(t, dir, 1)
	size := func() int64 { return must1(os.Stat(db.path(redoFile))).Size() }
	var ids []object.ID
	fill := func(db *DB) {
		for last := 0; len(logged(t, db)) >= last; {
			last = len(logged(t, db))
			ids = append(ids, put(t, db, noise(uint64(len(ids)), 9000), "refs/cairn/disk"))
		}
	}
	put(t, db, []byte("first"), "refs/cairn/disk")
	if got := size(); got != redo.FileSize {
		t.Errorf("a new log has %d bytes", got)
	}
	fill(db)
	if got := size(); got != fullLog {
		t.Errorf("a log that was full has %d bytes", got)
	}
	before := len(ids)
	fill(openLogged(t, dir, 1))
	if n := len(ids) - before; n < fullLog/2/9000 {
		t.Errorf("full again after %d records", n)
	}
	for i, id := range ids {
		wantBlob(t, reopen(t, db), id, string(noise(uint64(i), 9000)))
	}
}
