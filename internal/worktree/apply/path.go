package apply

import (
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// CheckPath refuses every path that is not plainly below the root: absolute paths, empty names, "."
// and "..", any name that some file system takes for .git, names of temporary files, and on Windows
// names with another meaning there.
func CheckPath(path string) error {
	for name := range strings.SplitSeq(path, "/") {
		if !object.SafeName(name) || dir.IsTempName(name) || runtime.GOOS == "windows" && !windowsName(name) {
			return fmt.Errorf("%w: name %q", ErrUnsafePath, name)
		}
	}
	return nil
}

// windowsName reports whether Windows would make a file of exactly this name: no separator, stream
// or wildcard, no trailing blank or dot, no device.
func windowsName(name string) bool {
	if !utf8.ValidString(name) || strings.ContainsAny(name, `<>:"\|?*`) || strings.TrimRight(name, " .") != name {
		return false
	}
	if strings.IndexFunc(name, func(r rune) bool { return r < ' ' }) >= 0 {
		return false
	}
	base, _, _ := strings.Cut(name, ".")
	return !windowsDevice(strings.ToUpper(strings.TrimRight(base, " ")))
}

// windowsDevice reports the names of Microsoft's "Naming Files, Paths, and Namespaces", with and
// without an extension, and the two of the console.
func windowsDevice(base string) bool {
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	digit, ok := strings.CutPrefix(base, "COM")
	if !ok {
		digit, ok = strings.CutPrefix(base, "LPT")
	}
	return ok && utf8.RuneCountInString(digit) == 1 && strings.ContainsAny(digit, "0123456789¹²³")
}
