package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

func transferStore(t *testing.T) *DB {
	t.Helper()
	dir := t.TempDir()
	db, err := Create(filepath.Join(dir, "store"), filepath.Join(dir, "root"), Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func encodePack(t *testing.T, db *DB, order []object.ID) []byte {
	t.Helper()
	var b bytes.Buffer
	e, err := db.EncodePack(&b, len(order))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range order {
		if err := e.Copy(object.Blob, id); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An encoded pack is one for git, and comes back unchanged, with blobs on both sides of every
// size limit.
func TestEncodedPackIsReceived(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	from := transferStore(t)
	r := rand.New(rand.NewPCG(3, 4))
	contents := make(map[object.ID]string)
	var order []object.ID
	b := from.NewBatch()
	for _, size := range []int{0, 1, 15, 16, 2047, 2048, 1 << 16, pack.InMemory, pack.InMemory + 1, pack.StreamAbove, pack.StreamAbove + 1} {
		noise := make([]byte, size)
		for i := range noise {
			noise[i] = byte(r.Uint32())
		}
		for _, content := range []string{string(noise), strings.Repeat("a", size)} {
			id, err := b.AddBlob(strings.NewReader(content), int64(size))
			if err != nil {
				t.Fatal(err)
			}
			if _, twice := contents[id]; !twice {
				contents[id], order = content, append(order, id)
			}
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	packFile := encodePack(t, from, order)

	to := transferStore(t)
	in, err := to.ReceivePack(t.Context(), bytes.NewReader(packFile))
	if err != nil {
		t.Fatal(err)
	}
	if in.Len() != len(order) {
		t.Errorf("%d objects, want %d", in.Len(), len(order))
	}
	for _, id := range order {
		if ok, err := to.Has(id); ok || err != nil {
			t.Errorf("%s is in the store too early: %v, %v", id, ok, err)
		}
	}
	b = to.NewBatch()
	if err := errors.Join(in.AddTo(t.Context(), b), b.Commit(), in.Close(), in.Close()); err != nil {
		t.Fatal(err)
	}
	for id, want := range contents {
		if _, got, err := to.Read(id); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, %v, want %d", id, len(got), err, len(want))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(to.Dir(), packDir, pack.TempPrefix+"*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	o := gittest.NewOracle(t)
	dir := filepath.Join(t.TempDir(), "r.git")
	o.In(filepath.Dir(dir), "init", "-q", "--bare", dir)
	o.Feed(dir, string(packFile), "index-pack", "--strict", "--stdin")
	o.In(to.Dir(), "fsck", "--strict")
}

func TestPackEncoderMisused(t *testing.T) {
	t.Parallel()
	db := transferStore(t)
	e, err := db.EncodePack(io.Discard, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err == nil {
		t.Error("a pack that lacks an object is closed")
	}
	if err := e.Copy(object.Blob, object.ID{1}); !errors.Is(err, ErrNotFound) {
		t.Errorf("copy of nothing: %v", err)
	}
	if err := errors.Join(e.Add(object.Blob, nil), e.Close()); err != nil {
		t.Error(err)
	}
	if err := e.Add(object.Blob, nil); err == nil {
		t.Error("more objects than announced")
	}
	if _, err := db.EncodePack(io.Discard, -1); err == nil {
		t.Error("a negative number of objects")
	}
}

// Long chains of deltas, as fast-import writes them, are followed.
func TestIncomingDeltas(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := filepath.Join(t.TempDir(), "r.git")
	o.In(filepath.Dir(dir), "init", "-q", "--bare", dir)
	var script strings.Builder // versions that grow, so that each is a delta of another
	text := strings.Repeat("line\n", 300)
	for i := range 300 {
		text += fmt.Sprintf("version %d\n", i)
		fmt.Fprintf(&script, "blob\nmark :%d\ndata %d\n%s\n", i+1, len(text), text)
	}
	o.Feed(dir, script.String(), "fast-import", "--quiet", "--depth=250")
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	data, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	db := transferStore(t)
	in, err := db.ReceivePack(t.Context(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	deltas := 0
	for line := range strings.Lines(o.In(dir, "verify-pack", "-v", packs[0])) {
		if len(strings.Fields(line)) == 7 { // with the length of its chain and its base
			deltas++
		}
	}
	if deltas < 200 || in.Len() != 300 {
		t.Errorf("%d deltas among %d objects", deltas, in.Len())
	}
	b := db.NewBatch()
	if err := errors.Join(in.AddTo(t.Context(), b), b.Commit(), in.Close()); err != nil {
		t.Fatal(err)
	}
	if _, got, err := db.Read(object.Sum(object.Blob, []byte(text))); err != nil || string(got) != text {
		t.Errorf("the last version: %d bytes, %v", len(got), err)
	}
}

// The quarantine of a dead process is swept, and that of a running one stays.
func TestQuarantineSwept(t *testing.T) {
	t.Parallel()
	db := transferStore(t)
	q, err := db.Quarantine()
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Sweep(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(q.Dir()); err != nil {
		t.Fatalf("a living one was swept: %v", err)
	}
	// As if the process had died. A program that another test is about to start has the claim,
	// too, until it has started.
	syscall.ForkLock.RLock()
	q.claim.Close()
	syscall.ForkLock.RUnlock()
	if err := db.Sweep(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(q.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a dead one is still there: %v", err)
	}
	if _, err := os.Stat(q.claim.Name()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its claim is still there: %v", err)
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	db, other := transferStore(t), transferStore(t)
	if _, err := db.Identity(false); !errors.Is(err, ErrNotFound) {
		t.Errorf("before it is drawn: %v", err)
	}
	id, err := db.Identity(true)
	if err != nil || len(id) != 16 {
		t.Fatalf("%q, %v", id, err)
	}
	for _, draw := range []bool{false, true} {
		if again, err := db.Identity(draw); err != nil || again != id {
			t.Errorf("then %q, %v", again, err)
		}
	}
	if its, err := other.Identity(true); err != nil || its == id {
		t.Errorf("another store has %q, %v", its, err)
	}
}
