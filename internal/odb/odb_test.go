package odb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// testRoot is the directory that the stores of the tests say they belong to.
var testRoot = func() string {
	root, err := filepath.Abs(string(filepath.Separator) + "project")
	if err != nil {
		panic(err)
	}
	return root
}()

// newStore returns an empty store that does not flush.
func newStore(t testing.TB) *DB {
	t.Helper()
	db, err := Create(filepath.Join(t.TempDir(), "store"), testRoot, Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// reopen returns the store as another process would see it.
func reopen(t testing.TB, db *DB) *DB {
	t.Helper()
	other, err := Open(db.Dir(), testRoot, Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	return other
}

// commit writes one batch of blobs and returns their ids.
func commit(t testing.TB, db *DB, blobs ...string) []object.ID {
	t.Helper()
	b := db.NewBatch()
	defer b.Discard()
	var ids []object.ID
	for _, blob := range blobs {
		id, err := b.Add(object.Blob, []byte(blob))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	return ids
}

// Short names of the helpers that know no store.
var (
	noise, prose = gittest.Noise, gittest.Prose
	needGit      = gittest.NeedGit
	git, tryGit  = gittest.Bare, gittest.TryBare
)

const raceEnabled = gittest.Race

func wantBlob(t testing.TB, db *DB, id object.ID, want string) {
	t.Helper()
	kind, content, err := db.Read(id)
	if err != nil || kind != object.Blob || string(content) != want {
		t.Fatalf("read %s: %v, %d bytes, %v; want a blob of %d bytes", id, kind, len(content), err, len(want))
	}
}

// fsck has git check the store, if a git is installed.
func fsck(t testing.TB, db *DB) {
	t.Helper()
	gittest.FsckBare(t, db.Dir(), db.PackNames()...)
}

func TestCreate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data", "snapshot", "0123456789abcdef")
	db, err := Create(dir, testRoot, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if db.Dir() != dir || db.Root() != testRoot {
		t.Errorf("Dir %q, Root %q", db.Dir(), db.Root())
	}
	var got []string
	err = filepath.WalkDir(filepath.Dir(dir), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700 | fs.ModeDir
		}
		if runtime.GOOS != "windows" && info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
		rel, err := filepath.Rel(dir, path)
		got = append(got, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"..", ".", "HEAD", "cairn", "cairn/journal", "cairn/lock", "cairn/root", "cairn/version", "config",
		"objects", "objects/info", "objects/pack", "refs", "refs/cairn", "refs/heads", "refs/tags",
	}
	if !slices.Equal(got, want) {
		t.Errorf("store holds %q,\nwant %q", got, want)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "cairn", "root")); err != nil || string(got) != testRoot {
		t.Errorf("root file holds %q, %v", got, err)
	}
	if got := db.PrivatePath("index"); got != filepath.Join(dir, "cairn", "index") {
		t.Errorf("private path %q", got)
	}
	again, err := Create(dir, testRoot, Options{})
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestCreateWantsAnAbsoluteRoot(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	for _, root := range []string{"", "project", "./project"} {
		if _, err := Create(dir, root, Options{}); err == nil || !strings.Contains(err.Error(), "absolute") {
			t.Errorf("root %q: %v", root, err)
		}
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
}

// A root is bytes, not text.
func TestRootOfAnyBytes(t *testing.T) {
	t.Parallel()
	root := testRoot + "/a\nb\xff "
	dir := filepath.Join(t.TempDir(), "store")
	db, err := Create(dir, root, Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	if db, err = Open(dir, root, Options{}); err != nil {
		t.Fatal(err)
	}
	if db.Root() != root {
		t.Errorf("root %q", db.Root())
	}
	db.Close()
	if _, err = Open(dir, strings.TrimSpace(root), Options{}); err == nil {
		t.Error("another root is accepted")
	}
}

func TestOpenFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		damage func(t *testing.T, dir string)
		is     error  // nil: neither ErrNotStore nor ErrCorrupt
		says   string // part of the text
	}{
		{"absent", func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) }, ErrNotStore, ""},
		{"empty directory", func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir))
			must(t, os.Mkdir(dir, 0o700))
		}, ErrNotStore, ""},
		{"a file", func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir))
			must(t, os.WriteFile(dir, []byte("x"), 0o600))
		}, ErrNotStore, ""},
		{"another repository", func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, "cairn"))) }, ErrNotStore, ""},
		{"newer format", func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "cairn", "version"), []byte("3\n"), 0o600))
		}, nil, `format version "3"`},
		{"no objects", func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, "objects"))) }, pack.ErrCorrupt, "objects"},
		{"no root", func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "cairn", "root"))) }, pack.ErrCorrupt, "belongs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := newStore(t).Dir()
			tt.damage(t, dir)
			_, err := Open(dir, testRoot, Options{})
			if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), dir) {
				t.Fatalf("error %v", err)
			}
			for _, sentinel := range []error{ErrNotStore, pack.ErrCorrupt} {
				if got := errors.Is(err, sentinel); got != (tt.is == sentinel) {
					t.Errorf("%v: is %v: %v", err, sentinel, got)
				}
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestR106AStoreBelongsToOneRoot(t *testing.T) {
	t.Parallel()
	dir := newStore(t).Dir()
	other := testRoot + "2"
	for name, open := range map[string]func(string, string, Options) (*DB, error){"Open": Open, "Create": Create} {
		_, err := open(dir, other, Options{})
		if err == nil || !strings.Contains(err.Error(), testRoot) || !strings.Contains(err.Error(), other) {
			t.Errorf("%s: error %v does not name both roots", name, err)
		}
	}
	db, err := Open(dir, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if db.Root() != testRoot {
		t.Errorf("root %q", db.Root())
	}
}

func TestCreateNeverReplacesADirectoryInUse(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "precious"), []byte("x"), 0o600))
	if _, err := Create(dir, testRoot, Options{}); err == nil {
		t.Fatal("no error")
	}
	if names, err := readNames(dir); err != nil || !slices.Equal(names, []string{"precious"}) {
		t.Fatalf("directory holds %q, %v", names, err)
	}
	if names, err := readNames(filepath.Dir(dir)); err != nil || !slices.Equal(names, []string{"store"}) {
		t.Fatalf("parent holds %q, %v", names, err)
	}
}

func TestCreateNeverReplacesAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "store")
	must(t, os.WriteFile(file, []byte("precious"), 0o600))
	if _, err := Create(file, testRoot, Options{NoSync: true}); err == nil {
		t.Error("a store in the place of a file")
	}
	if err := os.Symlink(file, filepath.Join(dir, "link")); err == nil {
		if _, err := Create(filepath.Join(dir, "link"), testRoot, Options{NoSync: true}); err == nil {
			t.Error("a store in the place of a link")
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "precious" {
		t.Errorf("file holds %q, %v", data, err)
	}
}

func TestCreateInAnEmptyDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sub := filepath.Join(dir, "store")
	must(t, os.Mkdir(sub, 0o700))
	db, err := Create(sub, testRoot, Options{})
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
}

func TestCreateTogether(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "snapshot", "store")
	errs := make(chan error)
	for i := range 8 {
		go func() {
			db, err := Create(dir, testRoot, Options{NoSync: i%2 == 0})
			if err == nil {
				err = db.Close()
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if names, err := readNames(filepath.Dir(dir)); err != nil || !slices.Equal(names, []string{"store"}) {
		t.Fatalf("parent holds %q, %v", names, err)
	}
}

// Between closing a claim and removing it another process may sweep it away.
func TestClaimThatWasSwept(t *testing.T) {
	t.Parallel()
	if onWindows {
		t.Skip("open files cannot be removed on this system")
	}
	claim, err := atomicfile.Create(t.TempDir(), atomicfile.Prefix)
	must(t, err)
	must(t, os.Remove(claim.Name()))
	must(t, atomicfile.RemoveClaimed(claim))
}

func TestStoreIsARepositoryOfGits(t *testing.T) {
	t.Parallel()
	needGit(t)
	db := newStore(t)
	if got := strings.TrimSpace(git(t, db.Dir(), "", "rev-parse", "--is-bare-repository")); got != "true" {
		t.Errorf("bare: %s", got)
	}
	if got := strings.TrimSpace(git(t, db.Dir(), "", "symbolic-ref", "HEAD")); got != "refs/heads/cairn" {
		t.Errorf("HEAD is %s", got)
	}
	if got := strings.TrimSpace(git(t, db.Dir(), "", "config", "gc.auto")); got != "0" {
		t.Errorf("gc.auto is %s", got)
	}
	fsck(t, db)
}

// TestGitCollectsNothing: git gc in a store leaves even an old object that no ref leads to.
func TestGitCollectsNothing(t *testing.T) {
	t.Parallel()
	needGit(t)
	db := newStore(t)
	hex := strings.TrimSpace(git(t, db.Dir(), "no ref", "hash-object", "-w", "--stdin"))
	old := time.Now().AddDate(-1, 0, 0)
	must(t, os.Chtimes(db.path("objects", hex[:2], hex[2:]), old, old))
	git(t, db.Dir(), "", "gc", "-q")
	git(t, db.Dir(), "", "gc", "-q") // a git with cruft packs lists the object in one first
	if got := git(t, db.Dir(), "", "cat-file", "blob", hex); got != "no ref" {
		t.Errorf("the object is %q", got)
	}
}

func TestR96StoreRemovedUnderOurHands(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be removed on this system")
	}
	db := newStore(t)
	commit(t, db, "x")
	must(t, os.RemoveAll(db.Dir()))
	b := db.NewBatch()
	defer b.Discard()
	_, err := b.Add(object.Blob, []byte("y"))
	if err == nil {
		err = b.Commit()
	}
	if !errors.Is(err, ErrNotStore) {
		t.Errorf("batch: %v", err)
	}
	if _, _, err := db.Read(object.Sum(object.Blob, []byte("y"))); !errors.Is(err, ErrNotStore) {
		t.Errorf("read: %v", err)
	}
	if _, err := db.Lock(t.Context()); !errors.Is(err, ErrNotStore) {
		t.Errorf("lock: %v", err)
	}
}

func TestClosedStore(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	id := commit(t, db, "x")[0]
	must(t, db.Close())
	must(t, db.Close())
	if _, _, err := db.Read(id); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read: %v", err)
	}
	if _, err := db.Has(id); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("has: %v", err)
	}
	b := db.NewBatch()
	if _, err := b.Add(object.Blob, []byte("y")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("add: %v", err)
	}
}
