package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// Project is what a project is known by. The zero value is known by its path alone.
type Project struct {
	Given  string        `json:"id,omitempty"`     // the user's id; it outweighs the rest
	Root   string        `json:"root,omitempty"`   // root commit, 40 hexadecimal digits
	Within pathtext.Text `json:"within,omitempty"` // from the top of the work tree, with slashes; "" = the top
}

// givenID is the form of an id of a user. It is a part of a ref's name on every file system. It is
// compiled when an id is checked, because every start of the program would pay for it.
var givenID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`) })

// givenPrefix begins the key of a project with an id. No other key begins with it.
const givenPrefix = "id-"

// CheckID refuses a text that cannot be the id of a project.
func CheckID(id string) error {
	if !givenID().MatchString(id) || strings.Contains(id, "..") || strings.HasSuffix(id, ".") || strings.HasSuffix(id, ".lock") {
		return fmt.Errorf("%q cannot be the id of a project: want up to 64 of a-z, 0-9, '-', '_' and '.', a letter or digit first, no \"..\", no '.' or \".lock\" last", id)
	}
	return nil
}

// keyDigits is the number of hexadecimal digits of a key that is made from a root commit.
const keyDigits = 40

// Key is the project's name among the refs of a remote. at is the absolute path of the project,
// which counts where nothing else is known.
func (p Project) Key(at string) string {
	switch {
	case p.Given != "":
		return givenPrefix + p.Given
	case p.Root != "":
		sum := sha256.Sum256([]byte("cairn project\n" + p.Root + "\n" + string(p.Within)))
		return hex.EncodeToString(sum[:])[:keyDigits]
	}
	return odb.ProjectID(at)
}

// Keys lists the names under which a remote may have the project's lines: its Key, and the name that
// releases gave it which knew projects by their paths only.
func (p Project) Keys(at string) []string {
	key, old := p.Key(at), odb.ProjectID(at)
	if key == old {
		return []string{key}
	}
	return []string{key, old}
}

// IsKey reports whether a part of a ref's name can be the key of a project.
func IsKey(text string) bool {
	if id, ok := strings.CutPrefix(text, givenPrefix); ok {
		return CheckID(id) == nil
	}
	return odb.IsProjectID(text) || len(text) == keyDigits && strings.Trim(text, "0123456789abcdef") == ""
}

// ByPath reports whether a key was made from a path.
func ByPath(key string) bool { return odb.IsProjectID(key) }

// note is the stored form of a Project.
type note struct {
	Version int `json:"v"`
	Project
}

const noteVersion = 1

// Encode returns the stored form of the project.
func (p Project) Encode() ([]byte, error) {
	data, err := json.Marshal(note{noteVersion, p})
	return append(data, '\n'), err
}

// ErrLater: a stored form is whole, and this release cannot read it.
var ErrLater = errors.New("which a later release of cairn wrote")

// Decode reads the stored form. A form of a later release is an error.
func Decode(data []byte) (Project, error) {
	var n note
	if err := json.Unmarshal(data, &n); err != nil {
		return Project{}, fmt.Errorf("identity of the project: %w", err)
	}
	if n.Version != noteVersion {
		return Project{}, fmt.Errorf("identity of the project: version %d, %w", n.Version, ErrLater)
	}
	return n.Project, n.Project.check()
}

func (p Project) check() error {
	if p.Given != "" {
		if err := CheckID(p.Given); err != nil {
			return fmt.Errorf("identity of the project: %w", err)
		}
	}
	if p.Root != "" {
		if _, err := object.ParseID(p.Root); err != nil {
			return fmt.Errorf("identity of the project: root commit: %w", err)
		}
	}
	return nil
}
