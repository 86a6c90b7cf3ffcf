package odb

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// idBytes is how many bytes of a root's SHA-256 name its store.
const idBytes = 8

// ProjectID names the store of a root: the first 8 bytes, in hex, of the SHA-256 of the
// root's absolute path.
func ProjectID(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:idBytes])
}

// IsProjectID reports whether a directory may be a store by its name.
func IsProjectID(name string) bool {
	return len(name) == 2*idBytes && strings.Trim(name, "0123456789abcdef") == ""
}

// Proves reports whether the name of a store's directory shows that the recorded root is
// the true one. A store under a name of another kind, as a copy, proves nothing.
func Proves(dir, root string) bool {
	return filepath.IsAbs(root) && ProjectID(root) == filepath.Base(dir)
}
