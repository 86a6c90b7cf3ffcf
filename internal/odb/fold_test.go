package odb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// commitEach writes a pack for each blob.
func commitEach(t testing.TB, db *DB, blobs ...string) []object.ID {
	t.Helper()
	var ids []object.ID
	for _, blob := range blobs {
		ids = append(ids, commit(t, db, blob)...)
	}
	return ids
}

func numbered(word string, from, to int) []string {
	var blobs []string
	for i := from; i < to; i++ {
		blobs = append(blobs, fmt.Sprintf("%s %d", word, i))
	}
	return blobs
}

func fold(t testing.TB, db *DB) Folded {
	t.Helper()
	f, err := db.Fold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFold(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	ids := commitEach(t, db, numbered("blob", 0, 7)...)
	if f := fold(t, db); f.Packs != 0 || len(db.PackNames()) != 7 || db.Crowded(1) {
		t.Fatalf("seven packs: %+v", f)
	}
	old := append(db.PackNames(), pack.Prefix)
	ids = append(ids, commit(t, db, "blob 7")...)
	if !db.Crowded(1) || db.Crowded(2) {
		t.Error("eight packs are one tier")
	}
	f := fold(t, db)
	names := db.PackNames()
	if f.Packs != 8 || f.Objects != 8 || f.Bytes == 0 || len(f.Removed) != 8 || !slices.Equal(f.Added, names) || len(names) != 1 || slices.Contains(old, names[0]) {
		t.Fatalf("eight packs: %+v, now %q", f, names)
	}
	if f := fold(t, db); f.Packs != 0 {
		t.Errorf("again: %+v", f)
	}
	for _, reader := range []*DB{db, reopen(t, db)} {
		for i, id := range ids {
			wantBlob(t, reader, id, fmt.Sprint("blob ", i))
		}
	}
	files, err := readNames(db.path(packDir))
	if err != nil || len(files) != 2 {
		t.Errorf("files %q, %v", files, err)
	}
	fsck(t, db)
}

// Thousands of captures of one file leave few packs, and every object. 10,000 captures make
// 40,000 objects. Seven packs for each power of eight in that are 42.
func TestFoldKeepsPacksFew(t *testing.T) {
	t.Parallel()
	captures := 1500
	if testing.Short() || raceEnabled {
		captures = 300
	}
	db := newStore(t)
	var ids []object.ID
	most, copied := 0, 0
	for i := range captures {
		// A capture of one changed file writes a blob, two trees and a commit.
		b := db.NewBatch()
		for j := range 4 {
			id, err := b.Add(object.Blob, fmt.Append(nil, "capture ", i, " object ", j))
			must(t, err)
			ids = append(ids, id)
		}
		must(t, b.Commit())
		copied += fold(t, db).Objects
		most = max(most, len(db.packs.Load().packs))
	}
	if most > 7*5+1 {
		t.Errorf("up to %d packs", most)
	}
	t.Logf("%d captures: at most %d packs, every object copied %.2f times", captures, most, float64(copied)/float64(len(ids)))
	if per := float64(copied) / float64(len(ids)); per > 6 {
		t.Errorf("every object was copied %.1f times", per)
	}
	reader := reopen(t, db)
	for i, id := range ids {
		wantBlob(t, reader, id, fmt.Sprint("capture ", i/4, " object ", i%4))
	}
	fsck(t, db)
}

func TestFoldDropsDuplicates(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	var batches []*Batch // open at the same time, so that they do not see each other
	for range foldAt {
		batches = append(batches, db.NewBatch())
	}
	var shared, own []object.ID
	for i, b := range batches {
		id, err := b.Add(object.Blob, []byte("shared"))
		must(t, err)
		shared = append(shared, id)
		id, err = b.Add(object.Blob, fmt.Append(nil, "own ", i))
		must(t, err)
		own = append(own, id)
	}
	for _, b := range batches {
		must(t, b.Commit())
	}
	if f := fold(t, db); f.Packs != foldAt || f.Objects != foldAt+1 {
		t.Errorf("%+v", f)
	}
	wantBlob(t, db, shared[0], "shared")
	for i, id := range own {
		wantBlob(t, db, id, fmt.Sprint("own ", i))
	}
	fsck(t, db)
}

// contents returns the files among the packs.
func contents(t *testing.T, db *DB) map[string]string {
	t.Helper()
	names, err := readNames(db.path(packDir))
	must(t, err)
	files := make(map[string]string)
	for _, name := range names {
		data, err := os.ReadFile(db.path(packDir, name))
		must(t, err)
		files[name] = string(data)
	}
	return files
}

func TestFoldLeavesAlone(t *testing.T) {
	t.Parallel()
	tests := make(map[string]func(t *testing.T, db *DB))
	tests["packs with .keep"] = func(t *testing.T, db *DB) {
		for _, name := range db.PackNames() {
			must(t, os.WriteFile(db.path(packDir, name+".keep"), nil, 0o600))
		}
	}
	tests["packs of git's"] = func(t *testing.T, db *DB) {
		needGit(t)
		for _, name := range db.PackNames() {
			for _, id := range idsOf(t, db, name) {
				git(t, db.Dir(), id.String()+"\n", "pack-objects", "-q", filepath.Join(packDir, "pack"))
			}
			must(t, os.Remove(db.path(packDir, name+pack.IndexExt)))
			must(t, os.Remove(db.path(packDir, name+pack.Ext)))
		}
	}
	tests["packs in a multi-pack-index"] = func(t *testing.T, db *DB) {
		needGit(t)
		git(t, db.Dir(), "", "multi-pack-index", "write")
	}
	tests["a multi-pack-index that is not understood"] = func(t *testing.T, db *DB) {
		must(t, os.WriteFile(db.path(packDir, "multi-pack-index"), []byte("MIDX\x07 something newer"), 0o600))
	}
	tests["a chain of multi-pack-indexes"] = func(t *testing.T, db *DB) {
		must(t, os.Mkdir(db.path(packDir, "multi-pack-index.d"), 0o700))
	}
	tests["packs of another name"] = func(t *testing.T, db *DB) {
		for i, name := range db.PackNames() {
			to := fmt.Sprintf("pack-%040d", i)
			must(t, os.Rename(db.path(packDir, name+pack.Ext), db.path(packDir, to+pack.Ext)))
			must(t, os.Rename(db.path(packDir, name+pack.IndexExt), db.path(packDir, to+pack.IndexExt)))
		}
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newStore(t)
			commitEach(t, db, numbered("blob", 0, 10)...)
			prepare(t, db)
			names, err := readNames(db.path(packDir))
			must(t, err)
			if f := fold(t, reopen(t, db)); f.Packs != 0 {
				t.Errorf("%+v", f)
			}
			after, err := readNames(db.path(packDir))
			must(t, err)
			slices.Sort(names)
			slices.Sort(after)
			if !slices.Equal(names, after) {
				t.Errorf("before %q, after %q", names, after)
			}
		})
	}
}

func idsOf(t *testing.T, db *DB, name string) []object.ID {
	t.Helper()
	x, err := pack.New(db.path(packDir), name).Index()
	must(t, err)
	rows, err := x.Rows()
	must(t, err)
	var ids []object.ID
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids
}

// Packs that may not be folded do not keep the others from being folded.
func TestFoldAroundOthers(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	commitEach(t, db, numbered("kept", 0, 10)...)
	kept := db.PackNames()
	for _, name := range kept {
		must(t, os.WriteFile(db.path(packDir, name+".keep"), nil, 0o600))
	}
	ids := commitEach(t, db, numbered("blob", 0, 9)...)
	if f := fold(t, db); f.Packs != 9 {
		t.Errorf("%+v", f)
	}
	if got := db.PackNames(); len(got) != 11 {
		t.Errorf("%d packs", len(got))
	}
	for i, id := range ids {
		wantBlob(t, db, id, fmt.Sprint("blob ", i))
	}
	fsck(t, db)
}

// An altered entry is not copied into a new pack with a new checksum. Its pack stays, and the
// others are folded.
func TestFoldLeavesDamage(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	ids := commitEach(t, db, numbered("blob", 0, 9)...)
	bad := db.packs.Load().packs[4]
	path := bad.Stem + pack.Ext
	data, err := os.ReadFile(path)
	must(t, err)
	for i := pack.HeadSize; i < len(data)-20; i++ {
		broken := bytes.Clone(data)
		broken[i] ^= 0x20
		must(t, os.WriteFile(path, broken, 0o600))
		if _, err := pack.NewMerger(pack.NewWriter(db.path(packDir)), nil).Add(bad); !errors.Is(err, pack.ErrCorrupt) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
	other := reopen(t, db)
	if f := fold(t, other); f.Packs != 8 || slices.Contains(f.Removed, bad.Name()) {
		t.Errorf("%+v", f)
	}
	lost := 0
	for i, id := range ids {
		_, content, err := other.Read(id)
		if err != nil {
			lost++
		} else if string(content) != fmt.Sprint("blob ", i) {
			t.Errorf("blob %d reads %q", i, content)
		}
	}
	if lost != 1 {
		t.Errorf("%d objects cannot be read", lost)
	}
	must(t, os.WriteFile(path, data, 0o600))
	for i, id := range ids {
		wantBlob(t, reopen(t, db), id, fmt.Sprint("blob ", i))
	}
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestFoldIsCancelled(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	commitEach(t, db, numbered("blob", 0, 8)...)
	before := db.PackNames()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f, err := db.Fold(ctx); !errors.Is(err, context.Canceled) || f.Packs != 0 {
		t.Errorf("%+v, %v", f, err)
	}
	if after := db.PackNames(); !slices.Equal(before, after) {
		t.Errorf("before %q, after %q", before, after)
	}
	if files := contents(t, db); len(files) != 16 {
		t.Errorf("%d files", len(files))
	}
}

// A crash after the new pack is published, and before all old packs are removed, leaves objects
// twice. The next command reads all of them, and the next fold and sweep leave the state of an
// undisturbed fold.
func TestFoldAfterACrash(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	ids := commitEach(t, db, numbered("blob", 0, 8)...)
	before := contents(t, db)
	fold(t, db)
	after := contents(t, db)
	oldFiles := slices.Sorted(maps.Keys(before)) // .idx and .pack by turns
	for cut := 0; cut <= len(oldFiles); cut++ {
		crashed := newStore(t)
		write := func(name, data string) { must(t, os.WriteFile(crashed.path(packDir, name), []byte(data), 0o600)) }
		for name, data := range after {
			write(name, data)
		}
		// Of each old pack the index goes first.
		for _, name := range oldFiles[cut:] {
			write(name, before[name])
		}
		for i, id := range ids {
			wantBlob(t, crashed, id, fmt.Sprint("blob ", i))
		}
		next := reopen(t, crashed)
		must(t, next.Sweep())
		commitEach(t, next, numbered("later", 0, 8)...)
		fold(t, next)
		for i, id := range ids {
			wantBlob(t, next, id, fmt.Sprint("blob ", i))
		}
		if files := contents(t, next); len(files)%2 != 0 || len(files) > 4 {
			t.Errorf("cut %d: left %q", cut, slices.Sorted(maps.Keys(files)))
		}
		fsck(t, next)
	}
}

// Readers in this process and others go on while packs are folded.
func TestReadersDuringFolds(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be removed on this system")
	}
	db := newStore(t)
	ids := commitEach(t, db, numbered("blob", 0, 20)...)
	large := noise(1, pack.InMemory+10_000)
	largeID := commit(t, db, string(large))[0]
	var readers sync.WaitGroup
	stop := make(chan struct{})
	read := func(reader *DB) {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			n := i * 7 % len(ids)
			if _, content, err := reader.Read(ids[n]); err != nil || string(content) != fmt.Sprint("blob ", n) {
				t.Errorf("blob %d: %q, %v", n, content, err)
				return
			}
			if ok, err := reader.Has(ids[n]); !ok || err != nil {
				t.Errorf("has blob %d: %v, %v", n, ok, err)
				return
			}
			if got, err := reader.Prefix(ids[n].String()[:10], 0); len(got) != 1 || err != nil {
				t.Errorf("prefix: %v, %v", got, err)
				return
			}
			if i%50 == 0 {
				if _, content, err := reader.Read(largeID); err != nil || !bytes.Equal(content, large) {
					t.Errorf("large blob: %v", err)
					return
				}
			}
		}
	}
	for _, reader := range []*DB{db, db, reopen(t, db), reopen(t, db)} {
		readers.Go(func() { read(reader) })
	}
	for i := range 10 {
		commitEach(t, db, numbered(fmt.Sprint("more ", i), 0, 8)...)
		fold(t, db)
	}
	close(stop)
	readers.Wait()
	fsck(t, db)
}

func TestLargePacksAreNotFolded(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	db := newStore(t)
	id := commit(t, db, string(noise(1, foldMaxBytes+1)))[0]
	large := db.PackNames()[0]
	commitEach(t, db, numbered("blob", 0, 7)...)
	if f := fold(t, db); f.Packs != 0 {
		t.Errorf("seven and a large one: %+v", f)
	}
	if db.Crowded(1) {
		t.Error("a large pack, which is not folded, makes its tier seem full")
	}
	commit(t, db, "blob 7")
	if f := fold(t, db); f.Packs != 8 || slices.Contains(f.Removed, large) {
		t.Errorf("eight and a large one: %+v", f)
	}
	wantBlob(t, db, id, string(noise(1, foldMaxBytes+1)))
}
