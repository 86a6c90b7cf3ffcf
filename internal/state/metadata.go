package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

func Checksum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// MetadataHeader is the extra commit header that holds a checkpoint's metadata.
const MetadataHeader = "cairn"

// Metadata is what a git tree cannot hold. Permissions are kept as the common ones
// and the exceptions from them, so that the header of a usual tree is a few dozen
// bytes.
type Metadata struct {
	Version int           `json:"v"`
	Perm    Permissions   `json:"perm"`
	Perms   PathPerms     `json:"perms,omitempty"`   // where they are not the common ones
	Empty   []PathText    `json:"empty,omitempty"`   // directories without any name in them
	Bare    []PathText    `json:"bare,omitempty"`    // directories with nothing captured below
	Skipped []Skipped     `json:"skipped,omitempty"` // present, not captured
	Ignore  IgnoreContext `json:"ignore,omitzero"`

	// Rules is nil in a checkpoint of a release that did not record them: nothing is known
	// of uncaptured rule files then.
	Rules *ruleRecord `json:"rules,omitempty"`

	// Partial and Seen are those of checkpoints that do not vouch for everything.
	Partial Partial    `json:"partial,omitempty"`
	Seen    []PathText `json:"seen,omitempty"` // looked at, with all below, whatever Skipped and Partial say of what is above
}

// lists reports whether a path is a directory that is listed because no tree holds it.
func (m *Metadata) lists(path string) bool {
	return slices.Contains(m.Empty, PathText(path)) || slices.Contains(m.Bare, PathText(path))
}

// The versions of metadata. The second is that of partial checkpoints: whoever does not
// know them must not take them for whole ones.
const (
	MetadataVersion        = 1
	MetadataVersionPartial = 2
)

// Partial says why a checkpoint does not vouch for the whole root; "" if it does.
type Partial string

// The kinds of partial checkpoints.
const (
	PartialTime  Partial = "time"  // the deadline passed; what was not read is skipped as "unread"
	PartialPaths Partial = "paths" // only some paths were looked at
)

// Permissions are the most common permission bits of each kind of entry.
type Permissions struct {
	File Octal `json:"file"`
	Exec Octal `json:"exec"`
	Dir  Octal `json:"dir"`
}

// IgnoreContext holds the ignore rules that are not files of the tree itself, so
// that "was it ignored then?" can be answered later.
type IgnoreContext struct {
	Sources  []RuleLines `json:"sources,omitempty"` // the texts, highest precedence first
	Parents  []RuleLines `json:"parents,omitempty"` // .gitignore texts of the directories above the root, outermost first
	Prefix   PathText    `json:"prefix,omitempty"`  // the root as seen from the top of its repository, ending in '/'
	FoldCase bool        `json:"foldCase,omitempty"`
	Unknown  bool        `json:"unknown,omitempty"` // one of the files could not be read, so that no rule is sure
}

// PathPerms has its own JSON form because encoding/json takes the keys of a map as
// they are, and paths may hold any bytes.
type PathPerms map[string]Octal

func (p PathPerms) MarshalJSON() ([]byte, error) {
	texts := make(map[string]Octal, len(p))
	for path, perm := range p {
		texts[EncodePath(path)] = perm
	}
	return json.Marshal(texts)
}

func (p *PathPerms) UnmarshalJSON(data []byte) error {
	var texts map[string]Octal
	if err := json.Unmarshal(data, &texts); err != nil {
		return err
	}
	*p = make(PathPerms, len(texts))
	for text, perm := range texts {
		path, err := DecodePath(text)
		if err != nil {
			return err
		}
		(*p)[path] = perm
	}
	return nil
}

// Octal is permission bits, written as in chmod(1).
type Octal uint16

func (o Octal) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(o), 8), nil }

func (o *Octal) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 8, 12)
	*o = Octal(v)
	return err
}

func (m *Metadata) Usual() index.Perms {
	return index.Perms{File: uint16(m.Perm.File), Exec: uint16(m.Perm.Exec), Dir: uint16(m.Perm.Dir)}
}

func (p Permissions) Of(mode object.Mode) Octal {
	switch mode {
	case object.Executable:
		return p.Exec
	case object.Dir:
		return p.Dir
	}
	return p.File
}

// PermOf returns the permission bits that a captured path had.
func (m *Metadata) PermOf(path string, mode object.Mode) uint16 {
	if p, ok := m.Perms[path]; ok {
		return uint16(p)
	}
	return uint16(m.Perm.Of(mode))
}

// Encode gives the header's value: one line of JSON, the same for equal metadata.
func (m *Metadata) Encode() (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

func DecodeMetadata(value string) (*Metadata, error) {
	m := &Metadata{}
	if err := json.Unmarshal([]byte(value), m); err != nil {
		return nil, fmt.Errorf("%w: checkpoint metadata: %w", ErrCorrupt, err)
	}
	switch {
	case m.Version == MetadataVersion && m.Partial == "":
	case m.Version == MetadataVersionPartial && (m.Partial == PartialTime || m.Partial == PartialPaths):
	default:
		return nil, fmt.Errorf("%w: checkpoint metadata of version %d: a later release of cairn made it", ErrStore, m.Version)
	}
	return m, nil
}
