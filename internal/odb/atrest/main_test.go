package atrest_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/atrest"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
)

// keyPair returns the options of a key of its own.
func keyPair(t testing.TB) atrest.Options {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	odbtest.Must(t, err)
	return atrest.Options{Sealer: sealed.Age{}, Recipients: []string{key.Recipient().String()}, Identity: []byte(key.String() + "\n"), NoSync: true}
}

// filled returns a store with lines, a private file, a loose object that other names have, too, and a file that
// cannot be written to.
func filled(t testing.TB) *odbtest.Lines {
	t.Helper()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/sessions/secret-session", 3)
	odbtest.Must(t, l.WritePrivate(odb.PrivateReviewed, []byte("secret review\n")))
	odbtest.Must(t, os.Chmod(packs(t, l.Dir())[0], 0o400))
	return l
}

func packs(t testing.TB, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no pack in %s: %v", dir, err)
	}
	return list
}

// besideLock are the files that carry the locks of work beside the lock of the store.
var besideLock = []string{"collect", "pushing", "sealing", "inuse"}

// listing is a store without the file that names the last holder of its lock, and without empty files that carry locks.
func listing(t testing.TB, dir string) gittest.Listing {
	t.Helper()
	l := gittest.Manifest(t, dir)
	delete(l, "cairn/lock.holder")
	for _, name := range besideLock {
		delete(l, "cairn/"+name)
	}
	return l
}

// locked runs f with the lock of a store.
func locked(t testing.TB, db *odb.DB, f func() error) error {
	t.Helper()
	unlock, err := db.Lock(t.Context())
	odbtest.Must(t, err)
	defer func() { odbtest.Must(t, unlock()) }()
	return f()
}

func seal(t testing.TB, db *odb.DB, opt atrest.Options) (res *atrest.Result, err error) {
	t.Helper()
	err = locked(t, db, func() error {
		res, err = atrest.Seal(t.Context(), db, opt)
		return err
	})
	return res, err
}

// onSealed calls a function of this package with the lock of a sealed store.
func onSealed(t testing.TB, dir string, opt atrest.Options, call func(context.Context, *odb.DB, atrest.Options) (*atrest.Result, error)) (res *atrest.Result, err error) {
	t.Helper()
	db, err := odb.OpenSealed(dir, odb.Options{NoSync: true})
	odbtest.Must(t, err)
	defer db.Close()
	err = locked(t, db, func() error {
		res, err = call(t.Context(), db, opt)
		return err
	})
	return res, err
}

// wantUnreadable fails if a file below dir has one of some texts in its name or in its contents.
func wantUnreadable(t testing.TB, dir string, texts ...string) {
	t.Helper()
	odbtest.Must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, text := range texts {
			if bytes.Contains(data, []byte(text)) || bytes.Contains([]byte(path[len(dir):]), []byte(text)) {
				t.Errorf("%s shows %q", path, text)
			}
		}
		return err
	}))
}
