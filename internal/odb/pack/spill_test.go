package pack

import (
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// A piece that could not be written fails the pack at the latest when it ends, and leaves
// no file.
func TestPieceIsNotWritten(t *testing.T) {
	t.Parallel()
	for name, adds := range map[string]int{"at the end": 1, "while entries are added": 20} {
		dir := t.TempDir()
		w := NewWriter(dir)
		must(t, w.AddContent(object.Sum(object.Blob, noise(1, SpillAt)), object.Blob, noise(1, SpillAt)))
		_, err := w.waitSpilled()
		must(t, err)
		must(t, w.file.Close()) // from now on it cannot be written to
		for i := range adds {
			content := noise(uint64(2+i), SpillAt)
			if err = w.AddContent(object.Sum(object.Blob, content), object.Blob, content); err != nil {
				break
			}
		}
		if (err == nil) != (adds == 1) {
			t.Errorf("%s: %v", name, err)
		}
		if s, err := w.Seal(); err == nil {
			s.Discard()
			t.Errorf("%s: sealed", name)
		}
		w.Discard()
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
}
