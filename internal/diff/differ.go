package diff

import (
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Differ compares states of a store.
type Differ struct {
	*history.Store
	Unstored map[object.ID][]byte // contents that changes name and that the store does not hold
}

// Blob reads the contents of a file. It returns nil for a directory, a gitlink or nil.
func (r *Differ) Blob(e *object.Entry) ([]byte, error) {
	if text, ok := r.unstored(e); ok {
		return text, nil
	}
	return r.Store.Blob(e)
}

// BlobSize returns the size in bytes of what Blob reads.
func (r *Differ) BlobSize(e *object.Entry) (int64, error) {
	if text, ok := r.unstored(e); ok {
		return int64(len(text)), nil
	}
	return r.Store.BlobSize(e)
}

func (r *Differ) unstored(e *object.Entry) (text []byte, ok bool) {
	if e != nil {
		text, ok = r.Unstored[e.ID]
	}
	return text, ok
}
