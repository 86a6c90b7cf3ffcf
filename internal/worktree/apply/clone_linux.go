package apply

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// cloneFile makes a file that shares the blocks of src (Btrfs, XFS, bcachefs, some network file
// systems). The clone has the contents of one moment, whatever is written meanwhile.
func cloneFile(in *dir.Handle, place, name string, src dir.File, perm, mask uint16) (*newFile, error) {
	made, err := createFile(in, place, name, perm, mask)
	if err != nil {
		return nil, err
	}
	if err = unix.IoctlFileClone(made.fd, src.Descriptor()); err == nil {
		return made, nil
	}
	if derr := made.discard(); derr != nil {
		return nil, derr
	}
	switch {
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOTTY), errors.Is(err, unix.ENOSYS):
		return nil, errNeverClones
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT), errors.Is(err, unix.EROFS):
		return nil, err
	}
	return nil, errNoClone // another file system, a swap file, some file systems' own limits
}

// rangeSize is how many bytes are copied in one call, between which the context is asked.
const rangeSize = 64 << 20

// copyRange copies a file within the kernel. done is false where the kernel cannot; nothing is
// copied then.
func copyRange(ctx context.Context, made *newFile, src dir.File, size int64) (done bool, err error) {
	for left := size; left > 0; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := unix.CopyFileRange(src.Descriptor(), nil, made.fd, nil, int(min(left, rangeSize)), 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil && left == size && !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT):
			return false, nil
		case err != nil:
			return false, err
		case n == 0 && left == size:
			return false, nil // some file systems of the kernel's own have contents without a size
		case n == 0:
			return true, nil
		}
		left -= int64(n)
	}
	return true, nil
}

// syncsWhole: one call flushes a whole file system, however many files were made.
const syncsWhole = true

func syncTree(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
}
