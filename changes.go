package cairn

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Changes lists the files that differ between two checkpoints, and the directories whose permission
// bits differ, ordered by the bytes of their paths. An empty from or to means the disk. Without paths,
// every path is compared. A path that one side did not capture although it was present is no
// change.
func (r *Repo) Changes(ctx context.Context, from, to string, paths ...string) ([]Change, error) {
	defer r.store.Trees.DropLarge()
	scope, err := r.store.ScopeOf(paths)
	if err != nil {
		return nil, err
	}
	a, err := r.capturer.StateOf(ctx, from)
	if err != nil {
		return nil, err
	}
	b, err := r.capturer.StateOf(ctx, to)
	if err != nil {
		return nil, err
	}
	return r.store.AllChanges(ctx, a, b, scope)
}

// CheckPaths returns an ErrNotFound for a path that is neither at one of some checkpoints nor on disk, most likely
// a typing error. Changes and Diff take such a path for one without differences. An empty spec means the disk. A
// path that a checkpoint may have lacked only because it was not captured counts as there.
func (r *Repo) CheckPaths(ctx context.Context, paths []string, specs ...string) error {
	defer r.store.Trees.DropLarge()
	scope, err := r.store.ScopeOf(paths)
	if err != nil || scope == nil {
		return err
	}
	var states []state.State
	for _, spec := range specs {
		if spec == "" {
			continue // CheckNamed looks at the disk
		}
		s, err := r.capturer.StateOf(ctx, spec)
		if err != nil {
			return err
		}
		states = append(states, s)
	}
	where := "at the checkpoint"
	if len(states) > 1 {
		where = "at one of the checkpoints"
	}
	return r.operator.CheckNamed(scope, where, states...)
}

// Patch lists the files that differ between two checkpoints as absolute paths. An empty to means
// the disk. The patch has the full id from as it was given; any other from is replaced by the hash
// of its tree.
func (r *Repo) Patch(ctx context.Context, from, to string) (Patch, error) {
	hash := from
	if _, err := object.ParseID(from); err != nil {
		c, err := r.store.Lookup(ctx, from)
		if err != nil {
			return Patch{}, err
		}
		from, hash = c.ID, c.Hash // both the list and the hash are about this checkpoint
	}
	list, err := r.Changes(ctx, from, to)
	if err != nil {
		return Patch{}, err
	}
	p := Patch{Hash: hash, Files: make([]string, len(list))}
	for i, c := range list {
		p.Files[i] = strings.TrimSuffix(filepath.ToSlash(r.store.Root), "/") + "/" + c.Path
	}
	return p, nil
}

// Path is a path of any bytes. Its JSON form is the text that its method Encoded gives: valid UTF-8
// stays as it is, and any other byte becomes U+0000 and two hex digits. Quoted prints it for people.
type Path = state.Path

// Paths is a list of paths of any bytes. Its JSON form is a list of texts as Path.Encoded gives
// them, never null.
type Paths = state.Paths
