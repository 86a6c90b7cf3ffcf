//go:build unix && !(linux && (amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x))

package dir

import (
	"errors"

	"golang.org/x/sys/unix"
)

func (h *Handle) Lstat(name []byte) (Info, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(h.fd, string(name), &st, unix.AT_SYMLINK_NOFOLLOW)
		if !errors.Is(err, unix.EINTR) {
			return fromStat(&st), err
		}
	}
}

func (h *Handle) LstatQuick(name []byte) (Info, error) { return h.Lstat(name) }

func (h *Handle) Local() bool { return false }

func (h *Handle) StampsNames() bool { return false }
