//go:build unix && !(linux && (amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x))

package worktree

import (
	"errors"

	"golang.org/x/sys/unix"
)

func (h *dirHandle) lstat(name []byte) (fileStat, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(h.fd, string(name), &st, unix.AT_SYMLINK_NOFOLLOW)
		if !errors.Is(err, unix.EINTR) {
			return fromStat(&st), err
		}
	}
}

func (h *dirHandle) lstatQuick(name []byte) (fileStat, error) { return h.lstat(name) }

func (h *dirHandle) local() bool { return false }

func (h *dirHandle) stampsNames() bool { return false }
