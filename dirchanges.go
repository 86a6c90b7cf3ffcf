package cairn

import (
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// changedDirs returns the directories that hold nothing captured on one side only, or whose
// bits differ.
func (r *Repo) changedDirs(a, b state) (map[string]bool, error) {
	dirs, err := r.differingDirs(a, b)
	if err != nil {
		return nil, err
	}
	chmodded, err := r.chmoddedDirs(a, b)
	for _, dir := range chmodded {
		dirs[dir] = true
	}
	return dirs, err
}

// chmoddedDirs lists the directories of both sides whose bits differ, ordered by path.
// Metadata hold exceptions from the common bits. Where the common bits are equal only an
// exception can differ; otherwise all directories are compared.
func (r *Repo) chmoddedDirs(a, b state) ([]string, error) {
	candidates := differingPerms(a.meta, b.meta)
	if a.meta.Perm.Dir != b.meta.Perm.Dir {
		if err := r.walkDirs("", b.tree, func(dir string) { candidates[dir] = true }); err != nil {
			return nil, err
		}
		for _, list := range [][]pathText{b.meta.Empty, b.meta.Bare} {
			for _, dir := range list {
				candidates[string(dir)] = true
			}
		}
	}
	var chmodded []string
	before, after := r.lookupDirs(a), r.lookupDirs(b)
	inA, inB := newCoverage(a.meta), newCoverage(b.meta)
	for _, dir := range slices.Sorted(maps.Keys(candidates)) {
		if a.meta.perm(dir, object.Dir) == b.meta.perm(dir, object.Dir) || inA.unread(dir) || inB.unread(dir) {
			continue
		}
		old, err := before.at(dir)
		if err != nil {
			return nil, err
		}
		now, err := after.at(dir)
		if err != nil {
			return nil, err
		}
		if old.there && now.there {
			chmodded = append(chmodded, dir)
		}
	}
	return chmodded, nil
}

// chmod is the change of a directory's bits. A directory has no blob.
func chmod(dir string, old, now uint16) Change {
	return Change{Path: dir, Status: Modified, OldMode: uint32(object.Dir), NewMode: uint32(object.Dir), OldPerm: old, NewPerm: now}
}

// isDir reports whether the change is that of a directory's bits.
func (c *Change) isDir() bool { return object.Mode(c.OldMode) == object.Dir }

// walkDirs visits the directories of a tree.
func (r *Repo) walkDirs(dir string, tree object.ID, visit func(dir string)) error {
	entries, err := r.readTree(tree)
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
