package identity

import (
	"encoding/json"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// Directory is what a root is known by on one machine, also after a rename. Inode numbers of another
// machine mean nothing here. A container may see a directory of its host at another path, while the
// host still works at the first: it counts as another machine, by its PID namespace.
type Directory struct {
	Host  string `json:"host"`
	Space string `json:"space,omitempty"` // the PID namespace, "" where there are none
	Ino   uint64 `json:"ino"`             // see dir.Birth
	Born  int64  `json:"born"`            // nanoseconds since 1970
}

// DirectoryAt describes the directory at path. ok is false where the machine has no name, and where
// the file system does not know when the directory was made.
func DirectoryAt(path string) (d Directory, ok bool) {
	birth, ok := dir.BirthOf(path)
	if !ok || process.Host() == "" {
		return Directory{}, false
	}
	return Directory{process.Host(), process.Space(), birth.Ino, birth.Time}, true
}

// directoryNote is the stored form of a Directory.
type directoryNote struct {
	Version int `json:"v"`
	Directory
}

// Encode returns the stored form.
func (d Directory) Encode() ([]byte, error) {
	data, err := json.Marshal(directoryNote{noteVersion, d})
	return append(data, '\n'), err
}

// DecodeDirectory reads the stored form. A form of a later release is an error.
func DecodeDirectory(data []byte) (Directory, error) {
	var n directoryNote
	if err := json.Unmarshal(data, &n); err != nil {
		return Directory{}, fmt.Errorf("identity of the directory: %w", err)
	}
	if n.Version != noteVersion {
		return Directory{}, fmt.Errorf("identity of the directory: version %d, %w", n.Version, ErrLater)
	}
	return n.Directory, nil
}
