package dir

import "golang.org/x/sys/unix"

// BirthOf returns the birth of the directory at path. ok is false where there is none, and where
// the file system does not know when it was made.
func BirthOf(path string) (b Birth, ok bool) {
	const wanted = unix.STATX_TYPE | unix.STATX_INO | unix.STATX_BTIME
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, wanted, &st) != nil ||
		st.Mask&wanted != wanted || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return Birth{}, false
	}
	return Birth{st.Ino, st.Btime.Sec*1e9 + int64(st.Btime.Nsec)}, true
}
