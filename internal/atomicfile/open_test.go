package atomicfile

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestOpenHindersNobody: Windows would not let a file be renamed or removed while it is
// open, by the same process neither.
func TestOpenHindersNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	moved := filepath.Join(dir, "b")
	if err := Rename(path, moved); err != nil {
		t.Error(err)
	}
	if err := SyncFile(moved); err != nil {
		t.Error(err)
	}
	if err := os.Remove(moved); err != nil {
		t.Error(err)
	}
	if text, err := io.ReadAll(f); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestSyncFile: also a file without write permission, as git leaves its packs.
func TestSyncFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := SyncFile(path); err != nil {
		t.Error(err)
	}
	if err := SyncFile(path + "x"); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// TestRemoveClaimed: all names go, and one that is gone already is no error.
func TestRemoveClaimed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := Create(dir, Prefix)
	if err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(dir, "second")
	if err := os.Link(f.Name(), second); err != nil {
		t.Fatal(err)
	}
	if err := RemoveClaimed(f, second, second+"x"); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
