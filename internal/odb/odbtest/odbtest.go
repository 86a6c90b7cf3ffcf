// Package odbtest makes stores for the tests of the packages above odb.
package odbtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// Root is the directory that the stores say they belong to.
var Root = Must1(filepath.Abs(string(filepath.Separator) + "project"))

// Must ends a test that has met an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Must1 returns v, and panics if there is an error.
func Must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// New returns an empty store that does not flush.
func New(t testing.TB) *odb.DB {
	t.Helper()
	db, err := odb.Create(filepath.Join(t.TempDir(), "store"), Root, odb.Options{NoSync: true})
	Must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// Reopen returns a store as another process would see it.
func Reopen(t testing.TB, db *odb.DB) *odb.DB {
	t.Helper()
	other, err := odb.Open(db.Dir(), Root, odb.Options{NoSync: true})
	Must(t, err)
	t.Cleanup(func() { other.Close() })
	return other
}

// Commit writes one pack of blobs and returns their ids.
func Commit(t testing.TB, db *odb.DB, blobs ...string) []object.ID {
	t.Helper()
	b := db.NewBatch()
	defer b.Discard()
	var ids []object.ID
	for _, blob := range blobs {
		id, err := b.Add(object.Blob, []byte(blob))
		Must(t, err)
		ids = append(ids, id)
	}
	Must(t, b.Commit())
	return ids
}

// Numbered returns texts that end with the numbers from the first up to, without, the second.
func Numbered(word string, from, to int) []string {
	var texts []string
	for i := from; i < to; i++ {
		texts = append(texts, fmt.Sprintf("%s %d", word, i))
	}
	return texts
}

// WantBlob fails unless a store has a blob with these contents.
func WantBlob(t testing.TB, db *odb.DB, id object.ID, want string) {
	t.Helper()
	kind, content, err := db.Read(id)
	if err != nil || kind != object.Blob || string(content) != want {
		t.Fatalf("read %s: %v, %d bytes, %v; want a blob of %d bytes", id, kind, len(content), err, len(want))
	}
}

// Fsck has git check a store, if a git is installed.
func Fsck(t testing.TB, db *odb.DB) {
	t.Helper()
	gittest.FsckBare(t, db.Dir(), db.PackNames()...)
}

// Path returns the path of a file inside a store. name has slashes.
func Path(db *odb.DB, name string) string { return filepath.Join(db.Dir(), filepath.FromSlash(name)) }

// Names lists a directory of a store, sorted.
func Names(t testing.TB, db *odb.DB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(Path(db, dir))
	Must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// PackBytes returns the size of all files of packs.
func PackBytes(t testing.TB, db *odb.DB) (n int64) {
	t.Helper()
	for _, name := range Names(t, db, "objects/pack") {
		if info, err := os.Lstat(Path(db, "objects/pack/"+name)); err == nil {
			n += info.Size()
		}
	}
	return n
}

// WantClean fails if temporary files or halves of packs lie in a store.
func WantClean(t testing.TB, db *odb.DB, what string) {
	t.Helper()
	for _, dir := range []string{".", "cairn", "cairn/journal", "objects/pack"} {
		for _, name := range Names(t, db, dir) {
			if strings.Contains(name, "tmp") || strings.HasSuffix(name, ".lock") {
				t.Errorf("%s: left %s in %s", what, name, dir)
			}
		}
	}
	names := Names(t, db, "objects/pack")
	if packs := len(db.PackNames()); 2*packs != len(names) {
		t.Errorf("%s: %d packs and files %q", what, packs, names)
	}
}
