package odb

import (
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// TestDisturbances: a DB knows whether another DB or process has had the lock since it had it.
func TestDisturbances(t *testing.T) {
	t.Parallel()
	take := func(db *DB) (undisturbed bool) {
		t.Helper()
		before := db.disturbances
		unlock, err := db.Lock(t.Context())
		must(t, err)
		defer unlock()
		return db.Disturbances() == before
	}
	db := newStore(t)
	if take(db) {
		t.Error("at first")
	}
	for range 3 {
		if !take(db) {
			t.Fatal("disturbed by no process")
		}
	}
	for name, disturb := range map[string]func(){
		"another had the lock":             func() { take(reopen(t, db)) },
		"a process was killed with it":     func() { startChild(t, "lock", db.Dir()).kill() },
		"a process had it and has ended":   func() { must(t, startChild(t, "lock", db.Dir()).end()) },
		"the record is gone":               func() { must(t, os.Remove(db.path(holderFile))) },
		"the record is empty":              func() { must(t, os.Truncate(db.path(holderFile), 0)) },
		"the record is cut off":            func() { must(t, os.Truncate(db.path(holderFile), int64(len(freeMark)+8))) },
		"the record is that of an earlier": func() { must(t, os.WriteFile(db.path(holderFile), []byte(freeMark+newNonce()+"\n"), 0o600)) },
		"blank, as older versions left it": func() { must(t, os.WriteFile(db.path(holderFile), []byte("                              \n"), 0o600)) },
	} {
		disturb()
		if take(db) {
			t.Errorf("%s: no other has had the lock", name)
		}
		if !take(db) {
			t.Errorf("%s: disturbed for good", name)
		}
	}
}

// TestLooseDirectoriesThatCome: loose objects of a git that writes into the store are noticed.
func TestLooseDirectoriesThatCome(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	for i, content := range []string{"one", "two", "three"} {
		id := object.Sum(object.Blob, []byte(content))
		if db.looseDirs()[id[0]] {
			t.Fatalf("%s is there already", content)
		}
		dir := db.path("objects", id.String()[:2])
		must(t, os.Mkdir(dir, 0o700))
		old := must1(os.Stat(db.path("objects"))).ModTime()
		must(t, os.Chtimes(db.path("objects"), old, old.AddDate(0, 0, i+1))) // a clock that ticks
		if !db.looseDirs()[id[0]] {
			t.Errorf("%s was missed", content)
		}
		must(t, os.Remove(dir))
		must(t, os.Chtimes(db.path("objects"), old, old.AddDate(0, 1, i+1)))
		if db.looseDirs()[id[0]] {
			t.Errorf("%s is gone", content)
		}
	}
}
