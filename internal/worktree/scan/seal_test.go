package scan

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// sealed is a directory that is scanned again and again. Every scan goes by seals, and
// is compared with one that does not.
type sealed struct {
	t      *testing.T
	root   string
	scan   Walk // what the next scans have in common
	index  *index.Index
	sink   *memorySink
	ground string
}

// newSealed makes the files, with their names as contents, and has them scanned until
// all directories are sealed.
func newSealed(t *testing.T, files ...string) *sealed {
	t.Helper()
	s := &sealed{t: t, root: stampedDir(t), index: index.New(), sink: &memorySink{}}
	s.scan = Walk{Rules: ignore.NewChain(), Conditions: "the same"}
	for _, name := range files {
		s.write(name, name)
	}
	return s
}

// settled scans until every directory is sealed.
func (s *sealed) settled() *sealed {
	s.t.Helper()
	if n := s.calm(); n != 0 {
		s.t.Fatalf("%d directories were listed again", n)
	}
	return s
}

// calm scans until no file is racy any more, and returns how many directories have to
// be listed even so. A racy .gitignore may have changed.
func (s *sealed) calm() (listed int) {
	s.t.Helper()
	s.same()
	for end := time.Now().Add(2 * racySlack); ; {
		late := time.Now().After(end)
		if listed = s.same(); listed == 0 {
			return 0
		}
		if late { // no file was racy, but that scan may have been the first to see so
			return s.same()
		}
	}
}

// stampedDir is a directory that can be sealed.
func stampedDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if canSeal(t, dir) {
		return dir
	}
	dir, err := os.MkdirTemp("/dev/shm", "cairn-test-")
	if err != nil {
		t.Skipf("no file system here is known to keep the times of directories: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if !canSeal(t, dir) {
		t.Skip("no file system here is known to keep the times of directories")
	}
	return dir
}

func canSeal(t *testing.T, folder string) bool {
	h, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	return h.StampsNames()
}

func (s *sealed) path(name string) string { return filepath.Join(s.root, name) }

func (s *sealed) write(name, content string) {
	s.t.Helper()
	writeFile(s.t, s.path(name), content)
}

func (s *sealed) do(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// tick waits until whatever changes next gets a later time than all before.
func (s *sealed) tick() { s.t.Helper(); s.wait(1) }

// wait waits until the clock that stamps files has gone on. It ticks every 1 to 10 ms.
func (s *sealed) wait(d time.Duration) {
	s.t.Helper()
	probe := filepath.Join(s.t.TempDir(), "probe")
	stamp := func() time.Time {
		s.do(os.WriteFile(probe, nil, 0o600))
		s.do(os.Remove(probe))
		info, err := os.Stat(filepath.Dir(probe))
		s.do(err)
		return info.ModTime()
	}
	for first, end := stamp(), time.Now().Add(time.Minute); stamp().Before(first.Add(d)); {
		if time.Now().After(end) {
			s.t.Fatal("the clock stands still")
		}
	}
}

// run scans into x; what changed last counts as long ago.
func (s *sealed) run(x *index.Index, ground string) *Result {
	s.t.Helper()
	scan := s.scan
	scan.Root, scan.Index, scan.Sink, scan.Ground = s.root, x, s.sink, ground
	scan.began = time.Now().Add(time.Hour)
	return runScan(s.t, &scan)
}

// same scans by seals and without, and fails unless both find the same. It returns how
// many directories were listed.
func (s *sealed) same() int {
	s.t.Helper()
	s.tick()
	plain := s.index.Clone()
	want := s.run(plain, "")
	got := s.run(s.index, s.ground)
	s.tick()
	if got.Tree != want.Tree || got.Files != want.Files || got.Differs != want.Differs || got.Dropped != want.Dropped {
		s.t.Errorf("by seals %+v, without %+v", got, want)
	}
	if !reflect.DeepEqual(got.Skipped, want.Skipped) {
		s.t.Errorf("skipped by seals %+v, without %+v", got.Skipped, want.Skipped)
	}
	for _, path := range slices.Sorted(maps.Keys(plain.Dirs)) {
		if d := s.index.Dirs[path]; d == nil || d.Tree != plain.Dirs[path].Tree || !slices.Equal(entriesOf(d), entriesOf(plain.Dirs[path])) {
			s.t.Errorf("the block of %q differs", path)
		}
	}
	if len(s.index.Dirs) != len(plain.Dirs) {
		s.t.Errorf("%d blocks by seals, %d without", len(s.index.Dirs), len(plain.Dirs))
	}
	s.ground = got.Ground
	return got.Listed
}

// entriesOf is a block without what depends on when a file was read.
func entriesOf(d *index.Dir) (list []index.Entry) {
	for rec := range d.All {
		e := rec.Entry()
		e.Racy = false
		list = append(list, e)
	}
	return list
}

// has fails unless exactly these files are captured.
func (s *sealed) has(want ...string) {
	s.t.Helper()
	var got []string
	for dir, d := range s.index.Dirs {
		for rec := range d.All {
			if isFile(rec) {
				got = append(got, index.Join(dir, string(rec.Name())))
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.t.Errorf("captured %q, want %q", got, want)
	}
}

// TestSealedDirectoriesAreNotListed: the whole point.
func TestSealedDirectoriesAreNotListed(t *testing.T) {
	t.Parallel()
	s := newSealed(t, "a", "d/b", "d/e/c", "ignored/x", ".gitignore", "d/x.o", ".git/config", "d/sub/.git", "d/sub/f")
	s.write(".gitignore", "*.o\n/ignored\n")
	s.settled()
	s.write("a", "changed")
	s.write("d/e/c", "changed")
	if n := s.same(); n != 0 {
		t.Errorf("changed contents: %d directories were listed", n)
	}
	s.write("d/e/new", "new")
	if n := s.same(); n != 1 {
		t.Errorf("a new file: %d directories were listed", n)
	}
	s.write("ignored/y", "new")
	s.write(".git/new", "new")
	if n := s.same(); n != 0 {
		t.Errorf("new files where nobody looks: %d directories were listed", n)
	}
	s.has("a", "d/b", "d/e/c", "d/e/new", ".gitignore", "d/sub/f")
}

// TestFreshDirectoriesAreNotSealed: what changed just now could change once more
// without new times.
func TestFreshDirectoriesAreNotSealed(t *testing.T) {
	t.Parallel()
	s := newSealed(t, "d/a")
	s.scan.Root, s.scan.Index, s.scan.Sink = s.root, s.index, s.sink
	for _, ahead := range []time.Duration{0, racySlack / 2} {
		info, err := os.Stat(s.path("d"))
		s.do(err)
		s.scan.began = info.ModTime().Add(ahead)
		s.ground = runScan(t, &s.scan).Ground
		for path, d := range s.index.Dirs {
			if d.Seal != (index.Seal{}) {
				t.Errorf("%q is sealed %v after its last change", path, ahead)
			}
		}
	}
	s.write("d/b", "in the same tick")
	s.same()
	s.has("d/a", "d/b")
}

// TestSealsHoldForTheirGround: other conditions, or a scan that looked at a part, mean
// listing.
func TestSealsHoldForTheirGround(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*Walk){
		"other conditions":  func(s *Walk) { s.Conditions = "others" },
		"no conditions":     func(s *Walk) { s.Conditions = "" },
		"verify":            func(s *Walk) { s.Verify = true },
		"forget":            func(s *Walk) { s.Forget = map[string]bool{"none": true} },
		"another deny list": func(s *Walk) { s.NeverIsNew = true },
		"all in scope":      func(s *Walk) { s.Scope = map[string]bool{"": true, "d": true, "d/e": true} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSealed(t, "a", "d/b", "d/e/c").settled()
			edit(&s.scan)
			if n := s.same(); n != 3 {
				t.Errorf("%d directories were listed, want 3", n)
			}
		})
	}
	s := newSealed(t, "a", "d/b").settled()
	s.scan.Conditions, s.scan.Scope = "others", map[string]bool{"": true}
	if res := s.run(s.index, s.ground); res.Ground != "" {
		t.Error("a scan of a part speaks for the rest")
	}
}

// TestEditsOfSealedDirectories edits directories that are sealed, and has the result
// compared with that of listing them.
func TestEditsOfSealedDirectories(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before func(*sealed)
		edit   func(*sealed)
		want   string // what is captured in the end
	}{
		"create":        {nil, func(s *sealed) { s.write("d/new", "") }, "d/e/c d/b d/new"},
		"delete":        {nil, func(s *sealed) { s.do(os.Remove(s.path("d/b"))) }, "d/e/c"},
		"delete last":   {nil, func(s *sealed) { s.do(os.Remove(s.path("d/e/c"))) }, "d/b"},
		"rename":        {nil, func(s *sealed) { s.do(os.Rename(s.path("d/b"), s.path("d/z"))) }, "d/e/c d/z"},
		"rename over":   {nil, func(s *sealed) { s.write("x", "x"); s.do(os.Rename(s.path("x"), s.path("d/b"))) }, "d/e/c d/b"},
		"move up":       {nil, func(s *sealed) { s.do(os.Rename(s.path("d/e"), s.path("e"))) }, "e/c d/b"},
		"remove tree":   {nil, func(s *sealed) { s.do(os.RemoveAll(s.path("d/e"))) }, "d/b"},
		"file to dir":   {nil, func(s *sealed) { s.do(os.Remove(s.path("d/b"))); s.write("d/b/x", "") }, "d/e/c d/b/x"},
		"dir to file":   {nil, func(s *sealed) { s.do(os.RemoveAll(s.path("d/e"))); s.write("d/e", "") }, "d/b d/e"},
		"file to link":  {nil, func(s *sealed) { s.do(os.Remove(s.path("d/b"))); s.do(os.Symlink("e", s.path("d/b"))) }, "d/e/c d/b"},
		"dir to link":   {nil, func(s *sealed) { s.do(os.RemoveAll(s.path("d/e"))); s.do(os.Symlink("..", s.path("d/e"))) }, "d/b d/e"},
		"permissions":   {nil, func(s *sealed) { s.do(os.Chmod(s.path("d/e"), 0o700)) }, "d/e/c d/b"},
		"nothing":       {nil, func(*sealed) {}, "d/e/c d/b"},
		"made, removed": {nil, func(s *sealed) { s.write("d/x", ""); s.do(os.Remove(s.path("d/x"))) }, "d/e/c d/b"},
		"times set back": {nil, func(s *sealed) {
			info, err := os.Stat(s.path("d"))
			s.do(err)
			s.write("d/new", "")
			s.do(os.Chtimes(s.path("d"), info.ModTime(), info.ModTime()))
		}, "d/e/c d/b d/new"},
		"another of the same names": {
			func(s *sealed) {
				s.write("other/b", "other")
				s.write("other/e/c", "other")
				s.write("other/more", "other")
			},
			func(s *sealed) {
				s.do(os.Rename(s.path("d"), s.path("away")))
				s.do(os.Rename(s.path("other"), s.path("d")))
			}, "d/b d/e/c d/more away/b away/e/c",
		},
		"moved away, changed and back": {nil, func(s *sealed) {
			s.do(os.Rename(s.path("d"), s.path("away")))
			s.write("away/e/new", "")
			s.do(os.Rename(s.path("away"), s.path("d")))
		}, "d/b d/e/c d/e/new"},
		"ignored comes": {
			func(s *sealed) { s.write(".gitignore", "*.o\n") },
			func(s *sealed) { s.write("d/x.o", "") }, ".gitignore d/b d/e/c",
		},
		"rule goes at the root": {
			func(s *sealed) { s.write(".gitignore", "*.o\n"); s.write("d/e/x.o", ""); s.write("x.o", "") },
			func(s *sealed) { s.write(".gitignore", "*.a\n") }, ".gitignore d/b d/e/c d/e/x.o x.o",
		},
		"rule goes on the way": {
			func(s *sealed) { s.write("d/.gitignore", "*.o\n"); s.write("d/e/x.o", ""); s.write("d/x.o", "") },
			func(s *sealed) { s.write("d/.gitignore", "*.a\n") }, "d/.gitignore d/b d/e/c d/e/x.o d/x.o",
		},
		"rule goes in the directory": {
			func(s *sealed) { s.write("d/e/.gitignore", "*.o\n"); s.write("d/e/x.o", "") },
			func(s *sealed) { s.write("d/e/.gitignore", "#\n") }, "d/e/.gitignore d/b d/e/c d/e/x.o",
		},
		"rules removed": {
			func(s *sealed) { s.write("d/.gitignore", "*.o\n"); s.write("d/e/x.o", "") },
			func(s *sealed) { s.do(os.Remove(s.path("d/.gitignore"))) }, "d/b d/e/c d/e/x.o",
		},
		"negation comes below": {
			func(s *sealed) { s.write(".gitignore", "*.o\n"); s.write("d/e/x.o", "") },
			func(s *sealed) { s.write("d/.gitignore", "!x.o\n") }, ".gitignore d/.gitignore d/b d/e/c d/e/x.o",
		},
		"the same rules move": {
			func(s *sealed) {
				s.write(".gitignore", "/d/x\n!/d/x\n")
				s.write("d/.gitignore", "/x\n")
				s.write("d/x", "")
			},
			func(s *sealed) { s.do(os.Rename(s.path("d/.gitignore"), s.path("d/e/.gitignore"))) }, ".gitignore d/b d/e/.gitignore d/e/c d/x",
		},
		"rules that ignore themselves": {
			func(s *sealed) { s.write("d/.gitignore", "*.o\n.gitignore\n"); s.write("d/e/x.o", "") },
			func(s *sealed) { s.write("d/.gitignore", "*.a\n.gitignore\n") }, "d/b d/e/c d/e/x.o",
		},
		"rules that ignore themselves, in the directory": {
			func(s *sealed) { s.write("d/e/.gitignore", "*\n"); s.write("d/e/x", "") },
			func(s *sealed) { s.write("d/e/.gitignore", "/.gitignore\n") }, "d/b d/e/c d/e/x",
		},
		"rules that are too large to be captured": {
			func(s *sealed) {
				s.scan.MaxFileSize = 9
				s.write("d/.gitignore", strings.Repeat("#", 9)+"\n*.o\n")
				s.write("d/e/x.o", "")
			},
			func(s *sealed) { s.write("d/.gitignore", strings.Repeat("#", 9)+"\n*.a\n") }, "d/b d/e/c d/e/x.o",
		},
		"link to rules replaced": {
			func(s *sealed) { s.write("rules", "*.o\n"); s.do(os.Symlink("../rules", s.path("d/.gitignore"))) },
			func(s *sealed) {
				s.do(os.Remove(s.path("d/.gitignore")))
				s.write("d/.gitignore", "*.o\n")
				s.write("d/e/x.o", "")
			}, "rules d/.gitignore d/b d/e/c",
		},
		"nested repository comes and goes": {
			func(s *sealed) { s.write("d/e/.git/HEAD", "") },
			func(s *sealed) { s.do(os.RemoveAll(s.path("d/e/.git"))); s.write("d/.git", "gitdir: x") }, "d/b d/e/c",
		},
		"too large becomes small": {
			func(s *sealed) { s.scan.MaxFileSize = 9; s.write("d/large", "1234567890") },
			func(s *sealed) { s.write("d/large", "123456789") }, "d/b d/e/c d/large",
		},
		"small becomes too large": {
			func(s *sealed) { s.scan.MaxFileSize = 5 },
			func(s *sealed) { s.write("d/b", "123456") }, "d/e/c",
		},
		"included becomes small": {
			func(s *sealed) {
				s.scan.Include, s.scan.MaxIncluded = ignore.Parse([]byte(".env*\n"), false), 100
				s.write(".gitignore", ".env\n")
				s.write("d/.env", strings.Repeat("x", 101))
			},
			func(s *sealed) { s.write("d/.env", "x") }, ".gitignore d/b d/e/c d/.env",
		},
		"the store moves away": {
			func(s *sealed) { s.scan.Exclude = []string{"d/store"}; s.write("d/store/x", "") },
			func(s *sealed) { s.scan.Exclude = nil }, "d/b d/e/c d/store/x",
		},
		"empty directory filled": {
			func(s *sealed) { s.do(os.Mkdir(s.path("d/empty"), 0o755)) },
			func(s *sealed) { s.write("d/empty/x", "") }, "d/b d/e/c d/empty/x",
		},
		"bare directory emptied": {
			func(s *sealed) { s.write(".gitignore", "*.o\n"); s.write("d/bare/x.o", "") },
			func(s *sealed) { s.do(os.Remove(s.path("d/bare/x.o"))) }, ".gitignore d/b d/e/c",
		},
		"held comes": {
			func(s *sealed) { s.write(".gitignore", "*.o\n"); s.write("d/x.o", "") },
			func(s *sealed) {
				s.scan.Held = func(path string, dir bool) bool { return path == "d/x.o" }
				s.ground = "" // the caller knows
			}, ".gitignore d/b d/e/c d/x.o",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSealed(t, "d/b", "d/e/c")
			if tc.before != nil {
				tc.before(s)
			}
			s.calm()
			tc.edit(s)
			s.same()
			s.has(strings.Fields(tc.want)...)
			s.calm()
			s.has(strings.Fields(tc.want)...)
		})
	}
}

// TestSealedDirectoryGoesMeanwhile: the removal of a directory during its scan leaves an empty one,
// or none, but no error.
func TestSealedDirectoryGoesMeanwhile(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*sealed){
		"by seals": func(*sealed) {},
		"by names": func(s *sealed) {
			s.scan.Scope, s.scan.Names = map[string]bool{"": true, "d": true}, map[string][]string{"": {"d"}, "d": {"b"}}
		},
		"as a whole": func(s *sealed) { s.ground = "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSealed(t, "a", "d/b").settled()
			edit(s)
			s.scan.Enter = func(path string, _ int) {
				if path == "d" { // open, but not looked at
					s.do(os.RemoveAll(s.path("d")))
				}
			}
			s.run(s.index, s.ground)
			s.scan = Walk{Rules: s.scan.Rules, Conditions: s.scan.Conditions}
			s.same()
			s.has("a")
			if s.index.Dirs["d"] != nil {
				t.Error("the directory is still known")
			}
		})
	}
}
