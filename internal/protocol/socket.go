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

// Dir returns the directory for a server's socket, lock and token. Its mode is 0700.
func Dir(dataDir string) string { return filepath.Join(dataDir, "serve") }

// Socket returns the path of the socket of a data directory's server.
func Socket(dataDir string) (string, error) {
	path := filepath.Join(Dir(dataDir), "sock")
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("%s is too long for a socket: %d bytes of at most %d", path, len(path), maxSocketPath)
	}
	return path, nil
}

// CheckOwner checks that the socket and its directory belong to this user and are closed
// to all others. Without the second check another user could replace the socket.
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
