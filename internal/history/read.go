package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	pathpkg "path"
	"slices"
	"strings"

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
		return 0, nil, state.NotFound("%s is a directory at the checkpoint, not a file", cmp.Or(rel, "the root"))
	}
	size, rc, err = Source{r.DB}.Open(e.ID)
	if err != nil {
		return 0, nil, fmt.Errorf("%s at %s: %w", rel, spec, err)
	}
	return size, rc, nil
}

// DirEntry is one name in a directory of a checkpoint.
type DirEntry struct {
	Name string
	Mode object.Mode
	Perm uint16    // permission bits, 0 for a symlink
	ID   object.ID // of the blob or the tree; zero for a directory that no tree holds
	Size int64     // of a blob, in bytes
}

// ReadDir lists a directory of a checkpoint ("" = the root), ordered by the bytes of the names.
// Directories with nothing captured below are listed, too. The error wraps state.ErrNotFound for a
// path that is no directory there.
func (r *Store) ReadDir(c *Checkpoint, dir string) ([]DirEntry, error) {
	m, err := MetadataOf(c)
	if err != nil {
		return nil, err
	}
	list, err := r.treeDir(c, m, dir)
	if err != nil {
		return nil, err
	}
	bare := bareDirs(m, dir)
	if list == nil && len(bare) == 0 && dir != "" && !slices.Contains(m.Empty, state.Path(dir)) && !slices.Contains(m.Bare, state.Path(dir)) {
		return nil, state.NotFound("%s is no directory at %s", dir, c.ID)
	}
	for _, e := range list {
		delete(bare, e.Name)
	}
	for name := range bare {
		list = append(list, DirEntry{Name: name, Mode: object.Dir, Perm: m.PermOf(pathpkg.Join(dir, name), object.Dir)})
	}
	slices.SortFunc(list, func(a, b DirEntry) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// treeDir lists what a tree holds of a directory. It returns nil if no tree is there.
func (r *Store) treeDir(c *Checkpoint, m *state.Metadata, dir string) ([]DirEntry, error) {
	e, err := r.EntryOrNil(c.tree, dir)
	if err != nil || e == nil || e.Mode != object.Dir {
		return nil, err
	}
	entries, err := r.ReadTree(e.ID)
	if err != nil {
		return nil, err
	}
	list := make([]DirEntry, 0, len(entries))
	for _, e := range entries {
		size, err := r.BlobSize(&e)
		if err != nil {
			return nil, err
		}
		d := DirEntry{Name: e.Name, Mode: e.Mode, ID: e.ID, Size: size}
		if e.Mode != object.Symlink {
			d.Perm = m.PermOf(pathpkg.Join(dir, e.Name), e.Mode)
		}
		list = append(list, d)
	}
	return list, nil
}

// bareDirs returns the names in a directory that lead to directories which no tree holds.
func bareDirs(m *state.Metadata, dir string) map[string]bool {
	names := make(map[string]bool)
	for _, paths := range [][]state.Path{m.Empty, m.Bare} {
		for _, p := range paths {
			rest, ok := string(p), true
			if dir != "" {
				rest, ok = strings.CutPrefix(rest, dir+"/")
			}
			if name, _, _ := strings.Cut(rest, "/"); ok && name != "" {
				names[name] = true
			}
		}
	}
	return names
}
