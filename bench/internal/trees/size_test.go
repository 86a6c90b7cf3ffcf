//go:build unix

package trees

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// TestSizeOfLinks: a file of several names counts once, and as shared while it has a name elsewhere.
func TestSizeOfLinks(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "store")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"store/own", "elsewhere"} {
		if err := os.WriteFile(filepath.Join(top, name), make([]byte, 10_000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"store/own": "store/again", "elsewhere": "store/borrowed"} {
		if err := os.Link(filepath.Join(top, from), filepath.Join(top, to)); err != nil {
			t.Skip(err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "own"))
	if err != nil {
		t.Fatal(err)
	}
	below, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	one := system.Allocated(info)
	got, err := SizeOf(dir)
	if err != nil || got.Files != 3 || got.Bytes != 30_000 || got.Allocated != 2*one+system.Allocated(below) || got.Shared != one {
		t.Errorf("%+v, %v; a file has %d", got, err, one)
	}
	if got.Own() != one+system.Allocated(below) {
		t.Errorf("%d bytes of its own", got.Own())
	}
}
