package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// damaged is a store with a pack for the damage and another pack.
type damaged struct {
	db     *DB
	stem   string               // of the pack to be damaged
	inside map[object.ID][]byte // its objects
	other  map[object.ID][]byte // those elsewhere
	kinds  map[object.ID]object.Kind
}

// newDamaged makes such a store. With a git, its first pack has deltas.
func newDamaged(t *testing.T, deltas bool) *damaged {
	t.Helper()
	db := newStore(t)
	d := &damaged{db: db, inside: make(map[object.ID][]byte), other: make(map[object.ID][]byte), kinds: make(map[object.ID]object.Kind)}
	b := db.NewBatch()
	for i := range 5 {
		text := append(noise(1, 400), fmt.Sprint("version ", i, strings.Repeat(" and more", i))...)
		id, err := b.Add(object.Blob, text)
		must(t, err)
		d.inside[id] = text
	}
	tree := object.AppendTree(nil, []object.Entry{{Name: "f", Mode: object.Regular, ID: object.Sum(object.Blob, nil)}})
	id, err := b.Add(object.Tree, tree)
	must(t, err)
	d.inside[id] = tree
	must(t, b.Commit())
	if deltas {
		var list strings.Builder
		for id := range d.inside {
			fmt.Fprintln(&list, id)
		}
		own := db.PackNames()[0]
		git(t, db.Dir(), list.String(), "pack-objects", "-q", "--no-reuse-delta", "--window=10", "--depth=10", "--delta-base-offset", filepath.Join(packDir, "pack"))
		must(t, os.Remove(db.path(packDir, own+pack.Ext)))
		must(t, os.Remove(db.path(packDir, own+pack.IndexExt)))
		out := git(t, db.Dir(), "", "verify-pack", "-v", filepath.Join(packDir, db.PackNames()[0]+pack.IndexExt))
		if !strings.Contains(out, "chain length = ") {
			t.Fatalf("git made no deltas:\n%s", out)
		}
	}
	d.stem = db.path(packDir, db.PackNames()[0])
	for _, id := range commit(t, db, "one", "two", string(noise(9, 300))) {
		_, content, err := db.Read(id)
		must(t, err)
		d.other[id] = content
	}
	return d
}

// check opens the store again and reads every object. Objects outside of the damaged pack are
// right, and objects in it are right or an error.
func (d *damaged) check(t *testing.T, what string) (wrong int) {
	t.Helper()
	db := reopen(t, d.db)
	defer db.Close()
	for id, want := range d.other {
		if _, content, err := db.Read(id); err != nil || !bytes.Equal(content, want) {
			t.Fatalf("%s: an object elsewhere reads %d bytes, %v", what, len(content), err)
		}
	}
	for id, want := range d.inside {
		if ids, err := db.Prefix(id.String()[:8], 0); err != nil || len(ids) > 1 {
			t.Fatalf("%s: prefix: %v, %v", what, ids, err)
		}
		if _, err := db.Has(id); err != nil {
			t.Fatalf("%s: has: %v", what, err)
		}
		db.Stat(id)
		_, content, err := db.Read(id)
		if err == nil && !bytes.Equal(content, want) {
			t.Fatalf("%s: wrong bytes", what)
		}
		if err != nil {
			wrong++
			if !errors.Is(err, pack.ErrCorrupt) && !errors.Is(err, ErrNotFound) {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if _, _, r, err := db.Open(id); err == nil {
			if content, err := io.ReadAll(r); err == nil && !bytes.Equal(content, want) {
				t.Fatalf("%s: wrong bytes from Open", what)
			}
			r.Close()
		}
	}
	return wrong
}

func TestDamagedPacks(t *testing.T) {
	t.Parallel()
	for _, deltas := range []bool{false, true} {
		for _, ext := range []string{pack.Ext, pack.IndexExt} {
			t.Run(fmt.Sprintf("deltas %v %s", deltas, ext), func(t *testing.T) {
				t.Parallel()
				if deltas {
					needGit(t)
				}
				d := newDamaged(t, deltas)
				path := d.stem + ext
				good, err := os.ReadFile(path)
				must(t, err)
				must(t, os.Chmod(path, 0o600))
				write := func(data []byte) { must(t, os.WriteFile(path, data, 0o600)) }
				hurt := 0
				for i := 0; i < len(good); i += gittest.Step() {
					mask := []byte{0x01, 0x80, 0xff}[i%3]
					bad := bytes.Clone(good)
					bad[i] ^= mask
					write(bad)
					hurt += d.check(t, fmt.Sprintf("byte %d ^ %#x", i, mask))
				}
				for n := 0; n < len(good); n += 1 + n/64 {
					write(good[:n])
					if got := d.check(t, fmt.Sprintf("cut to %d", n)); got != len(d.inside) {
						t.Fatalf("cut to %d bytes: only %d objects are missed", n, got)
					}
				}
				write(append(bytes.Clone(good), 0))
				d.check(t, "a byte more")
				write(good)
				if got := d.check(t, "repaired"); got != 0 {
					t.Errorf("%d objects cannot be read after the repair", got)
				}
				if flips := len(good) / gittest.Step(); hurt < flips/2 {
					t.Errorf("%d flips hurt only %d reads", flips, hurt)
				}
			})
		}
	}
}

// Beside a damaged pack, an object that is not found is not known to be absent.
func TestAbsenceIsNotClaimedBesideDamage(t *testing.T) {
	t.Parallel()
	d := newDamaged(t, false)
	absent := object.Sum(object.Blob, []byte("absent"))
	must(t, os.Truncate(d.stem+pack.IndexExt, 100))
	_, _, err := reopen(t, d.db).Read(absent)
	if !errors.Is(err, pack.ErrCorrupt) || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), d.stem+pack.IndexExt) {
		t.Error(err)
	}
}

// A second copy of a damaged object is found, loose or packed.
func TestDamageIsMendedByAnotherCopy(t *testing.T) {
	t.Parallel()
	needGit(t)
	for _, where := range []string{"loose", "packed"} {
		db := newStore(t)
		content := string(prose(1, 3000))
		id := commit(t, db, content)[0]
		path := db.path(packDir, db.PackNames()[0]+pack.Ext)
		if where == "loose" {
			alone := newStore(t)
			git(t, alone.Dir(), content, "hash-object", "-w", "--stdin")
			must(t, os.MkdirAll(filepath.Dir(db.Loose(id).Path), 0o700))
			must(t, os.Rename(alone.Loose(id).Path, db.Loose(id).Path))
		} else {
			git(t, db.Dir(), id.String()+"\n", "pack-objects", "-q", filepath.Join(packDir, "pack"))
		}
		data, err := os.ReadFile(path)
		must(t, err)
		data[len(data)/2] ^= 0x10
		must(t, os.WriteFile(path, data, 0o600))
		for range 3 {
			wantBlob(t, reopen(t, db), id, content)
		}
	}
}

// A pack that was damaged and has been replaced by a good copy is read again.
func TestReplacedPackIsReadAgain(t *testing.T) {
	t.Parallel()
	d := newDamaged(t, false)
	good, err := os.ReadFile(d.stem + pack.IndexExt)
	must(t, err)
	must(t, os.Truncate(d.stem+pack.IndexExt, 500))
	db := reopen(t, d.db)
	for id := range d.inside {
		if _, _, err := db.Read(id); !errors.Is(err, pack.ErrCorrupt) {
			t.Fatalf("%v", err)
		}
	}
	must(t, os.Remove(d.stem+pack.IndexExt))
	must(t, os.WriteFile(d.stem+pack.IndexExt, good, 0o600))
	for id, want := range d.inside {
		wantObject(t, db, id, want)
	}
}

func wantObject(t *testing.T, db *DB, id object.ID, want []byte) {
	t.Helper()
	if _, content, err := db.Read(id); err != nil || !bytes.Equal(content, want) {
		t.Fatalf("%s: %d bytes, %v", id, len(content), err)
	}
}

func TestDamagedLooseObjects(t *testing.T) {
	t.Parallel()
	needGit(t)
	db := newStore(t)
	content := string(prose(1, 500))
	git(t, db.Dir(), content, "hash-object", "-w", "--stdin")
	id := object.Sum(object.Blob, []byte(content))
	path := db.Loose(id).Path
	good, err := os.ReadFile(path)
	must(t, err)
	must(t, os.Chmod(path, 0o600))
	check := func(what string, data []byte) {
		t.Helper()
		must(t, os.WriteFile(path, data, 0o600))
		db.Stat(id)
		_, got, err := db.Read(id)
		if err == nil && string(got) != content {
			t.Fatalf("%s: wrong bytes", what)
		}
		if err != nil && (!errors.Is(err, pack.ErrCorrupt) || !strings.Contains(err.Error(), path)) {
			t.Fatalf("%s: %v", what, err)
		}
		if err == nil && len(data) < len(good) {
			t.Fatalf("%s: read though cut off", what)
		}
	}
	for i := 0; i < len(good); i += gittest.Step() {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << bit
			check(fmt.Sprintf("byte %d bit %d", i, bit), bad)
		}
		check(fmt.Sprintf("cut to %d", i), good[:i])
	}
	// An empty file, as a loss of power leaves it, is no object: it is stored again.
	must(t, os.WriteFile(path, nil, 0o600))
	if ok, err := db.Has(id); ok || err != nil {
		t.Errorf("has: %v, %v", ok, err)
	}
	if got := commit(t, db, content)[0]; got != id {
		t.Fatal(got)
	}
	wantBlob(t, db, id, content)
}

// Wrong contents under an id are never returned, streamed or not.
func TestWrongContents(t *testing.T) {
	t.Parallel()
	needGit(t)
	for _, size := range []int{1000, pack.InMemory + 50_000} {
		db := newStore(t)
		wrong, right := string(prose(1, size)), string(prose(2, size))
		git(t, db.Dir(), wrong, "hash-object", "-w", "--stdin")
		id := object.Sum(object.Blob, []byte(right))
		must(t, os.MkdirAll(filepath.Dir(db.Loose(id).Path), 0o700))
		must(t, os.Rename(db.Loose(object.Sum(object.Blob, []byte(wrong))).Path, db.Loose(id).Path))
		if _, _, err := db.Read(id); !errors.Is(err, pack.ErrCorrupt) {
			t.Errorf("read: %v", err)
		}
		_, _, r, err := db.Open(id)
		if err == nil {
			_, err = io.ReadAll(r)
			r.Close()
		}
		if !errors.Is(err, pack.ErrCorrupt) {
			t.Errorf("open of %d bytes: %v", size, err)
		}
	}
}

// Damage in a large object that is streamed shows as an error before the end.
func TestDamagedStream(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	content := noise(1, pack.InMemory+200_000)
	id := commit(t, db, string(content))[0]
	path := db.path(packDir, db.PackNames()[0]+pack.Ext)
	good, err := os.ReadFile(path)
	must(t, err)
	for _, at := range []int{20, 1000, len(good) / 2, len(good) - 30, len(good) - 22} {
		bad := bytes.Clone(good)
		bad[at] ^= 4
		must(t, os.WriteFile(path, bad, 0o600))
		_, _, r, err := reopen(t, db).Open(id)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			r.Close()
		}
		if !errors.Is(err, pack.ErrCorrupt) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}
