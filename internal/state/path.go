package state

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// Path is a path of any bytes. Its JSON form is the text that its method Encoded gives.
type Path = pathtext.Text

// Paths is a list of paths of any bytes. Its JSON form is a list of texts as Path.Encoded gives
// them, never null.
type Paths = pathtext.List

// Patch lists the files that differ from a checkpoint, as absolute paths with '/'
// separators.
type Patch struct {
	Hash  string `json:"hash"`
	Files Paths  `json:"files"`
}

// Skipped is a path that is present but was not captured.
type Skipped struct {
	Path   Path   `json:"path"`   // from the root, '/'-separated
	Reason string `json:"reason"` // "too large", "unreadable", "special file", "unstable", "unsafe name", "sparse checkout", "denied", "unread", "ignored" (a hint or a submodule), "cairn store" or "secret"
	Size   int64  `json:"size"`   // in bytes, where it is known
}

// PolicyReasons are the reasons that come from a rule. Any other reason is a fault: the rules admit
// the path, and it could not be captured.
var PolicyReasons = []string{
	index.TooLarge.String(), index.Special.String(), index.Sparse.String(), index.Denied.String(), index.Ignored.String(),
	index.Store.String(), index.Secret.String(),
}

// Policy reports whether a rule left the path out, such as the size limit or the deny
// list.
func (s Skipped) Policy() bool { return slices.Contains(PolicyReasons, s.Reason) }
