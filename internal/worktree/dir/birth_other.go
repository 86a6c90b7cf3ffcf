//go:build !linux && !darwin && !freebsd && !netbsd && !windows

package dir

// BirthOf reports that no birth is known on this system.
func BirthOf(string) (b Birth, ok bool) { return Birth{}, false }
