//go:build !linux && !darwin

package apply

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// cloneFile clones nothing: files are copied here.
func cloneFile(*dir.Handle, string, string, dir.File, uint16, uint16) (*newFile, error) {
	return nil, errNeverClones
}

// copyRange reports false: contents go through a buffer here.
func copyRange(context.Context, *newFile, dir.File, int64) (done bool, err error) { return false, nil }

// syncsWhole: every file and directory is flushed by itself.
const syncsWhole = false

func syncTree(path string) error { return atomicfile.SyncDir(path) }
