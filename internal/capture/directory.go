package capture

import (
	"bytes"

	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// noteDirectory records which directory is captured, so that it is known after a rename. Call it with the
// lock held. A capture does without: where the record cannot be written, cairn adopt does the same by hand.
func (r *Capturer) noteDirectory() {
	now, ok := identity.DirectoryAt(r.Root)
	if !ok || now == r.directory {
		return
	}
	data, err := now.Encode()
	if err != nil {
		return
	}
	if before, err := r.DB.ReadPrivate(odb.PrivateWhere); err != nil || !bytes.Equal(before, data) {
		if err := r.DB.NotePrivate(odb.PrivateWhere, data); err != nil {
			r.Log.Warn("which directory this is was not noted", "error", err)
			return
		}
	}
	r.directory = now
}
