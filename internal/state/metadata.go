package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// Checksum returns the SHA-256 of a text in hex.
func Checksum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// MetadataHeader is the extra commit header that holds a checkpoint's metadata.
const MetadataHeader = "cairn"

// Metadata holds the facts about a state that a git tree cannot hold. Permission bits are stored as
// the most common ones and the exceptions from them, so the header of a usual tree is a few dozen
// bytes.
type Metadata struct {
	Version int           `json:"v"`
	Perm    Permissions   `json:"perm"`
	Perms   PathPerms     `json:"perms,omitempty"`   // exceptions from Perm
	Empty   []Path        `json:"empty,omitempty"`   // directories without any name in them
	Bare    []Path        `json:"bare,omitempty"`    // directories with nothing captured below
	Skipped []Skipped     `json:"skipped,omitempty"` // present, not captured
	Secrets []Secret      `json:"secrets,omitempty"` // credentials that captures of the files found
	Ignore  IgnoreContext `json:"ignore,omitzero"`

	// Rules is nil in checkpoints of releases that did not record it. Their uncaptured rule files
	// are unknown.
	Rules *ruleRecord `json:"rules,omitempty"`

	// Git is the id of the record of the user's git repository, "" for none.
	Git string `json:"git,omitempty"`

	// Partial and Seen are set in a checkpoint that does not vouch for every path.
	Partial Extent `json:"partial,omitempty"`
	Seen    []Path `json:"seen,omitempty"` // read with everything below, whatever Skipped and Partial say of a directory above

	absent map[string]bool // see State.WithAbsent; never written
}

// Lists reports whether a path is among the directories that no tree can hold.
func (m *Metadata) Lists(path string) bool {
	return slices.Contains(m.Empty, Path(path)) || slices.Contains(m.Bare, Path(path))
}

// The versions of metadata. Partial checkpoints have the second, so that a release that does not
// know them refuses them and does not take them for whole ones.
const (
	MetadataVersion        = 1
	MetadataVersionPartial = 2
)

// Extent says for how much of the root a checkpoint vouches. "" is the whole root.
type Extent string

// The kinds of partial checkpoints.
const (
	ExtentTime  Extent = "time"  // what was read before the deadline; unread paths are skipped as "unread"
	ExtentPaths Extent = "paths" // the paths that Track was given
)

// Permissions are the most common permission bits of each kind of entry.
type Permissions struct {
	File Octal `json:"file"`
	Exec Octal `json:"exec"`
	Dir  Octal `json:"dir"`
}

// IgnoreContext holds the ignore rules that are not files of the tree, so that a later command can
// tell whether the state ignored a path.
type IgnoreContext struct {
	Sources  []RuleLines `json:"sources,omitempty"` // the texts, highest precedence first
	Parents  []RuleLines `json:"parents,omitempty"` // .gitignore texts of the directories above the root, outermost first
	Prefix   Path        `json:"prefix,omitempty"`  // the root as seen from the top of its repository, ending in '/'
	FoldCase bool        `json:"foldCase,omitempty"`
	Unknown  bool        `json:"unknown,omitempty"` // one of the files could not be read, so that no rule is sure
} // a rule file could not be read, so no rule is certain

// PathPerms maps paths to permission bits. It has its own JSON form: encoding/json writes map keys
// as they are, and a path may hold any bytes.
type PathPerms map[string]Octal

// MarshalJSON implements json.Marshaler.
func (p PathPerms) MarshalJSON() ([]byte, error) {
	texts := make(map[string]Octal, len(p))
	for path, perm := range p {
		texts[pathtext.Encode(path)] = perm
	}
	return json.Marshal(texts)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *PathPerms) UnmarshalJSON(data []byte) error {
	var texts map[string]Octal
	if err := json.Unmarshal(data, &texts); err != nil {
		return err
	}
	*p = make(PathPerms, len(texts))
	for text, perm := range texts {
		path, err := pathtext.Decode(text)
		if err != nil {
			return err
		}
		(*p)[path] = perm
	}
	return nil
}

// Octal holds permission bits. Its text form is octal, as in chmod(1).
type Octal uint16

// MarshalText implements encoding.TextMarshaler.
func (o Octal) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(o), 8), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Octal) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 8, 12)
	*o = Octal(v)
	return err
}

// Of returns the most common permission bits for a mode.
func (p Permissions) Of(mode object.Mode) Octal {
	switch mode {
	case object.Executable:
		return p.Exec
	case object.Dir:
		return p.Dir
	}
	return p.File
}

// PermOf returns the permission bits of a captured path.
func (m *Metadata) PermOf(path string, mode object.Mode) uint16 {
	if p, ok := m.Perms[path]; ok {
		return uint16(p)
	}
	return uint16(m.Perm.Of(mode))
}

// Encode returns the header's value: one line of JSON, the same for equal metadata.
func (m *Metadata) Encode() (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// DecodeMetadata is the inverse of Metadata.Encode. It refuses versions that it does not know.
func DecodeMetadata(value string) (*Metadata, error) {
	m := &Metadata{}
	if err := json.Unmarshal([]byte(value), m); err != nil {
		return nil, fmt.Errorf("%w: checkpoint metadata: %w", ErrCorrupt, err)
	}
	switch {
	case m.Version == MetadataVersion && m.Partial == "":
	case m.Version == MetadataVersionPartial && (m.Partial == ExtentTime || m.Partial == ExtentPaths):
	default:
		return nil, LaterRelease("checkpoint metadata of version %d", m.Version)
	}
	return m, nil
}
