package apply

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchange gives two paths in a directory the names of each other, in one step. APFS can, HFS+ cannot.
func exchange(r *os.Root, a, b string) error {
	return withHandle(r, func(at int) error { return unix.RenameatxNp(at, a, at, b, unix.RENAME_SWAP) })
}

// renameNew renames a file to a name that nothing may have: fs.ErrExist.
func renameNew(r *os.Root, from, to string) error {
	return withHandle(r, func(at int) error { return unix.RenameatxNp(at, from, at, to, unix.RENAME_EXCL) })
}
