package cairn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

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

// describe collects the metadata of the state that an index holds, as far as it is
// vouched for.
func describe(x *index.Index, ig IgnoreContext, beside *RulesBeside, c *Claims) *Metadata {
	usual := usualOf(x)
	m := &Metadata{
		Version: MetadataVersion, Perms: make(PathPerms), Ignore: ig,
		Perm: Permissions{Octal(usual.File), Octal(usual.Exec), Octal(usual.Dir)},
	}
	d := description{Metadata: m, index: x, claims: c, odd: leadTo(x.Odd(usual))}
	d.collect("")
	m.Rules = beside.Record(d.rules)
	if c == nil {
		return m
	}
	m.Version, m.Partial = MetadataVersionPartial, c.Kind
	m.Skipped = append(m.Skipped, c.Skipped...)
	slices.SortFunc(m.Skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	m.Seen = pathtext.Texts(slices.Sorted(maps.Keys(c.Seen)))
	return m
}

func usualOf(x *index.Index) index.Perms {
	return x.Usual(index.Perms{File: 0o644, Exec: 0o755, Dir: 0o755})
}

func (m *Metadata) Usual() index.Perms {
	return index.Perms{File: uint16(m.Perm.File), Exec: uint16(m.Perm.Exec), Dir: uint16(m.Perm.Dir)}
}

// leadTo returns the directories and all those above them.
func leadTo(dirs map[string]struct{}) map[string]struct{} {
	all := make(map[string]struct{}, 2*len(dirs))
	for dir := range dirs {
		for {
			if _, done := all[dir]; done {
				break
			}
			all[dir] = struct{}{}
			dir, _ = index.Split(dir)
		}
	}
	return all
}

// description is metadata while they are collected.
type description struct {
	*Metadata
	index  *index.Index
	claims *Claims
	odd    map[string]struct{} // in no other directory is there anything to say
	rules  []DirOfRules
}

func (m *description) collect(dir string) {
	d := m.index.Dirs[dir]
	if _, ok := m.odd[dir]; !ok || d == nil {
		return
	}
	for rec := range d.All {
		mode, skip := rec.Mode(), rec.Skip()
		if m.claims == nil && mode.IsFile() && skip == index.Captured && Octal(rec.Perm()) == m.Perm.Of(mode) {
			continue // by far the most common case, and it needs no path
		}
		path := index.Join(dir, string(rec.Name()))
		if HasUncapturedRules(rec) {
			m.rules = append(m.rules, DirOfRules{dir, rec.ID()})
		}
		if skip == index.Rules {
			continue
		}
		switch {
		case !m.claims.Covers(path):
			if mode == object.Dir {
				m.collect(path)
			}
			continue
		case skip != index.Captured:
			m.Skipped = append(m.Skipped, Skipped{path, skip.String(), rec.Stat().Size})
			continue
		case mode == object.Symlink:
			continue
		case mode == object.Dir && rec.ID().IsZero() && rec.Empty():
			m.Empty = append(m.Empty, PathText(path))
		case mode == object.Dir && rec.ID().IsZero():
			m.Bare = append(m.Bare, PathText(path))
		}
		if Octal(rec.Perm()) != m.Perm.Of(mode) {
			m.Perms[path] = Octal(rec.Perm())
		}
		if mode == object.Dir {
			m.collect(path)
		}
	}
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
