package cairn_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// What a restore has written is taken on trust by the next track where the file system
// stamps each change with a time of its own, so that a change of the same length, within
// the same tick, must show. A track that reads everything is the oracle.

// writeOver changes a file in place without changing its length.
func writeOver(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Error(err)
	}
}

// versions makes two states of as many files, all of one length.
func versions(f *fixture, files int) (names []string, states [2]string) {
	for i := range files {
		names = append(names, fmt.Sprintf("dir%d/file%d", i%3, i))
	}
	for v := range states {
		for _, name := range names {
			f.write(name, fmt.Sprintf("version %d of %-12s", v, name))
		}
		states[v] = f.trackAll()
	}
	return names, states
}

// sameAsRead compares a track with one that reads everything.
func (f *fixture) sameAsRead(r *cairn.Repo, when string) {
	f.Helper()
	var hashes [2]string
	for i, verify := range []bool{false, true} {
		tr, err := r.Track(background, cairn.TrackOptions{Verify: verify})
		if err != nil {
			f.Fatal(err)
		}
		hashes[i] = tr.Hash
	}
	if hashes[0] != hashes[1] {
		f.Errorf("%s: track %s, read anew %s", when, hashes[0], hashes[1])
	}
}

func TestR23_WrittenAgainRightAfterARestore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{})
	names, states := versions(f, 12)
	f.restoresBefore(states, func(round int) {
		for i := round % 4; i < len(names); i += 4 {
			writeOver(t, f.path(names[i]), fmt.Sprintf("VERSION %d", round%10))
		}
	})
}

// restoresBefore goes back and forth, and does something after each.
func (f *fixture) restoresBefore(states [2]string, do func(round int)) {
	f.Helper()
	r := f.repo()
	for round := range gittest.Rounds(60) {
		if _, err := r.Restore(background, states[round%2], cairn.RestoreOptions{}); err != nil {
			f.Fatal(err)
		}
		do(round)
		f.sameAsRead(r, fmt.Sprintf("round %d", round))
	}
}

func TestR23_WrittenDuringARestore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{})
	names, states := versions(f, 12)
	f.restoresBeside(states, func(n int) {
		writeOver(t, f.path(names[n%len(names)]), strings.Repeat(fmt.Sprint(n%10), 9))
	})
}

// restoresBeside goes back and forth while something is done over and over.
func (f *fixture) restoresBeside(states [2]string, do func(n int)) {
	f.Helper()
	r := f.repo()
	for round := range gittest.Rounds(30) {
		stop := churn(f.T, do)
		_, err := r.Restore(background, states[round%2], cairn.RestoreOptions{}) // may leave what changed meanwhile
		stop()
		if err != nil {
			f.Log(err)
		}
		f.sameAsRead(r, fmt.Sprintf("round %d", round))
	}
}

// The directories that a restore has changed are not listed again for the same reason, so
// that names which come and go right after it, or meanwhile, must show.

func TestR23_NamesRightAfterARestore(t *testing.T) {
	t.Parallel()
	namesRightAfterARestore(t, t.TempDir())
}

// TestR23_NamesRightAfterARestoreInMemory: there, directories are not stamped as finely as
// files, see atomicfile.StampsFinely.
func TestR23_NamesRightAfterARestoreInMemory(t *testing.T) {
	t.Parallel()
	namesRightAfterARestore(t, gittest.SmallDisk(t, 64<<20))
}

func namesRightAfterARestore(t *testing.T, dir string) {
	f := newFixtureIn(t, dir, gittest.Tree{".gitignore": gittest.File("*.log\n"), "dir1/x.log": gittest.File("ignored")})
	names, states := versions(f, 12)
	changes := []func(path string, round int) error{
		func(path string, round int) error { return os.Remove(path) },
		func(path string, round int) error { return os.Link(path, fmt.Sprintf("%s linked %d", path, round)) },
		func(path string, round int) error { return os.Rename(path, path+" moved") },
		func(path string, round int) error {
			return os.WriteFile(fmt.Sprintf("%s new %d", path, round), nil, 0o600)
		},
	}
	f.restoresBefore(states, func(round int) {
		for dir := range 3 { // one change each: two would show by each other
			path := f.path(names[(3*round+dir)%len(names)])
			if err := changes[(round+dir)%len(changes)](path, round); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestR23_NamesDuringARestore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("*.log\n"), "dir1/x.log": gittest.File("ignored")})
	_, states := versions(f, 12)
	f.restoresBeside(states, func(n int) {
		path := f.path(fmt.Sprintf("dir%d/extra%d", n%3, n%5))
		if os.Remove(path) != nil {
			os.WriteFile(path, nil, 0o600)
		}
	})
}
