package apply

import (
	"io/fs"
	"os"
)

const rootReadFlags = os.O_RDONLY

// samePerm compares the only bit that Windows keeps: whether a file is writable. Directories have
// none.
func samePerm(a, b uint16, dir bool) bool { return dir || a&0o200 == b&0o200 }

// chmodOpen uses the name, because a handle opened for reading may not change the attributes.
// os.Root does not follow links here.
func chmodOpen(r *os.Root, name string, _ *os.File, perm uint16) error {
	return r.Chmod(name, permMode(perm))
}

func chmodUnreadable(r *os.Root, name string, _ fs.FileInfo, perm uint16) error {
	return r.Chmod(name, permMode(perm))
}

// openToSync opens nothing: NTFS journals names.
func openToSync(*os.Root) (*os.File, error) { return nil, nil }
