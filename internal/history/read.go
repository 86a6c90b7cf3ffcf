package history

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// TreeEntry is one path at a checkpoint.
type TreeEntry struct {
	Path string // from the root, '/'-separated
	Mode uint32 // git's mode
	Perm uint16 // permission bits
	ID   string // of the blob
	Size int64  // in bytes
}

type treeEntryJSON struct {
	Path state.Path  `json:"path"`
	Mode string      `json:"mode"`
	Perm state.Octal `json:"perm"`
	ID   string      `json:"id"`
	Size int64       `json:"size"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *TreeEntry) UnmarshalJSON(data []byte) error {
	var j treeEntryJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	mode, err := parseMode(j.Mode)
	*e = TreeEntry{string(j.Path), mode, uint16(j.Perm), j.ID, j.Size}
	return err
}

// MarshalJSON implements json.Marshaler.
func (e TreeEntry) MarshalJSON() ([]byte, error) {
	return json.Marshal(treeEntryJSON{state.Path(e.Path), object.Mode(e.Mode).String(), state.Octal(e.Perm), e.ID, e.Size})
}

// List yields the files and symlinks of a checkpoint below a path ("" = all), ordered by the bytes
// of their paths. For a path that is a file it yields the file.
func (r *Store) List(ctx context.Context, spec, path string) iter.Seq2[TreeEntry, error] {
	return func(yield func(TreeEntry, error) bool) {
		cp, e, rel, err := r.at(ctx, spec, path)
		if err != nil {
			yield(TreeEntry{}, err)
			return
		}
		m, err := MetadataOf(cp)
		if err != nil {
			yield(TreeEntry{}, err)
			return
		}
		if e.Mode != object.Dir {
			yield(r.listed(rel, e, m))
			return
		}
		for c, err := range r.WalkTree(ctx, cp.tree, state.NewPathScope([]string{rel})) {
			if err != nil {
				yield(TreeEntry{}, err)
				return
			}
			if out, err := r.listed(c.Path, *c.New, m); !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// listed returns the TreeEntry of a path.
func (r *Store) listed(path string, e object.Entry, m *state.Metadata) (TreeEntry, error) {
	size, err := r.BlobSize(&e)
	out := TreeEntry{Path: path, Mode: uint32(e.Mode), ID: e.ID.String(), Size: size}
	if e.Mode != object.Symlink {
		out.Perm = m.PermOf(path, e.Mode)
	}
	return out, err
}

// at finds a path at a checkpoint and returns it relative to the root, too.
func (r *Store) at(ctx context.Context, spec, path string) (*Checkpoint, object.Entry, string, error) {
	cp, err := r.Lookup(ctx, spec)
	if err != nil {
		return nil, object.Entry{}, "", err
	}
	rel := ""
	if path != "" {
		if rel, err = r.Rel(path); err != nil {
			return nil, object.Entry{}, "", err
		}
	}
	e, err := r.TreeEntry(cp.tree, rel)
	return cp, e, rel, err
}

// Exists reports whether a checkpoint has a path: a file, a symlink or a directory with captured
// files below it.
func (r *Store) Exists(ctx context.Context, spec, path string) (bool, error) {
	cp, err := r.Lookup(ctx, spec)
	if err != nil {
		return false, err
	}
	rel, err := r.Rel(path)
	if err != nil {
		return false, err
	}
	e, err := r.EntryOrNil(cp.tree, rel)
	return e != nil, err
}

// OpenFile opens a file as it was at a checkpoint. The content of a symlink is its target. The
// reader fails at its end if the bytes do not match the recorded id.
func (r *Store) OpenFile(ctx context.Context, spec, path string) (size int64, rc io.ReadCloser, err error) {
	_, e, rel, err := r.at(ctx, spec, path)
	if err != nil {
		return 0, nil, err
	}
	if e.Mode == object.Dir {
		return 0, nil, state.NotFound("%s is a directory at the checkpoint, not a file", rel)
	}
	size, rc, err = Source{r.DB}.Open(e.ID)
	if err != nil {
		return 0, nil, fmt.Errorf("%s at %s: %w", rel, spec, err)
	}
	return size, rc, nil
}
