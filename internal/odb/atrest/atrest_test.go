package atrest_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/atrest"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// TestRoundTrip: every byte and every permission comes back, and git finds the store whole.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	l, opt := filled(t), keyPair(t)
	opt.NoSync = false
	dir := l.Dir()
	before := listing(t, dir)
	got, err := seal(t, l.DB, opt)
	odbtest.Must(t, err)
	if info, err := os.Stat(l.PrivatePath(odb.SealedName)); err != nil || info.Size() != got.Sealed || got.Sealed < got.Bytes {
		t.Errorf("sealed %+v: %v, %v", got, info, err)
	}
	back, err := onSealed(t, dir, opt, atrest.Unseal)
	odbtest.Must(t, err)
	if back.Files != got.Files || back.Bytes != got.Bytes {
		t.Errorf("sealed %+v, opened %+v", got, back)
	}
	gittest.AssertEqual(t, "store", before, listing(t, dir))
	l.Check(true)
}

// TestSealedShowsNothing: no name and no content is readable, and nothing is left beside the stream.
func TestSealedShowsNothing(t *testing.T) {
	t.Parallel()
	l, opt := filled(t), keyPair(t)
	id, err := l.Ref("refs/cairn/sessions/secret-session")
	odbtest.Must(t, err)
	_, err = seal(t, l.DB, opt)
	odbtest.Must(t, err)
	wantUnreadable(t, l.Dir(), "secret", "pack-", id.String(), "PACK", odbtest.Root)
	for name, e := range gittest.Manifest(t, l.Dir()) {
		base := filepath.Base(name)
		if e.Type == 'f' && base != odb.SealedName && !slices.Contains(odb.AtRest(), base) {
			t.Errorf("%s is left", name)
		}
	}
}

// TestSealedIsRefused: nothing takes a sealed store for an empty one, neither a new process nor one that had it open.
func TestSealedIsRefused(t *testing.T) {
	t.Parallel()
	l, opt := filled(t), keyPair(t)
	other := odbtest.Reopen(t, l.DB)
	_, err := seal(t, l.DB, opt)
	odbtest.Must(t, err)
	_, errOpen := odb.Open(l.Dir(), odbtest.Root, odb.Options{})
	_, errCreate := odb.Create(l.Dir(), odbtest.Root, odb.Options{})
	_, errLock := other.Lock(t.Context())
	_, errRef := other.Ref("refs/cairn/sessions/secret-session")
	_, errRefs := other.Refs("refs/cairn/")
	_, errRead := other.ReadPrivate(odb.PrivateReviewed)
	for what, err := range map[string]error{
		"open": errOpen, "create": errCreate, "lock": errLock, "ref": errRef, "refs": errRefs, "read a private file": errRead,
		"write one": other.WritePrivate(odb.PrivatePushed, []byte("open")), "note one": other.NotePrivate(odb.PrivateCleaned, []byte("open")),
	} {
		if !errors.Is(err, odb.ErrSealed) {
			t.Errorf("%s: %v, want that the store is sealed", what, err)
		}
	}
	_, err = onSealed(t, l.Dir(), opt, atrest.Unseal)
	odbtest.Must(t, err)
	odbtest.Must(t, locked(t, other, func() error { return nil }))
	l.Check(true)
}

// TestVersionOfASealedStore: a program that knows version 1 alone refuses a sealed store.
func TestVersionOfASealedStore(t *testing.T) {
	t.Parallel()
	l, opt := filled(t), keyPair(t)
	_, err := seal(t, l.DB, opt)
	odbtest.Must(t, err)
	if data, err := os.ReadFile(l.PrivatePath("version")); err != nil || string(data) != "2\n" {
		t.Errorf("version %q, %v", data, err)
	}
	_, err = onSealed(t, l.Dir(), opt, atrest.Unseal)
	odbtest.Must(t, err)
	if data, err := os.ReadFile(l.PrivatePath("version")); err != nil || string(data) != "1\n" {
		t.Errorf("version %q, %v", data, err)
	}
}

// TestSealTriesTheKey: a store is not sealed for recipients whose key the caller does not have, unless it waives that.
func TestSealTriesTheKey(t *testing.T) {
	t.Parallel()
	l, opt, other := filled(t), keyPair(t), keyPair(t)
	before := listing(t, l.Dir())
	lost := opt
	lost.Identity = other.Identity
	if _, err := seal(t, l.DB, lost); !errors.Is(err, settings.ErrKey) {
		t.Errorf("sealed for a key that is not at hand: %v", err)
	}
	gittest.AssertEqual(t, "store", before, listing(t, l.Dir()))
	lost.Untried = true
	if _, err := seal(t, l.DB, lost); err != nil {
		t.Errorf("untried: %v", err)
	}
	if _, err := onSealed(t, l.Dir(), lost, atrest.Unseal); !errors.Is(err, settings.ErrKey) {
		t.Errorf("opened with another key: %v", err)
	}
	if _, err := onSealed(t, l.Dir(), opt, atrest.Unseal); err != nil {
		t.Errorf("opened with the key: %v", err)
	}
	gittest.AssertEqual(t, "store", before, listing(t, l.Dir()))
}

// TestReseal: a sealed store gets other recipients without being open in between.
func TestReseal(t *testing.T) {
	t.Parallel()
	l, old, opt := filled(t), keyPair(t), keyPair(t)
	before := listing(t, l.Dir())
	_, err := seal(t, l.DB, old)
	odbtest.Must(t, err)
	both := opt
	both.Identity = append(slices.Clone(old.Identity), opt.Identity...)
	got, err := onSealed(t, l.Dir(), both, atrest.Reseal)
	odbtest.Must(t, err)
	if _, err := onSealed(t, l.Dir(), old, atrest.Check); !errors.Is(err, settings.ErrKey) {
		t.Errorf("the former key: %v", err)
	}
	if checked, err := onSealed(t, l.Dir(), opt, atrest.Check); err != nil || checked.Files != got.Files {
		t.Errorf("the new key: %+v, %v", checked, err)
	}
	_, err = onSealed(t, l.Dir(), opt, atrest.Unseal)
	odbtest.Must(t, err)
	gittest.AssertEqual(t, "store", before, listing(t, l.Dir()))
}

// TestLentFilesStay: a pack that is a hard link to a file of the user's keeps its bytes, there and in the store.
func TestLentFilesStay(t *testing.T) {
	t.Parallel()
	l, opt := filled(t), keyPair(t)
	pack := packs(t, l.Dir())[0]
	lender := filepath.Join(t.TempDir(), "lent.pack")
	odbtest.Must(t, os.Link(pack, lender))
	want, err := os.ReadFile(lender)
	odbtest.Must(t, err)
	_, err = seal(t, l.DB, opt)
	odbtest.Must(t, err)
	// As after a kill before the open files were removed.
	odbtest.Must(t, os.MkdirAll(filepath.Dir(pack), 0o700))
	odbtest.Must(t, os.Link(lender, pack))
	_, err = onSealed(t, l.Dir(), opt, atrest.Unseal)
	odbtest.Must(t, err)
	if got, err := os.ReadFile(lender); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the lender's file: %d bytes, %v", len(got), err)
	}
	l.Check(true)
}

// TestLinkedStore: a store that is reached through a link, as one that was moved to another disk, goes into the stream
// whole.
func TestLinkedStore(t *testing.T) {
	t.Parallel()
	l, opt := filled(t), keyPair(t)
	odbtest.Must(t, l.Close())
	there := filepath.Join(t.TempDir(), "other disk")
	odbtest.Must(t, os.Rename(l.Dir(), there))
	odbtest.Must(t, os.Symlink(there, l.Dir()))
	before := listing(t, there)
	db, err := odb.Open(l.Dir(), l.Root(), odb.Options{NoSync: true})
	odbtest.Must(t, err)
	defer db.Close()
	if res, err := seal(t, db, opt); err != nil || res.Files == 0 {
		t.Fatalf("sealed %+v, %v", res, err)
	}
	wantUnreadable(t, there, "secret")
	_, err = onSealed(t, l.Dir(), opt, atrest.Unseal)
	odbtest.Must(t, err)
	gittest.AssertEqual(t, "store", before, listing(t, there))
}

// TestNoStoreInTheStream: an archive without a store opens nothing, and the stream stays.
func TestNoStoreInTheStream(t *testing.T) {
	t.Parallel()
	l, opt := filled(t), keyPair(t)
	_, err := seal(t, l.DB, opt)
	odbtest.Must(t, err)
	f, err := os.Create(l.PrivatePath(odb.SealedName))
	odbtest.Must(t, err)
	w, err := sealed.Seal(f, opt.Recipients)
	odbtest.Must(t, err)
	odbtest.Must(t, errors.Join(tar.NewWriter(w).Close(), w.Close(), f.Close()))
	for _, call := range []func(context.Context, *odb.DB, atrest.Options) (*atrest.Result, error){atrest.Check, atrest.Reseal, atrest.Unseal} {
		if res, err := onSealed(t, l.Dir(), opt, call); !errors.Is(err, odb.ErrCorrupt) || !odb.IsSealed(l.Dir()) {
			t.Errorf("%+v, %v, want damage", res, err)
		}
	}
}

// TestWrittenMeanwhile: a file that a process without a lock writes while the store is read is not lost.
func TestWrittenMeanwhile(t *testing.T) {
	t.Parallel()
	l, opt := filled(t), keyPair(t)
	opt.Progress = func(_ string, done, total int, _ int64) {
		if done == total {
			odbtest.Must(t, l.WritePrivate(odb.PrivatePushed, []byte("late\n")))
		}
	}
	if _, err := seal(t, l.DB, opt); !errors.Is(err, odb.ErrLocked) || odb.IsSealed(l.Dir()) {
		t.Errorf("sealed: %v, want ErrLocked", err)
	}
	if data, err := l.ReadPrivate(odb.PrivatePushed); err != nil || string(data) != "late\n" {
		t.Errorf("the file of the other process: %q, %v", data, err)
	}
	l.Check(true)
}

// TestBesideOtherWork: work beside the lock keeps a store from being sealed.
func TestBesideOtherWork(t *testing.T) {
	t.Parallel()
	l, opt := filled(t), keyPair(t)
	for _, name := range besideLock {
		lock := flock.New(l.PrivatePath(name))
		odbtest.Must(t, lock.Lock())
		if _, err := seal(t, l.DB, opt); !errors.Is(err, odb.ErrLocked) || !strings.Contains(err.Error(), name) {
			t.Errorf("sealed beside the lock of %s: %v", name, err)
		}
		odbtest.Must(t, lock.Close())
	}
	_, remove, err := l.TempDir()
	odbtest.Must(t, err)
	if _, err := seal(t, l.DB, opt); !errors.Is(err, odb.ErrLocked) || !strings.Contains(err.Error(), "try again when it has ended") {
		t.Errorf("sealed beside a quarantine: %v", err)
	}
	odbtest.Must(t, remove())
	opt.Progress = func(string, int, int, int64) { wantBusy(t, l.DB) }
	_, err = seal(t, l.DB, opt)
	odbtest.Must(t, err)
}

// wantBusy fails if work beside the lock could begin now.
func wantBusy(t *testing.T, db *odb.DB) {
	t.Helper()
	for _, name := range besideLock {
		lock := flock.New(db.PrivatePath(name), flock.SetFlag(os.O_CREATE|os.O_RDWR))
		if free, err := lock.TryRLock(); free || err != nil {
			t.Errorf("%s is free while the store is sealed: %v", name, err)
		}
		odbtest.Must(t, lock.Close())
	}
}

// TestStrangeFile: a store with a link in it is not sealed.
func TestStrangeFile(t *testing.T) {
	t.Parallel()
	l, opt := filled(t), keyPair(t)
	odbtest.Must(t, os.Symlink("/etc/passwd", filepath.Join(l.Dir(), "refs", "link")))
	if _, err := seal(t, l.DB, opt); !errors.Is(err, odb.ErrCorrupt) {
		t.Errorf("sealed with a link: %v", err)
	}
}

// TestDamagedStream: a stream that was cut off or altered opens nothing and changes nothing.
func TestDamagedStream(t *testing.T) {
	t.Parallel()
	l, opt := filled(t), keyPair(t)
	_, err := seal(t, l.DB, opt)
	odbtest.Must(t, err)
	path := l.PrivatePath(odb.SealedName)
	whole, err := os.ReadFile(path)
	odbtest.Must(t, err)
	flipped := slices.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for what, data := range map[string][]byte{"cut": whole[:len(whole)-1], "half": whole[:len(whole)/2], "empty": nil, "flipped": flipped} {
		odbtest.Must(t, os.WriteFile(path, data, 0o600))
		before := listing(t, l.Dir())
		if _, err := onSealed(t, l.Dir(), opt, atrest.Unseal); !errors.Is(err, settings.ErrDamaged) {
			t.Errorf("%s: %v, want damage", what, err)
		}
		gittest.AssertEqual(t, what, before, listing(t, l.Dir()))
	}
	odbtest.Must(t, os.WriteFile(path, whole, 0o600))
	_, err = onSealed(t, l.Dir(), opt, atrest.Unseal)
	odbtest.Must(t, err)
	l.Check(true)
}

// TestHostileArchive: who knows a recipient can write a stream that opens, and gets nothing out of the store by it.
func TestHostileArchive(t *testing.T) {
	t.Parallel()
	for _, head := range []tar.Header{
		{Name: "../out", Typeflag: tar.TypeReg}, {Name: "/out", Typeflag: tar.TypeReg}, {Name: "objects/../../out", Typeflag: tar.TypeReg},
		{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/"}, {Name: "link", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"},
		{Name: "cairn/" + odb.SealedName, Typeflag: tar.TypeReg}, {Name: "cairn/lock", Typeflag: tar.TypeReg}, {Name: ".", Typeflag: tar.TypeDir},
		{Name: "pipe", Typeflag: tar.TypeFifo}, {Name: "cairn", Typeflag: tar.TypeReg},
		{Name: "cairn/tmp_x/../lock", Typeflag: tar.TypeReg}, {Name: "objects", Typeflag: tar.TypeReg},
	} {
		l, opt := filled(t), keyPair(t)
		_, err := seal(t, l.DB, opt)
		odbtest.Must(t, err)
		forge(t, l.PrivatePath(odb.SealedName), opt, head)
		before := gittest.Manifest(t, filepath.Dir(l.Dir()))
		if _, err := onSealed(t, l.Dir(), opt, atrest.Unseal); err == nil {
			t.Errorf("%s of kind %c was accepted", head.Name, head.Typeflag)
		}
		after := gittest.Manifest(t, filepath.Dir(l.Dir()))
		after["store/cairn/lock.holder"] = before["store/cairn/lock.holder"]
		gittest.AssertEqual(t, head.Name, before, after)
	}
}

// forge replaces a sealed store by an archive of a store with one more entry.
func forge(t *testing.T, path string, opt atrest.Options, head tar.Header) {
	t.Helper()
	f, err := os.Create(path)
	odbtest.Must(t, err)
	defer f.Close()
	w, err := sealed.Seal(f, opt.Recipients)
	odbtest.Must(t, err)
	archive := tar.NewWriter(w)
	for _, h := range []tar.Header{{Name: "objects", Typeflag: tar.TypeDir}, {Name: "refs", Typeflag: tar.TypeDir}, head} {
		odbtest.Must(t, archive.WriteHeader(&h))
	}
	odbtest.Must(t, errors.Join(archive.Close(), w.Close()))
}

// TestInterrupted: a canceled call leaves the store as it was.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	l, opt := filled(t), keyPair(t)
	before := listing(t, l.Dir())
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	err := locked(t, l.DB, func() error {
		_, err := atrest.Seal(canceled, l.DB, opt)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("sealed: %v", err)
	}
	gittest.AssertEqual(t, "store", before, listing(t, l.Dir()))
	_, err = seal(t, l.DB, opt)
	odbtest.Must(t, err)
	before = listing(t, l.Dir())
	_, err = onSealed(t, l.Dir(), opt, func(_ context.Context, db *odb.DB, opt atrest.Options) (*atrest.Result, error) {
		return atrest.Unseal(canceled, db, opt)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("unsealed: %v", err)
	}
	gittest.AssertEqual(t, "sealed store", before, listing(t, l.Dir()))
}

// otherSealer changes a byte of what it seals, as broken memory would.
type otherSealer struct{ sealed.Age }

func (s otherSealer) Seal(w io.Writer, recipients []string) (io.WriteCloser, error) {
	out, err := s.Age.Seal(w, recipients)
	return &flipping{WriteCloser: out}, err
}

type flipping struct {
	io.WriteCloser
	done bool
}

func (f *flipping) Write(p []byte) (int, error) {
	if !f.done && len(p) > 1000 {
		f.done = true
		p = slices.Clone(p)
		p[999] ^= 1
	}
	return f.WriteCloser.Write(p)
}

// TestOtherBytes: the open files stay where other bytes come back.
func TestOtherBytes(t *testing.T) {
	t.Parallel()
	l, opt := filled(t), keyPair(t)
	opt.Sealer = otherSealer{}
	before := listing(t, l.Dir())
	if _, err := seal(t, l.DB, opt); err == nil || !strings.Contains(err.Error(), "other bytes") {
		t.Errorf("sealed: %v", err)
	}
	gittest.AssertEqual(t, "store", before, listing(t, l.Dir()))
}
