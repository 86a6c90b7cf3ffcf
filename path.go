package cairn

import "github.com/seed-fb9cbc17/cairn/internal/state"

// EncodePath turns the bytes of a path into a text that every JSON implementation
// carries without loss. Valid UTF-8 stays as it is; a byte that is not part of
// valid UTF-8 becomes U+0000 followed by its two hex digits. No path holds a NUL,
// so the form is unambiguous.
func EncodePath(path string) string { return state.EncodePath(path) }

// DecodePath is the inverse of EncodePath.
func DecodePath(text string) (string, error) { return state.DecodePath(text) }

// QuotePath prints a path for people, as git does with core.quotePath off. A name with control
// characters, quotes or backslashes is put in double quotes, in C's notation: it stays on its line
// and its end is visible.
func QuotePath(name string) string { return state.QuotePath(name) }

// Path is a path of any bytes. Its JSON form is the text that EncodePath makes.
type Path = state.Path

// Paths is a list of paths of any bytes. Its JSON form is a list of texts as EncodePath makes them,
// never null.
type Paths = state.Paths
