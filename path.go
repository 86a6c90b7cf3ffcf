package cairn

import "github.com/seed-fb9cbc17/cairn/internal/state"

// Path is a path of any bytes. Its JSON form is the text that its method Encoded gives: valid UTF-8
// stays as it is, and any other byte becomes U+0000 and two hex digits. Quoted prints it for people.
type Path = state.Path

// Paths is a list of paths of any bytes. Its JSON form is a list of texts as Path.Encoded gives
// them, never null.
type Paths = state.Paths
