//go:build unix

package protocol

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func isKind(mode, kind fs.FileMode) bool { return mode.Type() == kind }

func ownedByUs(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return fmt.Errorf("no owner is known")
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("belongs to user %d", st.Uid)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("open to others: %v", info.Mode().Perm())
	}
	return nil
}
