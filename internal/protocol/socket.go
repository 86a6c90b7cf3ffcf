package protocol

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxSocketPath is the longest path of a Unix socket in bytes: 104 with the NUL on
// macOS and the BSDs, 108 elsewhere. The smaller one everywhere keeps a data
// directory usable on every machine that mounts it.
const maxSocketPath = 103

// Dir is where a server keeps its socket, lock and token: 0700.
func Dir(dataDir string) string { return filepath.Join(dataDir, "serve") }

// Socket is where the server of a data directory listens.
func Socket(dataDir string) (string, error) {
	path := filepath.Join(Dir(dataDir), "sock")
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("%s is too long for a socket: %d bytes of at most %d", path, len(path), maxSocketPath)
	}
	return path, nil
}

// CheckOwner makes sure that the socket, and the directory in which it could be
// replaced, belong to this user and to nobody else.
func CheckOwner(socket string) error {
	for _, c := range []struct {
		path string
		kind fs.FileMode
	}{{filepath.Dir(socket), fs.ModeDir}, {socket, fs.ModeSocket}} {
		info, err := os.Lstat(c.path)
		if err != nil {
			return err
		}
		if !isKind(info.Mode(), c.kind) {
			return fmt.Errorf("%s is a %v", c.path, info.Mode().Type())
		}
		if err := ownedByUs(info); err != nil {
			return fmt.Errorf("%s: %w", c.path, err)
		}
	}
	return nil
}
