package purge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// purgedTree is a state without the purged paths.
type purgedTree struct {
	id      object.ID
	gone    []state.Skipped // the purged paths
	emptied []string        // directories without a captured path since
}

// object rewrites the object that a ref names.
func (p *purger) object(ctx context.Context, id object.ID) (object.ID, error) {
	kind, _, err := p.repo.DB.Stat(id)
	if err != nil {
		return id, err
	}
	switch kind {
	case object.Commit:
		return p.commit(ctx, id)
	case object.Tree:
		t, err := p.tree(ctx, id)
		if err != nil {
			return id, err
		}
		return t.id, nil
	case object.Tag:
		return id, errors.New("it is a tag object, behind which nothing can be rewritten")
	}
	return id, nil
}

// commit rewrites a commit after its parents and all commits that its headers name. An id is a
// hash, so a commit cannot name a later one.
func (p *purger) commit(ctx context.Context, id object.ID) (object.ID, error) {
	if now, ok := p.commits[id]; ok {
		return now, nil
	}
	if err := ctx.Err(); err != nil {
		return id, err
	}
	if rec := p.ends.Thinned(id); rec != nil {
		return p.record(ctx, id, rec)
	}
	kind, data, err := p.repo.DB.Read(id)
	if err != nil {
		return id, fmt.Errorf("checkpoint %s: %w", id, err)
	}
	if kind != object.Commit {
		return id, fmt.Errorf("%w: %s is a %s, not a checkpoint", state.ErrCorrupt, id, kind)
	}
	c, err := object.ParseCommit(data)
	if err != nil {
		return id, fmt.Errorf("checkpoint %s: %w: %w", id, state.ErrCorrupt, err)
	}
	ends := p.ends.Has(id, c.Parents)
	for i, parent := range c.Parents {
		if ends {
			break // the parents are cleaned away; only their ids are left, and these hold no contents
		}
		if c.Parents[i], err = p.commit(ctx, parent); err != nil {
			return id, err
		}
	}
	t, err := p.tree(ctx, c.Tree)
	if err != nil {
		return id, err
	}
	c.Tree = t.id
	meta := c.Header(state.MetadataHeader)
	if err := p.headers(ctx, c, t); err != nil {
		return id, fmt.Errorf("checkpoint %s: %w", id, err)
	}
	out, err := object.AppendCommit(nil, c)
	if err != nil {
		return id, err
	}
	now := id
	if string(out) != string(data) {
		if now, err = p.batch.Add(object.Commit, out); err != nil {
			return id, err
		}
	}
	if c.Header(state.MetadataHeader) != meta && c.Header(history.OperationHeader) == "" {
		p.partial = append(p.partial, now.String())
	}
	p.commits[id] = now
	return now, nil
}

// headers rewrites the metadata of a state, and the ids in the other headers.
func (p *purger) headers(ctx context.Context, c *object.CommitData, t *purgedTree) (err error) {
	for i := range c.Extra {
		h := &c.Extra[i]
		switch {
		case h.Key != state.MetadataHeader:
			h.Value, err = p.mentions(ctx, h.Value)
		default:
			h.Value, err = p.metadata(h.Value, t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mentions replaces the ids in a text that belong to rewritten commits or to the trees of their
// states.
func (p *purger) mentions(ctx context.Context, text string) (string, error) {
	return ReplaceIDs(text, func(id object.ID) (object.ID, error) {
		if t := p.trees[id]; t != nil {
			return t.id, nil
		}
		if kind, _, err := p.repo.DB.Stat(id); (err != nil || kind != object.Commit) && p.ends.Thinned(id) == nil {
			return id, nil
		}
		return p.commit(ctx, id)
	})
}

// tree rewrites the tree of a state.
func (p *purger) tree(ctx context.Context, id object.ID) (*purgedTree, error) {
	if t := p.trees[id]; t != nil {
		return t, nil
	}
	t := &purgedTree{id: id}
	edits := make(map[string]*object.Entry)
	for _, path := range p.paths {
		e, err := p.repo.EntryOrNil(id, path)
		if err != nil {
			return nil, err
		}
		if e == nil || p.only != nil && !p.only[e.ID] {
			continue
		}
		edits[path], p.found[path] = nil, true
		gone := state.Skipped{Path: state.Path(path), Reason: state.Purged}
		if e.Mode != object.Dir {
			if gone.Size, err = p.repo.BlobSize(e); errors.Is(err, odb.ErrNotFound) || errors.Is(err, state.ErrCorrupt) {
				err = nil // the contents are gone already
			}
		}
		if err == nil {
			err = p.note(ctx, *e)
		}
		if err != nil {
			return nil, err
		}
		t.gone = append(t.gone, gone)
	}
	if len(edits) > 0 {
		var err error
		if t.id, err = p.repo.EditTree(p.batch, id, edits); err != nil {
			return nil, err
		}
	}
	p.trees[id] = t
	return t, p.emptied(id, t)
}

// note records the contents to remove.
func (p *purger) note(ctx context.Context, e object.Entry) error {
	if e.Mode != object.Dir {
		p.blobs[e.ID] = true
		return ctx.Err()
	}
	entries, err := p.repo.ReadTree(e.ID)
	for i := range entries {
		if err == nil {
			err = p.note(ctx, entries[i])
		}
	}
	return err
}

// emptied finds the directories that the new tree no longer has. They exist on disk, with the
// purged paths in them.
func (p *purger) emptied(old object.ID, t *purgedTree) error {
	for _, gone := range t.gone {
		for dir, _ := index.Split(string(gone.Path)); dir != ""; dir, _ = index.Split(dir) {
			e, err := p.repo.TreeEntry(old, dir)
			if err != nil {
				return err
			}
			other, err := p.hasOther(e.ID, dir, t)
			if err != nil {
				return err
			}
			if other {
				break
			}
			if !slices.Contains(t.emptied, dir) {
				t.emptied = append(t.emptied, dir)
			}
		}
	}
	return nil
}

// hasOther reports whether a directory holds anything but the purged paths of a state.
func (p *purger) hasOther(tree object.ID, dir string, t *purgedTree) (bool, error) {
	entries, err := p.repo.ReadTree(tree)
	if err != nil {
		return false, err
	}
	for i := range entries {
		path := index.Join(dir, entries[i].Name)
		if slices.ContainsFunc(t.gone, func(s state.Skipped) bool { return string(s.Path) == path }) {
			continue
		}
		if entries[i].Mode != object.Dir {
			return true, nil
		}
		if other, err := p.hasOther(entries[i].ID, path, t); other || err != nil {
			return other, err
		}
	}
	return false, nil
}

// metadata rewrites the metadata of a state. It also removes the recorded text of a purged
// .gitignore.
func (p *purger) metadata(value string, t *purgedTree) (string, error) {
	m, err := state.DecodeMetadata(value)
	if err != nil && len(t.gone) == 0 {
		return value, nil // metadata that cannot be decoded is not known to hold the paths
	}
	if err != nil {
		return "", err
	}
	if p.only != nil && len(t.gone) == 0 {
		return value, nil
	}
	paths := p.purgedIn(t)
	scope := state.NewPathScope(paths)
	var texts []string
	if m.Rules, texts = m.Rules.WithoutPaths(scope); len(texts)+len(t.gone) == 0 {
		return value, nil
	}
	for _, path := range paths {
		if slices.ContainsFunc(texts, state.NewPathScope([]string{path}).Covers) {
			p.found[path] = true
		}
	}
	below := func(path state.Path) bool { return scope.Covers(string(path)) }
	m.Skipped = slices.DeleteFunc(m.Skipped, func(s state.Skipped) bool { return scope.Covers(string(s.Path)) })
	m.Secrets = slices.DeleteFunc(m.Secrets, func(s state.Secret) bool { return scope.Covers(string(s.Path)) })
	m.Skipped = append(m.Skipped, t.gone...)
	slices.SortFunc(m.Skipped, func(a, b state.Skipped) int { return cmp.Compare(a.Path, b.Path) })
	m.Empty = slices.DeleteFunc(m.Empty, below)
	m.Bare = slices.DeleteFunc(m.Bare, below)
	for _, dir := range t.emptied {
		if !slices.Contains(m.Bare, state.Path(dir)) {
			m.Bare = append(m.Bare, state.Path(dir))
		}
	}
	maps.DeleteFunc(m.Perms, func(path string, _ state.Octal) bool { return scope.Covers(path) })
	return m.Encode()
}

// purgedIn returns the purged paths of a state. When whole paths go, that is all of them: rules may be
// recorded of a .gitignore that no tree holds.
func (p *purger) purgedIn(t *purgedTree) []string {
	if p.only == nil {
		return p.paths
	}
	var paths []string
	for _, gone := range t.gone {
		paths = append(paths, string(gone.Path))
	}
	return paths
}
