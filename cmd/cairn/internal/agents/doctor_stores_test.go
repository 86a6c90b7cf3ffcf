package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// TestUnusable: only a damaged store is to be moved away.
func TestUnusable(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		cairn.ErrCorrupt: "move the directory away", errors.ErrUnsupported: "a later one", fs.ErrPermission: "chown",
		syscall.ENOSPC: "make a little room", syscall.EROFS: "writable", syscall.EMFILE: "type cairn doctor again", cairn.ErrLocked: "type cairn doctor again",
	} {
		if got := unusable(fmt.Errorf("%w: open store: %w", cairn.ErrStore, err)); !strings.Contains(got, want) {
			t.Errorf("%v: %s", err, got)
		}
	}
}
