package odb

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
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

// Proves reports whether the name of a store's directory shows that root is its root. The name of
// a copy proves nothing.
func Proves(dir, root string) bool {
	return filepath.IsAbs(root) && ProjectID(root) == filepath.Base(dir)
}

// rootOf returns the directory that a store belongs to. If the record of it is damaged, the name
// of the store proves the root that the caller expects, or shows which byte of the record has
// changed. A repair writes the record again.
func rootOf(dir, expected string, moving bool) (string, error) {
	text, err := atomicfile.Read(filepath.Join(dir, rootFile))
	recorded := string(text)
	proven := !IsProjectID(filepath.Base(dir)) || Proves(dir, recorded) || moving
	switch {
	case err == nil && (proven && expected == "" || expected != "" && expected == recorded):
		return recorded, nil
	case expected != "" && Proves(dir, expected) && (err != nil || isRemainder(recorded, expected)):
		return expected, nil
	case err == nil && expected != "" && filepath.IsAbs(recorded):
		return "", fmt.Errorf("store %s belongs to %s, not to %s", dir, recorded, expected)
	case err == nil && expected == "":
		if root, ok := undamaged(dir, text); ok {
			return root, nil
		}
	}
	why := fmt.Errorf("%s is damaged", filepath.Join(dir, rootFile))
	if err != nil {
		why = err
	}
	return "", fmt.Errorf("%w: the record of the directory that the store belongs to cannot be read: %w; cairn doctor --fix in that directory writes it again", pack.ErrCorrupt, why)
}

// maxFlipped is how many bytes of a damaged record may differ. A record that differs in more is
// the record of another directory.
const maxFlipped = 8

// isRemainder reports whether damage to the record of root may have left recorded. No path holds a NUL: a
// loss of power leaves zeros.
func isRemainder(recorded, root string) bool {
	if strings.Contains(recorded, "\x00") {
		return true
	}
	if len(recorded) != len(root) {
		return strings.HasPrefix(root, recorded) || !filepath.IsAbs(recorded)
	}
	flipped := 0
	for i := range root {
		if recorded[i] != root[i] {
			flipped++
		}
	}
	return flipped <= maxFlipped
}

// undamaged finds the root that differs from a damaged record in one byte and fits the name of
// the store.
func undamaged(dir string, text []byte) (string, bool) {
	if len(text) > maxTried {
		return "", false
	}
	for i := range text {
		for tried, was := 1, text[i]; tried < 256; tried++ {
			text[i] = was + byte(tried)
			if Proves(dir, string(text)) {
				return string(text), true
			}
			text[i] = was
		}
	}
	return "", false
}

// maxTried bounds the length of a record that undamaged works on.
const maxTried = 1 << 10
