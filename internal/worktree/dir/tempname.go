package dir

import (
	"strconv"
	"strings"
)

const (
	tempPrefix = ".cairn-"
	tempSuffix = ".tmp"

	// MaxToken is the most bytes of a token: every temporary name stays far below the 255 bytes of a name.
	MaxToken = 64
)

// TempName is the temporary name of change n of an operation. It does not contain the target's
// name, which may have the maximum length.
func TempName(token string, n int) string {
	return tempPrefix + token + "-" + strconv.Itoa(n) + tempSuffix
}

// ParseTempName returns the token of a temporary name.
func ParseTempName(name string) (token string, ok bool) {
	rest, ok := strings.CutPrefix(name, tempPrefix)
	if !ok {
		return "", false
	}
	rest, ok = strings.CutSuffix(rest, tempSuffix)
	dash := strings.LastIndexByte(rest, '-')
	if !ok || dash < 0 || !ValidToken(rest[:dash]) {
		return "", false
	}
	n, err := strconv.ParseUint(rest[dash+1:], 10, 63)
	return rest[:dash], err == nil && strconv.FormatUint(n, 10) == rest[dash+1:]
}

// IsTempName reports whether such a name is given to temporary files, of any operation. These files are no
// part of a work tree.
func IsTempName(name string) bool {
	_, ok := ParseTempName(name)
	return ok
}

// ValidToken reports whether an operation may have this token.
func ValidToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= MaxToken
}
