package cairn

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// EncodePath turns the bytes of a path into a text that every JSON implementation
// carries without loss. Valid UTF-8 stays as it is; a byte that is not part of
// valid UTF-8 becomes U+0000 followed by its two hex digits. No path holds a NUL,
// so the form is unambiguous.
func EncodePath(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRuneInString(path[i:])
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "\x00%02x", path[i])
		} else {
			b.WriteString(path[i : i+size])
		}
		i += size
	}
	return b.String()
}

// DecodePath is the inverse of EncodePath.
func DecodePath(text string) (string, error) {
	if strings.IndexByte(text, 0) < 0 {
		return text, nil
	}
	var b strings.Builder
	for {
		plain, rest, found := strings.Cut(text, "\x00")
		b.WriteString(plain)
		if !found {
			return b.String(), nil
		}
		if len(rest) < 2 {
			return "", fmt.Errorf("path %q ends inside an escaped byte", text)
		}
		raw, err := hex.DecodeString(rest[:2])
		if err != nil || raw[0] < 0x80 {
			return "", fmt.Errorf("path %q has the bad escape %q", text, rest[:2])
		}
		b.Write(raw)
		text = rest[2:]
	}
}

// pathText is a path inside a JSON form.
type pathText string

func (p pathText) MarshalText() ([]byte, error) { return []byte(EncodePath(string(p))), nil }

func (p *pathText) UnmarshalText(text []byte) error {
	path, err := DecodePath(string(text))
	*p = pathText(path)
	return err
}

func pathTexts(paths []string) []pathText {
	out := make([]pathText, len(paths))
	for i, p := range paths {
		out[i] = pathText(p)
	}
	return out
}

func plainPaths(texts []pathText) []string {
	out := make([]string, len(texts))
	for i, p := range texts {
		out[i] = string(p)
	}
	return out
}

// QuotePath prints a path for people as git does with core.quotePath off: a name
// with control characters, quotes or backslashes goes into double quotes, in C's
// notation, so that it stays on its line and can be told from its neighbours.
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
// separators. In JSON it is {"hash","files"}, paths encoded by EncodePath.
type Patch struct {
	Hash  string
	Files []string
}

type patchJSON struct {
	Hash  string     `json:"hash"`
	Files []pathText `json:"files"`
}

// MarshalJSON implements json.Marshaler.
func (p Patch) MarshalJSON() ([]byte, error) {
	return json.Marshal(patchJSON{p.Hash, pathTexts(p.Files)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Patch) UnmarshalJSON(data []byte) error {
	var j patchJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	p.Hash, p.Files = j.Hash, plainPaths(j.Files)
	return nil
}

// Skipped is a path that is present but was not captured.
type Skipped struct {
	Path   string // from the root, '/'-separated
	Reason string // "too large", "unreadable", "special file", "unstable", "unsafe name", "sparse checkout", "denied", "unread" or "ignored" (a hint)
	Size   int64  // in bytes, where it is known
}

type skippedJSON struct {
	Path   pathText `json:"path"`
	Reason string   `json:"reason"`
	Size   int64    `json:"size"`
}

// MarshalJSON implements json.Marshaler.
func (s Skipped) MarshalJSON() ([]byte, error) {
	return json.Marshal(skippedJSON{pathText(s.Path), s.Reason, s.Size})
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
