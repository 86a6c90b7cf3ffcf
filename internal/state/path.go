package state

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// EncodePath turns the bytes of a path into a text that every JSON implementation
// carries without loss. Valid UTF-8 stays as it is; a byte that is not part of
// valid UTF-8 becomes U+0000 followed by its two hex digits. No path holds a NUL,
// so the form is unambiguous.
func EncodePath(path string) string { return pathtext.Encode(path) }

// DecodePath is the inverse of EncodePath.
func DecodePath(text string) (string, error) { return pathtext.Decode(text) }

// Path is a path of any bytes. Its JSON form is the text that EncodePath makes.
type Path = pathtext.Text

// Paths is a list of paths of any bytes. Its JSON form is a list of texts as EncodePath makes them,
// never null.
type Paths = pathtext.List

// QuotePath prints a path for people, as git does with core.quotePath off. A name with control
// characters, quotes or backslashes is put in double quotes, in C's notation: it stays on its line
// and its end is visible.
func QuotePath(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '"' || r == '\\' }) < 0 {
		return name
	}
	const letters = "abtnvfr"
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c >= '\a' && c <= '\r':
			b.WriteByte('\\')
			b.WriteByte(letters[c-'\a'])
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Patch lists the files that differ from a checkpoint, as absolute paths with '/'
// separators.
type Patch struct {
	Hash  string `json:"hash"`
	Files Paths  `json:"files"`
}

// Skipped is a path that is present but was not captured.
type Skipped struct {
	Path   string // from the root, '/'-separated
	Reason string // "too large", "unreadable", "special file", "unstable", "unsafe name", "sparse checkout", "denied", "unread", "ignored" (a hint) or "cairn store"
	Size   int64  // in bytes, where it is known
}

// PolicyReasons are the reasons that come from a rule. Any other reason is a fault: the rules admit
// the path, and it could not be captured.
var PolicyReasons = []string{
	index.TooLarge.String(), index.Special.String(), index.Sparse.String(), index.Denied.String(), index.Ignored.String(),
	index.Store.String(),
}

// Policy reports whether a rule left the path out, such as the size limit or the deny
// list.
func (s Skipped) Policy() bool { return slices.Contains(PolicyReasons, s.Reason) }

type skippedJSON struct {
	Path   Path   `json:"path"`
	Reason string `json:"reason"`
	Size   int64  `json:"size"`
}

// MarshalJSON implements json.Marshaler.
func (s Skipped) MarshalJSON() ([]byte, error) {
	return json.Marshal(skippedJSON{Path(s.Path), s.Reason, s.Size})
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Skipped) UnmarshalJSON(data []byte) error {
	var j skippedJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	s.Path, s.Reason, s.Size = string(j.Path), j.Reason, j.Size
	return nil
}
