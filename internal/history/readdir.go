package history

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

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
		list = append(list, DirEntry{Name: name, Mode: object.Dir, Perm: m.PermOf(path.Join(dir, name), object.Dir)})
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
			d.Perm = m.PermOf(path.Join(dir, e.Name), e.Mode)
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
