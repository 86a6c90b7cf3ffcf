package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Pin is a name that was given to a checkpoint. A pinned checkpoint is never
// cleaned away.
type Pin = history.Pin

// Pin names a checkpoint. The name then stands wherever a hash does. Naming the same
// checkpoint again is no error; a name that another one has is ErrExists.
//
// A name is 1 to 200 bytes of UTF-8 without control characters. It must not begin
// with @, hold "..", or be 4 to 40 hexadecimal digits: those would be taken for
// something else. Names that differ in case, or in the composition of an accent,
// are different.
func (r *Repo) Pin(ctx context.Context, spec, name string) error {
	return r.store.Pin(ctx, spec, name)
}

// Unpin takes a name away. The checkpoint stays until it is cleaned away with its
// line.
func (r *Repo) Unpin(ctx context.Context, name string) error {
	return r.store.Unpin(ctx, name)
}

// Pins lists the names, sorted by their bytes. A pin that cannot be read is left
// out; one whose checkpoint cannot be read is listed.
func (r *Repo) Pins(ctx context.Context) ([]Pin, error) {
	return r.store.Pins(ctx)
}
