//go:build unix

package git

import "golang.org/x/sys/unix"

// sameDevice reports whether two directories are on one file system. Where that
// cannot be told they are not, as for git.
func sameDevice(a, b string) bool {
	var sa, sb unix.Stat_t
	return unix.Stat(a, &sa) == nil && unix.Stat(b, &sb) == nil && sa.Dev == sb.Dev
}
