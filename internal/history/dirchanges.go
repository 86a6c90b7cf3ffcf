package history

import (
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// ChangedDirs returns the directories that hold nothing captured on exactly one side, or whose
// permission bits differ.
func (r *Store) ChangedDirs(a, b state.State) (map[string]bool, error) {
	dirs, err := r.differingDirs(a, b)
	if err != nil {
		return nil, err
	}
	chmodded, err := r.ChmoddedDirs(a, b)
	for _, dir := range chmodded {
		dirs[dir] = true
	}
	return dirs, err
}

// ChmoddedDirs lists the directories that exist on both sides with different permission bits,
// ordered by path. Metadata holds exceptions from the common bits. If the common bits are equal,
// only directories with an exception are compared. Otherwise every directory is compared.
func (r *Store) ChmoddedDirs(a, b state.State) ([]string, error) {
	candidates := state.DifferingPerms(a.Meta, b.Meta)
	if a.Meta.Perm.Dir != b.Meta.Perm.Dir {
		if err := r.walkDirs("", b.Tree, func(dir string) { candidates[dir] = true }); err != nil {
			return nil, err
		}
		for _, list := range [][]state.Path{b.Meta.Empty, b.Meta.Bare} {
			for _, dir := range list {
				candidates[string(dir)] = true
			}
		}
	}
	var chmodded []string
	before, after := r.LookupDirs(a), r.LookupDirs(b)
	inA, inB := state.NewCoverage(a.Meta), state.NewCoverage(b.Meta)
	for _, dir := range slices.Sorted(maps.Keys(candidates)) {
		if a.Meta.PermOf(dir, object.Dir) == b.Meta.PermOf(dir, object.Dir) || inA.Unread(dir) || inB.Unread(dir) {
			continue
		}
		old, err := before.At(dir)
		if err != nil {
			return nil, err
		}
		now, err := after.At(dir)
		if err != nil {
			return nil, err
		}
		if old.There && now.There {
			chmodded = append(chmodded, dir)
		}
	}
	return chmodded, nil
}

// Chmod returns the change of a directory's permission bits. A directory has no blob.
func Chmod(dir string, old, now uint16) Change {
	return Change{Path: dir, Status: Modified, OldMode: uint32(object.Dir), NewMode: uint32(object.Dir), OldPerm: old, NewPerm: now}
}

// isDir reports whether the change is a directory's change of permission bits.
func (c *Change) isDir() bool { return object.Mode(c.OldMode) == object.Dir }

// walkDirs visits every directory of a tree.
func (r *Store) walkDirs(dir string, tree object.ID, visit func(dir string)) error {
	entries, err := r.ReadTree(tree)
	if err != nil {
		return err
	}
	for i := range entries {
		if entries[i].Mode != object.Dir {
			continue
		}
		path := index.Join(dir, entries[i].Name)
		visit(path)
		if err := r.walkDirs(path, entries[i].ID, visit); err != nil {
			return err
		}
	}
	return nil
}
