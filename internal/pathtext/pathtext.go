// Package pathtext carries paths of any bytes in JSON.
package pathtext

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Encode turns the bytes of a path into a text that every JSON implementation
// carries without loss. Valid UTF-8 stays as it is; a byte that is not part of
// valid UTF-8 becomes U+0000 followed by its two hex digits. No path holds a NUL,
// so the form is unambiguous.
func Encode(path string) string {
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

// Decode is the inverse of Encode.
func Decode(text string) (string, error) {
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

// Text is a path of any bytes. Its JSON form is the text that Encoded gives.
type Text string

// Encoded turns the bytes of the path into a text that every JSON implementation carries without
// loss. Valid UTF-8 stays as it is; a byte that is not part of valid UTF-8 becomes U+0000 followed
// by its two hex digits. No path holds a NUL, so the form is unambiguous. UnmarshalText is the
// inverse.
func (p Text) Encoded() string { return Encode(string(p)) }

// Quoted prints the path for people, as git does with core.quotePath off. A name with control
// characters, quotes or backslashes is put in double quotes, in C's notation: it stays on its line
// and its end is visible.
func (p Text) Quoted() string { return Quote(string(p)) }

// Place returns an absolute path of this system as Place prints it.
func (p Text) Place() string { return Place(string(p)) }

// MarshalText implements encoding.TextMarshaler.
func (p Text) MarshalText() ([]byte, error) { return []byte(Encode(string(p))), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Text) UnmarshalText(text []byte) error {
	path, err := Decode(string(text))
	*p = Text(path)
	return err
}

// Texts turns paths into their form for JSON.
func Texts(paths []string) []Text {
	out := make([]Text, len(paths))
	for i, p := range paths {
		out[i] = Text(p)
	}
	return out
}

// Plain is the inverse of Texts.
func Plain(texts []Text) []string {
	out := make([]string, len(texts))
	for i, p := range texts {
		out[i] = string(p)
	}
	return out
}
