package gitstate

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// TestEntriesSum: stores keep sums of earlier releases, so the summed text stays what it was.
func TestEntriesSum(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		w := newWorld(t, "--object-format="+format)
		for _, name := range []string{"plain", "assumed", "skipped", "later", "dir/run", "dir/odd \xff\n"} {
			w.write(name, name)
		}
		w.git("add", "plain", "assumed", "skipped", "dir")
		w.git("update-index", "--chmod=+x", "dir/run")
		w.git("update-index", "--assume-unchanged", "assumed")
		w.git("update-index", "--skip-worktree", "skipped")
		w.git("add", "-N", "later")
		x, err := git.ReadIndex(filepath.Join(w.dir, ".git", "index"), format == "sha256")
		if err != nil {
			t.Fatal(err)
		}
		h, marks := sha256.New(), 0
		for e, id := range x.WithIDs() {
			fmt.Fprintf(h, "%s %o %d %t %t %t %s\x00", id, e.Mode, e.Stage, e.AssumeValid, e.SkipWorktree, e.IntentToAdd, e.Name)
			for _, mark := range []bool{e.AssumeValid, e.SkipWorktree, e.IntentToAdd} {
				if mark {
					marks++
				}
			}
		}
		if got, want := EntriesSum(x), fmt.Sprintf("%x", h.Sum(nil)); got != want || marks != 3 {
			t.Errorf("%s: sum %s, want %s, of entries with %d marks", format, got, want, marks)
		}
	}
}
