package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Pin is a name for a checkpoint. A pinned checkpoint is never cleaned away.
type Pin = history.Pin

// Pin gives a checkpoint a name, which is then accepted like a hash. Giving the same checkpoint the
// same name again is no error. ErrExists means that another checkpoint has the name.
//
// A name is 1 to 200 bytes of UTF-8 without control characters. It must not begin with @, contain
// "..", or be 4 to 40 hexadecimal digits: such texts have other meanings. Names that differ in
// case, or in the composition of an accent, are different.
func (r *Repo) Pin(ctx context.Context, spec, name string) error {
	return r.store.Pin(ctx, spec, name)
}

// Unpin removes a name. The checkpoint stays until its line is cleaned away.
func (r *Repo) Unpin(ctx context.Context, name string) error {
	return r.store.Unpin(ctx, name)
}

// Pins lists the pins, sorted by the bytes of their names. A pin that cannot be read is left out. A
// pin whose checkpoint cannot be read is listed.
func (r *Repo) Pins(ctx context.Context) ([]Pin, error) {
	return r.store.Pins(ctx)
}
