package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// history lets git fill a store with similar versions of a file, and with commits, trees and a
// tag, all loose.
func history(t testing.TB, db *DB, versions int) {
	t.Helper()
	lines := strings.SplitAfter(string(prose(1, 12_000)), "\n")
	var stream strings.Builder
	for v := range versions {
		lines[v*7%len(lines)] = fmt.Sprintf("version %d\n", v)
		text := strings.Join(lines, "")
		fmt.Fprintf(&stream, "commit refs/heads/cairn\ncommitter Ada <ada@example.com> %d +0000\ndata <<.\n%d\n.\n", 1_500_000_000+v, v)
		fmt.Fprintf(&stream, "M 100644 inline f\ndata %d\n%s\n", len(text), text)
	}
	git(t, db.Dir(), stream.String(), "-c", "fastimport.unpackLimit=100000", "fast-import", "--quiet") // loose objects
	git(t, db.Dir(), "", "tag", "-a", "-m", "tagged", "v1", "refs/heads/cairn")
}

// checkAgainstGit compares every object with git's.
func checkAgainstGit(t testing.TB, db *DB) []object.ID {
	t.Helper()
	out := git(t, db.Dir(), "", "cat-file", "--batch-all-objects", "--batch")
	var ids []object.ID
	for out != "" {
		head, rest, _ := strings.Cut(out, "\n")
		f := strings.Fields(head)
		id, err := object.ParseID(f[0])
		must(t, err)
		kind, err := object.ParseKind(f[1])
		must(t, err)
		size, err := strconv.Atoi(f[2])
		must(t, err)
		checkObject(t, db, sample{kind, []byte(rest[:size])})
		ids = append(ids, id)
		out = rest[size+1:]
	}
	return ids
}

func TestReadWhatGitWrites(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	needGit(t)
	const versions = 60
	repacks := map[string]func(db *DB){
		"loose":   func(db *DB) {},
		"repack":  func(db *DB) { git(t, db.Dir(), "", "repack", "-adq", "--depth=50", "--window=50") },
		"shallow": func(db *DB) { git(t, db.Dir(), "", "repack", "-adfq", "--depth=1", "--window=10") },
		"gc":      func(db *DB) { git(t, db.Dir(), "", "gc", "-q", "--prune=now") },
		"midx": func(db *DB) {
			git(t, db.Dir(), "", "repack", "-adq")
			git(t, db.Dir(), "", "multi-pack-index", "write")
		},
		"deltas by id": func(db *DB) {
			git(t, db.Dir(), "", "-c", "repack.usedeltabaseoffset=false", "repack", "-adfq", "--depth=50", "--window=50")
		},
		"large offsets": func(db *DB) {
			git(t, db.Dir(), "", "-c", "pack.indexVersion=2", "repack", "-adq")
			for _, name := range db.PackNames() {
				packFile := db.path(packDir, name)
				must(t, os.Remove(packFile+pack.IndexExt))
				git(t, db.Dir(), "", "index-pack", "--index-version=2,0x40", packFile+pack.Ext)
			}
		},
		"loose beside packed": func(db *DB) {
			git(t, db.Dir(), "", "repack", "-dq")
			git(t, db.Dir(), "new", "hash-object", "-w", "--stdin")
		},
	}
	for name, repack := range repacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newStore(t)
			history(t, db, versions)
			commit(t, db, "ours", "too")
			repack(db)
			ids := checkAgainstGit(t, reopen(t, db))
			if len(ids) < 3*versions+1 {
				t.Errorf("%d objects", len(ids))
			}
			// In another order, from several goroutines, with the cache full.
			reader := reopen(t, db)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for i := range ids {
						id := ids[i*7919%len(ids)]
						if kind, content, err := reader.Read(id); err != nil || object.Sum(kind, content) != id {
							t.Errorf("%s: %v", id, err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// The caller owns the contents that Read returns, also if they were the base of a delta.
func TestReadReturnsCopies(t *testing.T) {
	t.Parallel()
	needGit(t)
	db := newStore(t)
	history(t, db, 20)
	git(t, db.Dir(), "", "repack", "-adfq", "--depth=50", "--window=50")
	ids := checkAgainstGit(t, db)
	for _, first := range ids {
		fresh := reopen(t, db)
		for range 2 {
			_, content, err := fresh.Read(first)
			must(t, err)
			for i := range content {
				content[i] = 'x'
			}
		}
		for _, id := range ids {
			if _, _, err := fresh.Read(id); err != nil {
				t.Fatalf("after %s: %v", first, err)
			}
		}
		must(t, fresh.Close())
	}
}

func TestReadMisses(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	commit(t, db, "x")
	absent := object.Sum(object.Blob, []byte("absent"))
	if ok, err := db.Has(absent); ok || err != nil {
		t.Errorf("has: %v, %v", ok, err)
	}
	_, _, err := db.Read(absent)
	if !errors.Is(err, ErrNotFound) || errors.Is(err, pack.ErrCorrupt) || !strings.Contains(err.Error(), absent.String()) {
		t.Errorf("read: %v", err)
	}
	if _, _, err := db.Stat(absent); !errors.Is(err, ErrNotFound) {
		t.Errorf("stat: %v", err)
	}
	if _, _, _, err := db.Open(absent); !errors.Is(err, ErrNotFound) {
		t.Errorf("open: %v", err)
	}
}

// Packs that another process adds are found, however soon after the last listing.
func TestPacksOfOthersAreFound(t *testing.T) {
	t.Parallel()
	writer := newStore(t)
	reader := reopen(t, writer)
	for i := range 50 {
		blob := fmt.Sprint("blob ", i)
		if ok, err := reader.Has(object.Sum(object.Blob, []byte(blob))); ok || err != nil {
			t.Fatal(ok, err)
		}
		wantBlob(t, reader, commit(t, writer, blob)[0], blob)
	}
	if got, want := reader.PackNames(), writer.PackNames(); len(want) != 50 || !slices.Equal(got, want) {
		t.Errorf("%d packs, want %d", len(got), len(want))
	}
}

// A change in the tick of the clock in which the packs were listed does not show in the
// directory's time. It is noticed.
func TestPacksOfOthersInTheSameTick(t *testing.T) {
	t.Parallel()
	writer := newStore(t)
	reader := reopen(t, writer)
	tick := time.Now().Add(time.Hour) // as young as can be
	for i := range 5 {
		must(t, os.Chtimes(writer.path(packDir), tick, tick))
		if ok, err := reader.Has(object.Sum(object.Blob, nil)); ok || err != nil {
			t.Fatal(ok, err)
		}
		blob := fmt.Sprint("blob ", i)
		id := commit(t, writer, blob)[0]
		must(t, os.Chtimes(writer.path(packDir), tick, tick))
		wantBlob(t, reader, id, blob)
	}
}

func TestIsRacy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 600e6, time.UTC)
	for _, tt := range []struct {
		age  time.Duration
		want bool
	}{
		{-time.Second, true}, {0, true}, {10 * time.Millisecond, true}, {49 * time.Millisecond, true}, {51 * time.Millisecond, false}, {time.Hour, false},
		{600 * time.Millisecond, true}, {1600 * time.Millisecond, true}, {2600 * time.Millisecond, false}, // whole seconds
	} {
		if got := isRacy(now.Add(-tt.age), now); got != tt.want {
			t.Errorf("%v old: %v", tt.age, got)
		}
	}
}

func TestRepackUnderOurHands(t *testing.T) {
	t.Parallel()
	needGit(t)
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be removed on this system")
	}
	db := newStore(t)
	history(t, db, 10)
	git(t, db.Dir(), "", "repack", "-dq")
	kept := commit(t, db, "ours")[0]
	git(t, db.Dir(), "", "update-ref", "refs/cairn/kept", kept.String())
	reader := reopen(t, db)
	ids := checkAgainstGit(t, reader)
	stale := reopen(t, db)
	_, _, err := stale.Stat(ids[0]) // lists the packs, opens some
	must(t, err)
	for range 3 {
		git(t, db.Dir(), "", "repack", "-adfq", "--window=5", "--depth=3")
		for _, r := range []*DB{reader, stale} {
			for _, id := range ids {
				if kind, content, err := r.Read(id); err != nil || object.Sum(kind, content) != id {
					t.Fatalf("%s: %v", id, err)
				}
			}
		}
		git(t, db.Dir(), "", "repack", "-adfq", "--window=0")
	}
	if got := len(reader.PackNames()); got != 1 {
		t.Errorf("%d packs", got)
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	// Enough blobs for several ids with the same four digits.
	var blobs []string
	for i := range 3000 {
		blobs = append(blobs, fmt.Sprint("blob ", i))
	}
	late := db.NewBatch() // which does not see that some of its blobs are in the next one
	var ids []object.ID
	for _, blob := range blobs[1000:] {
		id, err := late.Add(object.Blob, []byte(blob))
		must(t, err)
		ids = append(ids, id)
	}
	ids = append(ids, commit(t, db, blobs[:1500]...)...)
	must(t, late.Commit())
	slices.SortFunc(ids, func(a, b object.ID) int { return bytes.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	var hex []string
	for _, id := range ids {
		hex = append(hex, id.String())
	}
	most := 0
	for i := 0; i < len(ids); i += 5 {
		for _, n := range []int{4, 5, 7, 40} {
			prefix := hex[i][:n]
			var want []object.ID
			for j := range ids {
				if strings.HasPrefix(hex[j], prefix) {
					want = append(want, ids[j])
				}
			}
			got, err := db.Prefix(strings.ToUpper(prefix), 0)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("prefix %s: %v, %v; want %v", prefix, got, err, want)
			}
			got, err = db.Prefix(prefix, 1)
			if err != nil || !slices.Equal(got, want[:1]) {
				t.Fatalf("prefix %s, one only: %v, %v", prefix, got, err)
			}
			most = max(most, len(want))
		}
	}
	if most < 2 {
		t.Error("no prefix was ambiguous")
	}
	if got, err := db.Prefix("0000000000", 0); len(got) != 0 || err != nil {
		t.Errorf("absent prefix: %v, %v", got, err)
	}
	for _, bad := range []string{"", "abc", "abcg", "../..", "0123456789012345678901234567890123456789a", "abcd "} {
		if got, err := db.Prefix(bad, 0); err == nil {
			t.Errorf("prefix %q: %v", bad, got)
		}
	}
}

func TestPrefixOfLooseObjects(t *testing.T) {
	t.Parallel()
	needGit(t)
	db := newStore(t)
	git(t, db.Dir(), "loose", "hash-object", "-w", "--stdin")
	id := commit(t, reopen(t, db), "packed")[0]
	loose := object.Sum(object.Blob, []byte("loose"))
	for _, want := range []object.ID{id, loose} {
		got, err := db.Prefix(want.String()[:9], 0)
		if err != nil || !slices.Equal(got, []object.ID{want}) {
			t.Errorf("%v, %v; want %s", got, err, want)
		}
	}
	// Files that only look like objects are passed over.
	dir := filepath.Dir(db.Loose(loose).Path)
	must(t, os.WriteFile(filepath.Join(dir, loose.String()[2:]+".tmp"), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "tmp_obj_abcdef"), nil, 0o600))
	if got, err := db.Prefix(loose.String()[:4], 0); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// A large object that is being read survives the removal of its pack.
func TestOpenSurvivesTheRemovalOfItsPack(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be removed on this system")
	}
	db := newStore(t)
	content := noise(1, pack.InMemory+100_000)
	id := commit(t, db, string(content))[0]
	_, _, r, err := db.Open(id)
	must(t, err)
	name := db.PackNames()[0]
	must(t, os.Remove(db.path(packDir, name+pack.Ext)))
	must(t, os.Remove(db.path(packDir, name+pack.IndexExt)))
	db.PackNames()
	must(t, db.Close())
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	must(t, r.Close())
	must(t, r.Close())
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
}

// A closed pack is not opened again: its reader looks for the object in other packs.
func TestClosedPack(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	id := commit(t, db, "x")[0]
	wantBlob(t, db, id, "x")
	p := db.packs.Load().packs[0]
	p.Close()
	if _, _, err := p.Find(id); !errors.Is(err, pack.ErrGone) {
		t.Errorf("find: %v", err)
	}
	if _, _, err := db.bases.At(p, pack.HeadSize).Read(); !errors.Is(err, pack.ErrGone) {
		t.Errorf("read: %v", err)
	}
	if p.Has(id) {
		t.Error("has")
	}
}

func TestLooseHead(t *testing.T) {
	t.Parallel()
	for head, size := range map[string]int64{
		"blob 0": 0, "tree 17": 17, "commit 9223372036854775807": 1<<63 - 1, "tag 1": 1,
		"": -1, "blob": -1, "blob ": -1, "blob 01": -1, "blob -1": -1, "blob +1": -1, "blob 1 ": -1, "Blob 1": -1, "blob  1": -1,
		"blob 9223372036854775808": -1, "blobs 1": -1, "blob 0x1": -1, "blob 1_0": -1,
	} {
		_, got, err := parseLooseHead([]byte(head))
		if err == nil && got != size || err != nil && (size >= 0 || !errors.Is(err, pack.ErrCorrupt)) {
			t.Errorf("%q: %d, %v", head, got, err)
		}
	}
}

// A large loose object streams, too.
func TestOpenLargeLoose(t *testing.T) {
	t.Parallel()
	needGit(t)
	db := newStore(t)
	content := string(prose(1, pack.InMemory+100_000))
	git(t, db.Dir(), content, "hash-object", "-w", "--stdin")
	checkObject(t, db, sample{object.Blob, []byte(content)})
	if names := db.PackNames(); len(names) != 0 {
		t.Errorf("packs %q", names)
	}
}
