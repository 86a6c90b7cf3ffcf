package git

import "os"

// StampOf returns the stamp of a path itself, not of the target of a link. It returns the zero Stamp
// for a path that is absent or out of reach.
func StampOf(path string) Stamp {
	info, err := os.Lstat(path)
	if err != nil {
		return Stamp{}
	}
	return Stamp{Size: info.Size(), MTime: info.ModTime().UnixNano(), Mode: uint32(info.Mode())}
}
