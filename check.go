package cairn

import (
	"context"
	"errors"
)

// CheckOptions says how to check.
type CheckOptions struct {
	Fix   bool // repair what can be repaired without losing anything
	Quick bool // do not read the contents of objects
}

// Finding is one thing that is wrong with a store.
type Finding struct {
	Kind   string `json:"kind"`             // one word or two, as "pack", "ref", "permissions"
	Path   string `json:"path,omitempty"`   // of a file
	Ref    string `json:"ref,omitempty"`    // name
	ID     string `json:"id,omitempty"`     // of an object
	Text   string `json:"text"`             // what is wrong
	Repair string `json:"repair,omitempty"` // what would mend it; "" = nothing can
	Fixed  bool   `json:"fixed"`            // it has been mended
}

// Check looks at everything in the store and says what is wrong. A sound store gives
// none. With Fix, damage is put aside, never thrown away, and the findings say what
// was mended.
func (r *Repo) Check(ctx context.Context, opt CheckOptions) ([]Finding, error) {
	return nil, errors.ErrUnsupported
}
