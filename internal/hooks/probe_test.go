package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// TestProbe: the file of a probe is a temporary file as any other, for a check at the same time and for the next
// probe, which removes what one that was killed has left.
func TestProbe(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made")
	names := func() (list []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil
		}
		for _, e := range entries {
			list = append(list, e.Name())
		}
		return list
	}
	done := make(chan error, 1)
	go func() {
		for range 500 {
			if err := Probe(dir); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for ended := false; !ended; {
		for _, name := range names() {
			if !strings.HasPrefix(name, atomicfile.Prefix) {
				t.Fatalf("a probe is called %s", name)
			}
		}
		select {
		case err := <-done:
			if ended = true; err != nil {
				t.Fatal(err)
			}
		default:
		}
	}
	left := filepath.Join(dir, atomicfile.Prefix+"0123456789abcdef")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Probe(dir); err != nil {
		t.Fatal(err)
	}
	if got := names(); len(got) > 0 {
		t.Errorf("left: %q", got)
	}
}
