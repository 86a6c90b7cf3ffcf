//go:build unix

package keep

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestHostile: a FIFO is not opened, and a link in the place of an object or of a directory of objects
// is not followed.
func TestHostile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	outside := t.TempDir()
	name := strings.Repeat("a", 38)
	w.must(os.WriteFile(filepath.Join(outside, name), []byte("secret"), 0o600))
	objects := filepath.Join(w.dir, ".git", "objects")
	for _, dir := range []string{"00", "01"} {
		w.must(os.MkdirAll(filepath.Join(objects, dir), 0o755))
	}
	w.must(syscall.Mkfifo(filepath.Join(objects, "00", name), 0o644))
	w.must(os.Symlink(filepath.Join(outside, name), filepath.Join(objects, "01", name)))
	w.must(os.RemoveAll(filepath.Join(objects, "02")))
	w.must(os.Symlink(outside, filepath.Join(objects, "02")))
	w.must(os.WriteFile(filepath.Join(objects, "00", "no object"), nil, 0o644))
	packs := filepath.Join(objects, "pack")
	w.must(os.MkdirAll(packs, 0o755))
	w.must(syscall.Mkfifo(filepath.Join(packs, "pack-1.pack"), 0o644))
	w.must(os.WriteFile(filepath.Join(packs, "pack-1.idx"), nil, 0o644))
	w.must(os.WriteFile(filepath.Join(packs, "pack-2.pack"), nil, 0o644))
	w.must(os.Symlink(filepath.Join(outside, name), filepath.Join(packs, "pack-2.idx")))
	for _, copies := range []bool{false, true} {
		w.keep(w.dir, Options{Copy: copies})
		for _, path := range []string{"00/" + name, "01/" + name, "02/" + name, "00/no object", "pack/pack-1.pack", "pack/pack-1.idx", "pack/pack-2.pack", "pack/pack-2.idx"} {
			if _, err := os.Lstat(w.vault.path("objects", path)); err == nil {
				t.Errorf("the vault has %s", path)
			}
		}
	}
}
