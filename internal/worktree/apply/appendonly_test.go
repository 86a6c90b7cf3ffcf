package apply

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// The error names what could not be removed. A plan that is resumed there ends, too.
func TestAppendOnlyDirectoryKeepsATemporaryFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	before := testTree{"d/f": aFile("old"), "g": aFile("old")}
	before.build(t, root)
	a, blobs := newExecutor(root)
	a.Sync = true
	changes := plan(t, root, blobs, before, testTree{"d/f": aFile("new"), "g": aFile("new")})
	gittest.AppendOnly(t, filepath.Join(root, "d"))
	for range 2 {
		outcomes, err := a.Run(t.Context(), changes, nil)
		must(t, err)
		wantKept(t, outcomes[0], fs.ErrPermission)
		left := "d/" + dir.TempName(a.Token, 0)
		if text := outcomes[0].Err.Error(); strings.Count(text, left) != 1 {
			t.Errorf("%q does not name %s", text, left)
		}
		if _, err := os.Lstat(filepath.Join(root, left)); err != nil || !outcomes[1].Done {
			t.Errorf("%v, %+v", err, outcomes[1])
		}
		a.Resume = true
	}
}
