package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// onlyReader hides that a reader can seek.
type onlyReader struct{ io.Reader }

func TestAddBlob(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	boom := errors.New("boom")
	for _, size := range []int{0, 1, 1000, pack.StreamAbove, pack.StreamAbove + 1, pack.StreamAbove + 300_000} {
		content := append(noise(uint64(size), size/2), prose(uint64(size), size-size/2)...)
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"seeking": func(r io.Reader) io.Reader { return r },
			"reading": func(r io.Reader) io.Reader { return onlyReader{r} },
		} {
			t.Run(fmt.Sprint(size, name), func(t *testing.T) {
				t.Parallel()
				db := newStore(t)
				b := db.NewBatch()
				defer b.Discard()
				if _, err := b.AddBlob(wrap(bytes.NewReader(content)), int64(size)+1); !errors.Is(err, pack.ErrSize) {
					t.Errorf("too short a reader: %v", err)
				}
				if size > 0 {
					if _, err := b.AddBlob(wrap(bytes.NewReader(content)), int64(size)-1); !errors.Is(err, pack.ErrSize) {
						t.Errorf("too long a reader: %v", err)
					}
				}
				failing := io.MultiReader(bytes.NewReader(content[:size/2]), iotest.ErrReader(boom))
				if _, err := b.AddBlob(failing, int64(size)); !errors.Is(err, boom) {
					t.Errorf("failing reader: %v", err)
				}
				if b.Len() != 0 {
					t.Fatalf("failures left %d objects", b.Len())
				}
				if names, err := readNames(db.path(packDir)); err != nil || len(names) != 0 {
					t.Fatalf("failures left %q, %v", names, err)
				}
				id, err := b.AddBlob(wrap(bytes.NewReader(content)), int64(size))
				if err != nil || id != object.Sum(object.Blob, content) {
					t.Fatalf("%s, %v", id, err)
				}
				if again, err := b.AddBlob(wrap(bytes.NewReader(content)), int64(size)); err != nil || again != id || b.Len() != 1 {
					t.Fatalf("again: %s, %v, len %d", again, err, b.Len())
				}
				_, err = b.Add(object.Blob, []byte("after"))
				must(t, err)
				must(t, b.Commit())
				wantBlob(t, db, id, string(content))
				checkObject(t, db, sample{object.Blob, content})
				fsck(t, db)
			})
		}
	}
	if _, err := newStore(t).NewBatch().AddBlob(strings.NewReader(""), -1); err == nil {
		t.Error("a negative size is accepted")
	}
}

// fickle yields other bytes each time it is read from the beginning.
type fickle struct {
	io.ReadSeeker
	rounds int
	next   []byte
}

func (f *fickle) Seek(off int64, whence int) (int64, error) {
	if whence == io.SeekStart && off == 0 {
		f.rounds++
		f.ReadSeeker = bytes.NewReader(f.next)
	}
	return f.ReadSeeker.Seek(off, whence)
}

// A large file that changes between hashing and storing is stored under the id of the stored
// bytes.
func TestR05LargeBlobThatChanges(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	first, second := noise(1, pack.StreamAbove+5), noise(2, pack.StreamAbove+5)
	f := &fickle{ReadSeeker: bytes.NewReader(first), next: second}
	b := db.NewBatch()
	id, err := b.AddBlob(f, int64(len(first)))
	if err != nil || f.rounds != 1 || id != object.Sum(object.Blob, second) {
		t.Fatalf("%s, %v, %d rounds", id, err, f.rounds)
	}
	must(t, b.Commit())
	wantBlob(t, db, id, string(second))
	// And one that is in the store is not read a second time.
	f = &fickle{ReadSeeker: bytes.NewReader(second), next: first}
	b = db.NewBatch()
	defer b.Discard()
	if again, err := b.AddBlob(f, int64(len(second))); again != id || err != nil || f.rounds != 0 || b.Len() != 0 {
		t.Fatalf("%s, %v, %d rounds, len %d", again, err, f.rounds, b.Len())
	}
}

// A large blob is read from a pipe, though a pipe only seems to seek.
func TestAddBlobFromAPipe(t *testing.T) {
	t.Parallel()
	content := prose(5, pack.StreamAbove+77)
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	go func() {
		w.Write(content)
		w.Close()
	}()
	db := newStore(t)
	b := db.NewBatch()
	id, err := b.AddBlob(r, int64(len(content)))
	must(t, err)
	must(t, b.Commit())
	wantBlob(t, db, id, string(content))
}
