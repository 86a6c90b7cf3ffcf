package apply

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchange gives two paths in a directory the names of each other, in one step. Some file systems cannot: NFS, 9P, FAT
// before Linux 6.0, some of FUSE.
func exchange(r *os.Root, a, b string) error {
	return withHandle(r, func(at int) error { return unix.Renameat2(at, a, at, b, unix.RENAME_EXCHANGE) })
}

// renameNew renames a file to a name that nothing may have: fs.ErrExist. The same file systems cannot.
func renameNew(r *os.Root, from, to string) error {
	return withHandle(r, func(at int) error { return unix.Renameat2(at, from, at, to, unix.RENAME_NOREPLACE) })
}
