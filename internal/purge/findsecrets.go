package purge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/outside"
	"github.com/seed-fb9cbc17/cairn/internal/secretrules"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// HistorySecret is a credential in contents of a path that the history holds. The credential itself is in
// no answer.
type HistorySecret struct {
	Path        state.Path `json:"path"`           // from the root, '/'-separated; absolute where it lies outside the root
	Rule        string     `json:"rule"`           // id of the rule that found it
	Line        int        `json:"line,omitempty"` // in the newest contents that have it; 0 = the file as a whole
	Checkpoints int        `json:"checkpoints"`    // that hold it; operations and records of sessions count, too
}

// finder looks for credentials in all contents of a history. Trees are looked at once for each directory
// in which they lie, and contents once for each path.
type finder struct {
	repo  *Rewriter
	rules *secretrules.Rules
	scope *state.PathScope // nil = everything

	list    object.ID   // of thinned checkpoints: it holds no contents of files
	roots   []object.ID // trees of commits, the newest of a line first
	seen    map[object.ID]bool
	visited map[placed]bool
	found   map[placed][]secretrules.Finding
	away    map[placed]int // of found: outside the root, with the number of records that hold it
}

// placed is an object at a path.
type placed struct {
	id   object.ID
	path string
}

// findSecrets looks at everything that refs lead to, without records of the user's git repository.
func (r *Rewriter) findSecrets(ctx context.Context, scope *state.PathScope) (*finder, error) {
	rules, err := r.SecretRules()
	if err != nil {
		return nil, err
	}
	f := &finder{
		repo: r, rules: rules, scope: scope, seen: make(map[object.ID]bool),
		visited: make(map[placed]bool), found: make(map[placed][]secretrules.Finding), away: make(map[placed]int),
	}
	f.list = r.ThinnedTable().ID()
	refs, err := r.DB.Refs("refs/")
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if strings.HasPrefix(ref.Name, history.RefGit) || strings.HasPrefix(ref.Name, history.RefOutside) {
			continue
		}
		if ref.Err != nil {
			return nil, fmt.Errorf("ref %s: %w (cairn doctor --fix first)", ref.Name, ref.Err)
		}
		if err := f.collect(ctx, ref.ID); err != nil {
			return nil, fmt.Errorf("%s: %w", ref.Name, withHint(err))
		}
	}
	told := r.Opt.Told()
	for i, root := range f.roots {
		if told != nil {
			told("look", i, len(f.roots), 0)
		}
		if err := f.tree(ctx, root, ""); err != nil {
			return nil, err
		}
	}
	if scope == nil {
		err = f.outside()
	}
	return f, err
}

// outside looks at the files outside the root that records of steps and operations hold.
func (f *finder) outside() error {
	records, err := outside.Files(f.repo.Store)
	if err != nil {
		return err
	}
	for _, files := range records {
		counted := make(map[placed]bool)
		for i := range files {
			id, err := object.ParseID(files[i].ID)
			if err != nil {
				return fmt.Errorf("%w: record of %s: %w", state.ErrCorrupt, files[i].Path.Quoted(), err)
			}
			at := placed{id, string(files[i].Path)}
			if counted[at] {
				continue
			}
			counted[at] = true
			if err := f.blob(at); err != nil {
				return err
			}
			if f.found[at] != nil {
				f.away[at]++
			}
		}
	}
	return nil
}

// collect adds the trees of a commit and of all commits before it.
func (f *finder) collect(ctx context.Context, id object.ID) error {
	for next := []object.ID{id}; len(next) > 0; {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		if f.seen[id] {
			continue
		}
		f.seen[id] = true
		if err := ctx.Err(); err != nil {
			return err
		}
		kind, _, err := f.repo.DB.Stat(id)
		if err != nil {
			return err
		}
		switch kind {
		case object.Tree:
			f.roots = append(f.roots, id)
		case object.Commit:
			_, data, err := f.repo.DB.Read(id)
			if err != nil {
				return err
			}
			c, err := object.ParseCommit(data)
			if err != nil {
				return fmt.Errorf("checkpoint %s: %w: %w", id, state.ErrCorrupt, err)
			}
			if id != f.list {
				f.roots = append(f.roots, c.Tree)
			}
			if !f.repo.DB.EndsLine(id) {
				next = append(next, c.Parents...)
			}
		}
	}
	return nil
}

// tree looks at the contents in a tree that lies in a directory.
func (f *finder) tree(ctx context.Context, id object.ID, dir string) error {
	if f.visited[placed{id, dir}] {
		return ctx.Err()
	}
	f.visited[placed{id, dir}] = true
	entries, err := f.repo.ReadTree(id)
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		path := index.Join(dir, e.Name)
		switch {
		case e.Mode == object.Dir:
			err = f.tree(ctx, e.ID, path)
		case e.Mode.IsFile() && (f.scope == nil || f.scope.Covers(path)):
			err = f.blob(placed{e.ID, path})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) blob(at placed) error {
	if f.visited[at] {
		return nil
	}
	f.visited[at] = true
	_, _, r, err := f.repo.DB.Open(at.id)
	if errors.Is(err, odb.ErrNotFound) {
		return nil // lost, and doctor says so
	}
	if err != nil {
		return fmt.Errorf("%s: %w", at.path, err)
	}
	defer r.Close()
	list, err := f.rules.FindIn(at.path, r)
	if err != nil {
		return fmt.Errorf("%s: %w", at.path, err)
	}
	if len(list) > 0 {
		f.found[at] = list
	}
	return nil
}

// listed counts the checkpoints that hold each finding. One of a path and a rule stands for all contents
// of the path.
func (f *finder) listed() ([]HistorySecret, error) {
	type key struct{ path, rule string }
	counts := make(map[key]*HistorySecret)
	count := func(at placed, found secretrules.Finding, n int) {
		k := key{at.path, found.Rule}
		if counts[k] == nil {
			counts[k] = &HistorySecret{Path: state.Path(at.path), Rule: found.Rule, Line: found.Line}
		}
		counts[k].Checkpoints += n
	}
	for _, root := range f.roots {
		counted := make(map[key]bool)
		for at, list := range f.found {
			if f.away[at] > 0 {
				continue
			}
			e, err := f.repo.EntryOrNil(root, at.path)
			if err != nil {
				return nil, err
			}
			if e == nil || e.ID != at.id {
				continue
			}
			for _, found := range list {
				if k := (key{at.path, found.Rule}); !counted[k] {
					counted[k] = true
					count(at, found, 1)
				}
			}
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(f.away), func(a, b placed) int { return bytes.Compare(a.id[:], b.id[:]) }) {
		for _, found := range f.found[at] {
			count(at, found, f.away[at])
		}
	}
	list := []HistorySecret{}
	for _, one := range counts {
		list = append(list, *one)
	}
	slices.SortFunc(list, func(a, b HistorySecret) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule))
	})
	return list, nil
}
