package odb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedRootRecord: the name of a store proves the root that the caller expects, whatever damage
// has left of the record. A record that is the path of another directory is no damage.
func TestDamagedRootRecord(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "project with a long name")
	for name, c := range map[string]struct {
		record string
		ok     bool
	}{
		"empty":               {"", true},
		"cut off":             {root[:len(root)-3], true},
		"zeros":               {strings.Repeat("\x00", len(root)), true},
		"zeros at the end":    {root[:len(root)-12] + strings.Repeat("\x00", 12), true},
		"zeros behind it":     {root + strings.Repeat("\x00", 40), true},
		"zeros of a block":    {strings.Repeat("\x00", 512), true},
		"a changed byte":      {strings.Replace(root, "long", "lonG", 1), true},
		"another directory":   {filepath.Join(t.TempDir(), "x"), false},
		"a directory like it": {root + " 2", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), ProjectID(root))
			db, err := Create(dir, root, Options{NoSync: true})
			must(t, err)
			db.Close()
			must(t, os.WriteFile(filepath.Join(dir, rootFile), []byte(c.record), 0o600))
			db, err = Open(dir, root, Options{})
			if (err == nil) != c.ok {
				t.Fatalf("record %q: %v", c.record, err)
			}
			if err == nil {
				db.Close()
			}
		})
	}
}
