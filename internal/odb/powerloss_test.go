package odb

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/redo"
)

// image returns the contents of the files of a store, by path.
func image(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files[path], err = os.ReadFile(path)
		}
		return err
	}))
	return files
}

// losePower makes of a store what a loss of power may leave: each file that the log names is as
// it was before, as it is now, or torn.
func losePower(t testing.TB, db *DB, before map[string][]byte, r *rand.Rand) {
	t.Helper()
	for _, path := range loggedFiles(logged(t, db), db) {
		now, err := os.ReadFile(path)
		there := err == nil
		old, was := before[path]
		switch r.IntN(6) {
		case 0:
			now, there = old, was
		case 1:
			now, there = nil, true
		case 2:
			now, there = make([]byte, len(now)), true
		case 3:
			now = now[:r.IntN(len(now)+1)]
		case 4:
			there = false
		}
		if !there {
			must(t, atomicfile.IgnoreMissing(os.Remove(path)))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, now, 0o600))
	}
}

// After any history of small and large publishes, changes and deletions of refs, folds and a full
// log, a loss of power undoes no publish (V14).
func TestV14_PowerLoss(t *testing.T) {
	t.Parallel()
	for seed := range gittest.Rounds(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			powerLossRound(t, rand.New(rand.NewPCG(uint64(seed), 7)))
		})
	}
}

func powerLossRound(t *testing.T, r *rand.Rand) {
	dir := filepath.Join(t.TempDir(), "store")
	blobs, refs := make(map[object.ID][]byte), make(map[string]object.ID)
	for life := byte(1); life < 4; life++ {
		db := openLogged(t, dir, life)
		before := image(t, dir)
		for range 1 + r.IntN(25) {
			records, last := logged(t, db), image(t, dir)
			anyPublish(t, db, r, blobs, refs)
			switch now := logged(t, db); {
			case len(now) == 0:
				before = image(t, dir) // all of it is on the disk
			case len(records) > 0 && !reflect.DeepEqual(now[0], records[0]):
				before = last // the log was full: what it held was flushed, and then came the record
			}
		}
		losePower(t, db, before, r)
		must(t, db.Close())
		after := openLogged(t, dir, life+1)
		checkStore(t, after, blobs, refs)
		if n := len(logged(t, after)); n > 0 {
			t.Fatalf("%d records are left after the recovery", n)
		}
		must(t, after.Close())
	}
}

func anyPublish(t *testing.T, db *DB, r *rand.Rand, blobs map[object.ID][]byte, refs map[string]object.ID) {
	t.Helper()
	name := fmt.Sprintf("refs/cairn/%c/%d", "ab"[r.IntN(2)], r.IntN(4))
	switch r.IntN(8) {
	case 0:
		err := db.DeleteRef(name)
		if _, ok := refs[name]; ok != (err == nil) {
			t.Fatalf("delete %s: %v", name, err)
		}
		delete(refs, name)
	case 1:
		for id := range blobs {
			must(t, db.SetRef(name, id))
			refs[name] = id
			break
		}
	case 2:
		if r.IntN(2) == 0 {
			must(t, foldBeside(db))
			return
		}
		_, err := db.Fold(t.Context())
		must(t, err)
	default:
		size := r.IntN(300)
		if r.IntN(6) == 0 {
			size = redo.MaxRecord/2 + r.IntN(redo.MaxRecord) // on both sides of what fits
		}
		content := noise(r.Uint64(), size)
		id := put(t, db, content, name, "refs/cairn/disk")
		blobs[id], refs[name], refs["refs/cairn/disk"] = content, id, id
	}
}

func checkStore(t *testing.T, db *DB, blobs map[object.ID][]byte, refs map[string]object.ID) {
	t.Helper()
	for id, content := range blobs {
		wantBlob(t, db, id, string(content))
	}
	found, err := db.Refs("refs/")
	must(t, err)
	got := make(map[string]object.ID)
	for _, ref := range found {
		must(t, ref.Err)
		got[ref.Name] = ref.ID
	}
	if !maps.Equal(got, refs) {
		t.Fatalf("refs %v, want %v", got, refs)
	}
	if f := Faults(t, db); len(f) > 0 {
		t.Fatalf("faults: %v", f)
	}
}

// TestV14_TornFilesAreMended: a loss of power may leave torn files that the log does not
// name. Git reports them, cairn still reads every object, and a repair satisfies git.
func TestV14_TornFilesAreMended(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	blobs, refs := make(map[object.ID][]byte), make(map[string]object.ID)
	for i := range 3 {
		content, name := fmt.Appendf(nil, "content %d", i), fmt.Sprintf("refs/cairn/%d", i)
		id := put(t, db, content, name)
		blobs[id], refs[name] = content, id
	}
	torn := db.path(packDir, "pack-"+strings.Repeat("7", 40))
	for path, data := range image(t, db.path(packDir)) {
		must(t, os.WriteFile(torn+filepath.Ext(path), data[:len(data)*2/3], 0o600))
	}
	must(t, db.Close())
	after := openLogged(t, db.Dir(), 2)
	for id, content := range blobs {
		wantBlob(t, after, id, string(content))
	}
	if len(Faults(t, after)) == 0 {
		t.Fatal("torn files are no fault")
	}
	RepairAll(t, after)
	checkStore(t, after, blobs, refs)
	fsck(t, after)
}
