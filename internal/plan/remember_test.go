package plan

import (
	"fmt"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// countingDisk counts how often it is asked for paths.
type countingDisk struct {
	fakeDisk
	finds int
}

func (d *countingDisk) Find(path string) (*dir.Found, error) {
	d.finds++
	return d.fakeDisk.Find(path)
}

// TestRememberingDisk: the answers are those of the disk, for paths in any order, with one look at a path
// that is asked for twice in a row, and two at a directory that is gone, whatever was in it.
func TestRememberingDisk(t *testing.T) {
	t.Parallel()
	at := files{"a": "1", "d/b": "2", "e/f/g": "3", "gonex/h": "4"}
	counted := &countingDisk{fakeDisk: fakeDisk{files: at}}
	d := &rememberingDisk{Disk: counted}
	ask := func(path string) {
		t.Helper()
		for range 2 {
			got, err := d.Find(path)
			want, werr := fakeDisk{files: at}.Find(path)
			if err != nil || werr != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
				t.Errorf("%s: %+v, %v, want %+v, %v", path, got, err, want, werr)
			}
		}
	}
	for _, path := range []string{"a", "none", "d", "d/none", "d/b", "d/b/below", "e/f/none", "e/f/g", "gone/1", "gonex/h", "gone/2", "gone", "e/f", "gone/3/4", ""} {
		ask(path)
	}
	counted.finds = 0
	for i := range 1000 {
		ask(fmt.Sprintf("gone/of/%d", i))
	}
	if counted.finds > 2 {
		t.Errorf("%d looks for 1000 paths of a directory that is gone", counted.finds)
	}
	counted.finds = 0
	for i := range 1000 {
		ask(fmt.Sprintf("d/%d", i))
	}
	if counted.finds > 1001 {
		t.Errorf("%d looks for 1000 paths of a directory that is there", counted.finds)
	}
}
