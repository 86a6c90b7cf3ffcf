package identity

import (
	"encoding/json"

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

// Encode returns the stored form. A directory has one, so that bytes are compared and never read.
func (d Directory) Encode() ([]byte, error) {
	data, err := json.Marshal(directoryNote{noteVersion, d})
	return append(data, '\n'), err
}
