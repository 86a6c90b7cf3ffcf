package keep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// Vault is a directory that may not exist yet.
type Vault struct {
	dir  string
	sync bool
	link func(from, to string) error // os.Link; tests replace it
}

// At returns the vault in dir. With sync, new names are flushed to the disk.
func At(dir string, sync bool) *Vault { return &Vault{dir, sync, os.Link} }

// Dir returns the git directory.
func (v *Vault) Dir() string { return v.dir }

// Exists reports whether the vault has been made.
func (v *Vault) Exists() bool {
	_, err := os.Lstat(v.path("HEAD"))
	return err == nil
}

func (v *Vault) path(parts ...string) string {
	return filepath.Join(append([]string{v.dir}, parts...)...)
}

// notes are what a vault knows of itself, in the file "cairn.json".
type notes struct {
	SHA256  bool                 `json:"sha256,omitempty"`
	Sources []source             `json:"sources,omitempty"`
	Gone    map[string]time.Time `json:"gone,omitempty"` // when a cleaning first saw that no source has a file any more
}

// source is an object directory of the user's repository.
type source struct {
	Dir  string           `json:"dir"`
	Seen map[string]int64 `json:"seen,omitempty"` // stamp of each directory of loose objects whose objects the vault has
}

func (v *Vault) notes() notes {
	var n notes
	data, err := atomicfile.Read(v.path("cairn.json"))
	if err != nil || json.Unmarshal(data, &n) != nil {
		return notes{}
	}
	return n
}

func (v *Vault) write(n notes) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return writeFile(v.path("cairn.json"), append(data, '\n'))
}

func writeFile(path string, data []byte) error {
	return atomicfile.Write(path, 0o600, false, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

const config = `[core]
	repositoryformatversion = 1
	bare = true
[extensions]
	preciousObjects = true
%s[gc]
	auto = 0
[maintenance]
	auto = false
`

// prepare makes the vault unless it is there. A vault of the other object format is replaced: the
// repository was made again.
func (v *Vault) prepare(sha256 bool) (notes, error) {
	n := v.notes()
	if v.Exists() && n.SHA256 == sha256 {
		return n, nil
	}
	if err := v.Remove(); err != nil {
		return n, err
	}
	for _, dir := range []string{"refs", filepath.Join("objects", "pack"), filepath.Join("objects", "info")} {
		if err := os.MkdirAll(v.path(dir), 0o700); err != nil {
			return n, err
		}
	}
	format := ""
	if sha256 {
		format = "\tobjectFormat = sha256\n"
	}
	n = notes{SHA256: sha256}
	err := errors.Join(v.write(n), writeFile(v.path("config"), fmt.Appendf(nil, config, format)))
	if err == nil { // HEAD shows that the vault is whole
		err = writeFile(v.path("HEAD"), []byte("ref: refs/heads/none\n"))
	}
	return n, err
}

// Remove removes the vault with everything in it.
func (v *Vault) Remove() error { return os.RemoveAll(v.dir) }

// SetShallow tells git where the history of the user's repository ends, as its file "shallow" does.
func (v *Vault) SetShallow(text []byte) error {
	now, err := atomicfile.Read(v.path("shallow"))
	switch {
	case err == nil && bytes.Equal(now, text), errors.Is(err, fs.ErrNotExist) && len(text) == 0:
		return nil
	case len(text) == 0:
		return os.Remove(v.path("shallow"))
	}
	return writeFile(v.path("shallow"), text)
}

// isObject reports whether a file in a directory of loose objects is one: 38 or 62 hex digits.
func isObject(name string) bool {
	return (len(name) == 38 || len(name) == 62) && isHex(name)
}

func isHex(name string) bool { return strings.Trim(name, "0123456789abcdef") == "" }
