package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// Where stamps are said to be fine, no two changes with a look in between share one.
func TestStampsFinely(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Chmod(0o751 | os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	if !StampsFinely(f).Files {
		t.Skip("this file system stamps by the ticks of the clock, or is not known for anything else")
	}
	if info, err := f.Stat(); err != nil || info.Mode() != 0o751|os.ModeSetuid {
		t.Errorf("the bits have become %v, %v", info.Mode(), err)
	}
	var st unix.Stat_t
	last := time.Time{}
	for n := range gittest.Rounds(2000) {
		if _, err := f.WriteAt([]byte{byte(n)}, 0); err != nil {
			t.Fatal(err)
		}
		if err := unix.Fstat(int(f.Fd()), &st); err != nil {
			t.Fatal(err)
		}
		now := time.Unix(st.Ctim.Unix())
		if modified := time.Unix(st.Mtim.Unix()); !now.After(last) || !modified.Equal(now) {
			t.Fatalf("change %d at %v, contents at %v, the change before at %v", n, now, modified, last)
		}
		last = now
	}
}

// Other file systems are not asked for more than their kind.
func TestStampsFinelyElsewhere(t *testing.T) {
	t.Parallel()
	f, err := os.Open("/proc/self/status")
	if err != nil {
		t.Skip("no file of another kind here:", err)
	}
	defer f.Close()
	if StampsFinely(f) != (Fine{}) {
		t.Error("/proc stamps finely")
	}
}

// The same for directories: after a stat, a name that comes or goes shows in the next one.
func TestStampsFinelyOfDirectories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	probe, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	if !StampsFinely(probe).Dirs {
		t.Skip("this file system stamps directories by the ticks of the clock, or is not known for anything else")
	}
	var last, st unix.Stat_t
	if err := unix.Stat(dir, &last); err != nil {
		t.Fatal(err)
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	changes := map[string]func() error{
		"create":  func() error { return os.WriteFile(a, nil, 0o600) },
		"link":    func() error { return os.Link(a, b) },
		"replace": func() error { return os.Rename(probeCopy(t, dir), a) },
		"remove":  func() error { return os.Remove(b) },
		"mkdir":   func() error { return os.Mkdir(b, 0o700) },
		"rmdir":   func() error { return os.Remove(b) },
		"symlink": func() error { return os.Symlink("a", b) },
		"move":    func() error { return os.Rename(b, a) },
		"unlink":  func() error { return os.Remove(a) },
	}
	for round := range gittest.Rounds(200) {
		for _, name := range []string{"create", "link", "replace", "remove", "mkdir", "rmdir", "symlink", "move", "unlink"} {
			if err := changes[name](); err != nil {
				t.Fatal(err)
			}
			if err := unix.Stat(dir, &st); err != nil {
				t.Fatal(err)
			}
			if st.Mtim == last.Mtim || st.Ctim == last.Ctim {
				t.Fatalf("round %d: %s leaves the times at %v and %v", round, name, st.Mtim, st.Ctim)
			}
			last = st
		}
	}
}

// probeCopy makes a file that is to be renamed. It looks at the directory afterwards, so
// that the next change is one of its own.
func probeCopy(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "made")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	return path
}
