package scan

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/ignore"
)

// TestRandomEditsOfSealedDirectories: whatever is edited between two scans, going by
// seals finds what listing finds.
func TestRandomEditsOfSealedDirectories(t *testing.T) {
	t.Parallel()
	seeds := 40
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(6, uint64(seed)))
			s := newSealed(t)
			gittest.Create(t, s.root, gittest.RandomTree(rng, gittest.RandomOptions{}))
			s.scan.MaxFileSize = 1000
			s.scan.Include = ignore.Parse([]byte("*.c\n"), false)
			s.scan.Workers = 1 + rng.IntN(4)
			s.calm()
			for range 12 {
				gittest.Mutate(t, rng, s.root, rng.IntN(6))
				if rng.IntN(4) == 0 {
					s.setTimesBack(rng)
				}
				s.same()
				if t.Failed() {
					return
				}
			}
		})
	}
}

// setTimesBack gives some directory the time of modification that its old seal has.
func (s *sealed) setTimesBack(rng *rand.Rand) {
	for path, d := range s.index.Dirs {
		if info, err := os.Lstat(filepath.Join(s.root, path)); err != nil || !info.IsDir() || rng.IntN(3) > 0 {
			continue
		}
		at := unix.NsecToTimespec(d.Seal.MTime)
		s.do(unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(s.root, path), []unix.Timespec{at, at}, 0))
	}
}

// TestExchangedNames: two names may be exchanged at once, with which neither comes nor
// goes.
func TestExchangedNames(t *testing.T) {
	t.Parallel()
	s := newSealed(t, "d/a", "d/b/c", "d/b/x.o", "d/e/c", "d/e/y.o", "d/x.o", "d/y.a/f", ".gitignore")
	s.write(".gitignore", "*.o\n*.a\n")
	s.settled()
	for _, pair := range [][2]string{{"d/a", "d/b"}, {"d/b", "d/e"}, {"d/a", "d/x.o"}, {"d/x.o", "d/y.a"}, {"d/e", "d/y.a"}, {"d", ".gitignore"}, {"d", ".gitignore"}} {
		err := unix.Renameat2(unix.AT_FDCWD, s.path(pair[0]), unix.AT_FDCWD, s.path(pair[1]), unix.RENAME_EXCHANGE)
		if err != nil {
			t.Skipf("names cannot be exchanged here: %v", err)
		}
		s.same()
		s.calm()
	}
}

// TestMountsOverSealedDirectories: a mount changes no time of the directory that it
// covers, nor of the one above.
func TestMountsOverSealedDirectories(t *testing.T) {
	if !gittest.Isolated(t) {
		return
	}
	s := newSealed(t, "d/a", "d/e/c", "other/a", "other/e/c", "other/e/more").settled()
	s.do(unix.Mount(s.path("other"), s.path("d"), "", unix.MS_BIND|unix.MS_REC, ""))
	t.Cleanup(func() { unix.Unmount(s.path("d"), unix.MNT_DETACH) })
	s.same()
	s.has("d/a", "d/e/c", "d/e/more", "other/a", "other/e/c", "other/e/more")
	s.do(unix.Unmount(s.path("d"), unix.MNT_DETACH))
	s.same()
	s.has("d/a", "d/e/c", "other/a", "other/e/c", "other/e/more")
	s.settled()
	s.do(unix.Mount("cairn-test", s.path("d/e"), "tmpfs", 0, ""))
	t.Cleanup(func() { unix.Unmount(s.path("d/e"), unix.MNT_DETACH) })
	s.write("d/e/in it", "x")
	s.same()
	if n := s.calm(); n != 1 {
		t.Errorf("%d directories were listed: what is mounted is no device of the root's", n)
	}
	s.has("d/a", "d/e/in it", "other/a", "other/e/c", "other/e/more")
	s.do(unix.Unmount(s.path("d/e"), unix.MNT_DETACH))
	s.same()
	s.has("d/a", "d/e/c", "other/a", "other/e/c", "other/e/more")
}

// TestRulesThatChangeWhileTheyCount: names were matched against rules that changed
// before they were captured, so the next scan has to match them against the new ones.
func TestRulesThatChangeWhileTheyCount(t *testing.T) {
	t.Parallel()
	s := newSealed(t, "d/x.o")
	s.write("d/.gitignore", "*.o\n")
	s.tick()
	s.sink.before = func(content []byte) {
		if string(content) == "*.o\n" { // it is read, and then found changed: read once more
			s.sink.before = nil
			s.write("d/.gitignore", "*.a\n")
			s.wait(2 * racySlack) // so that files read now are not racy
		}
	}
	s.ground = s.run(s.index, "").Ground
	s.has("d/.gitignore")
	s.calm()
	s.has("d/.gitignore", "d/x.o")
}
