package apply

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// cloneFile makes a clone of src (APFS). The clone has the contents of one moment, whatever is
// written meanwhile, and the extended attributes and access list of src.
func cloneFile(in *dir.Handle, _, name string, src dir.File, _, _ uint16) (*newFile, error) {
	err := unix.Fclonefileat(src.Descriptor(), in.Descriptor(), name, unix.CLONE_NOFOLLOW|unix.CLONE_NOOWNERCOPY)
	switch {
	case errors.Is(err, unix.ENOTSUP):
		return nil, errNeverClones
	case errors.Is(err, unix.EXDEV):
		return nil, errNoClone
	case err != nil:
		return nil, err
	}
	made := &newFile{fd: -1, in: in, name: name}
	info, err := in.Lstat(dir.ListedName(name))
	if err == nil {
		made.perm = info.Perm
		made.fd, err = unix.Openat(in.Descriptor(), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		if derr := made.discard(); derr != nil {
			return nil, derr
		}
		return nil, errNoClone
	}
	return made, nil
}

// copyRange reports false: this system has no call for it.
func copyRange(context.Context, *newFile, dir.File, int64) (done bool, err error) { return false, nil }

// syncsWhole: every file and directory is flushed by itself.
const syncsWhole = false

func syncTree(path string) error { return atomicfile.SyncDir(path) }
