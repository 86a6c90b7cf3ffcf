//go:build unix && !(linux && (amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x))

package dir

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Lstat returns the status of a name of a Listing.
func (h *Handle) Lstat(name []byte) (Info, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(h.fd, string(name), &st, unix.AT_SYMLINK_NOFOLLOW)
		if !errors.Is(err, unix.EINTR) {
			return fromStat(&st), err
		}
	}
}

// LstatQuick is Lstat here.
func (h *Handle) LstatQuick(name []byte) (Info, error) { return h.Lstat(name) }

// Local reports false: the type of the file system is not looked up here.
func (h *Handle) Local() bool { return false }

// StampsNames reports false: it is unknown here whether every change of names shows.
func (h *Handle) StampsNames() bool { return false }
