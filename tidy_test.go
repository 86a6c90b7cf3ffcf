package cairn_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// deadTemporary is a file that a killed writer left.
func (f *fixture) deadTemporary() (path string) {
	f.Helper()
	path = filepath.Join(cairn.StorePath(f.data, mustEval(f.T, f.root)), "objects", "pack", "tmp_cairn_dead")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		f.Fatal(err)
	}
	return path
}

// TestTidy: the next track of a Repo that stays open finds the files of killed
// processes, if another process had the lock, or something has failed, or some time has
// gone by.
func TestTidy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meanwhile func(f *fixture, r *cairn.Repo)
		found     bool
	}{
		"nobody": {func(*fixture, *cairn.Repo) {}, false},
		"some time": {func(f *fixture, r *cairn.Repo) {
			if err := r.LongAgo(); err != nil {
				f.Fatal(err)
			}
		}, true},
		"another command": {func(f *fixture, _ *cairn.Repo) { f.repo().Pin(f.Context(), "@", "p") }, true},
		"a lock": {func(f *fixture, r *cairn.Repo) {
			db, err := odb.Open(r.StoreDir(), "", odb.Options{})
			if err != nil {
				f.Fatal(err)
			}
			defer db.Close()
			unlock, err := db.Lock(f.Context())
			if err != nil {
				f.Fatal(err)
			}
			unlock()
		}, true},
		"a journal": {func(f *fixture, r *cairn.Repo) {
			log, err := r.Lookup(f.Context(), "@~1")
			if err == nil {
				_, err = r.Restore(f.Context(), log.ID, cairn.RestoreOptions{})
			}
			if err != nil {
				f.Fatal(err)
			}
		}, true},
		"a failure": {func(f *fixture, r *cairn.Repo) {
			ctx, cancel := context.WithCancel(f.Context())
			cancel()
			f.write("a", "not captured")
			if _, err := r.Track(ctx, cairn.TrackOptions{}); err == nil {
				f.Error("no failure")
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
			r := f.repo()
			for _, text := range []string{"one", "two"} {
				f.write("a", text)
				if _, err := r.Track(t.Context(), cairn.TrackOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			test.meanwhile(f, r)
			dead := f.deadTemporary()
			f.write("a", "three")
			if _, err := r.Track(t.Context(), cairn.TrackOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(dead); os.IsNotExist(err) != test.found {
				t.Errorf("%v", err)
			}
		})
	}
}
