package gitcommit

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/usergit"
)

// Conflict is a path whose changes cannot be committed alone.
type Conflict struct{ Path, Reason string }

func (c *Conflict) Error() string { return c.Path + ": " + c.Reason }

// Planner works out commits in the order in which they will be made.
type Planner struct {
	Repo    *usergit.Repo
	Scratch *usergit.Scratch
	Open    func(id string) (int64, io.ReadCloser, error) // of a captured blob

	// Known lists all known changes of the session by path. It is asked at most once after a Start.
	Known func() map[string][]KnownChange
	From  int // the turn that is planned: states from before it do not hold its changes

	ways         [][]history.Change       // that can be committed
	head, staged map[string]usergit.Entry // as the commits planned so far leave them
	ignored      map[string]bool
	trustsModes  bool
	cleaned      map[blobAt]string
	disk         map[string]usergit.Entry // nil = not read
	known        map[string][]KnownChange // nil = not asked
}

// KnownChange is what a turn of the session changed at a path.
type KnownChange struct {
	history.Change
	Turn int
}

// File is a path of a commit.
type File struct {
	Path                 string // from the top of the repository
	Before, After        usergit.Entry
	Additions, Deletions int
	Binary               bool
}

// Skip is a path that is not committed, and why.
type Skip struct{ Path, Reason string }

// Start reads what HEAD and the index have at the paths of ways, which are those of all commits to
// be planned. The number of runs of git does not depend on the number of paths.
func (p *Planner) Start(ctx context.Context, head usergit.Head, ways [][]history.Change) (err error) {
	p.cleaned, p.disk, p.known = make(map[blobAt]string), nil, nil
	names, around := p.names(ways)
	if p.head, err = p.Repo.Lookup(ctx, head.Tree, around); err != nil {
		return err
	}
	moved, err := p.Repo.Staged(ctx, head.Tree)
	if err != nil {
		return err
	}
	p.staged = maps.Clone(p.head)
	for name, m := range moved {
		p.staged[name] = m.To
	}
	if p.trustsModes, err = p.Repo.TrustsModes(ctx); err != nil {
		return err
	}
	// Rules do not count for tracked paths, and git refuses to say whether a path in a submodule is ignored.
	names = slices.DeleteFunc(names, func(name string) bool {
		return p.head[name] != usergit.Entry{} || p.staged[name] != usergit.Entry{} || p.within(name) != ""
	})
	if p.ignored, err = p.Repo.Ignored(ctx, names); err != nil {
		return err
	}
	p.ways = slices.DeleteFunc(slices.Clone(ways), func(way []history.Change) bool { return p.left(way[0].Path) != "" })
	if len(p.ways) == 0 {
		return nil
	}
	seed := maps.Clone(p.head)
	maps.DeleteFunc(seed, func(_ string, e usergit.Entry) bool { return !e.IsFile() && e.Mode != usergit.ModeSymlink })
	if err := p.Scratch.Seed(ctx, seed); err != nil {
		return err
	}
	return p.clean(ctx, p.ways)
}

// names lists the paths of ways from the top of the repository. around has the directories above and
// their attributes files, too.
func (p *Planner) names(ways [][]history.Change) (names, around []string) {
	all := make(map[string]bool)
	for _, way := range ways {
		name := p.at(way[0].Path)
		names = append(names, name)
		all[name] = true
		for dir := path.Dir(name); !all[path.Join(dir, usergit.Attributes)]; dir = path.Dir(dir) {
			all[path.Join(dir, usergit.Attributes)] = true
			all[dir] = true
		}
	}
	delete(all, ".")
	slices.Sort(names)
	return slices.Compact(names), slices.Sorted(maps.Keys(all))
}

// Plan works out the next commit from the ways of its paths. Paths of ways count from the root.
func (p *Planner) Plan(ctx context.Context, ways [][]history.Change) (usergit.Wanted, []File, []Skip, error) {
	w := usergit.Wanted{Entries: make(map[string]usergit.Entry), Staged: make(map[string]usergit.Entry)}
	var files []File
	var skipped []Skip
	var conflicts error
	for _, way := range ways {
		if reason := p.left(way[0].Path); reason != "" {
			skipped = append(skipped, Skip{way[0].Path, reason})
			continue
		}
		f, err := p.file(ctx, way, &w)
		var conflict *Conflict
		switch {
		case errors.As(err, &conflict):
			conflicts = errors.Join(conflicts, err)
		case err != nil:
			return w, nil, skipped, err
		case f != nil:
			files = append(files, *f)
		}
	}
	if conflicts != nil {
		return w, nil, skipped, conflicts
	}
	maps.Copy(p.head, w.Entries)
	maps.Copy(p.staged, w.Staged)
	return w, files, skipped, nil
}

// left says why a path is not committed, "" if it is: git would not add paths in submodules and
// nested repositories, and ignored ones.
func (p *Planner) left(rel string) string {
	if reason := p.within(p.at(rel)); reason != "" {
		return reason
	}
	if p.ignored[p.at(rel)] {
		return "ignored by git"
	}
	return ""
}

// within says in which other repository a path lies, "" for none.
func (p *Planner) within(name string) string {
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if p.staged[dir].Mode == usergit.ModeGitlink || p.head[dir].Mode == usergit.ModeGitlink {
			return "in the submodule " + dir + ": commit there"
		}
		if dir == name {
			continue
		}
		if _, err := os.Lstat(filepath.Join(p.Repo.Top, filepath.FromSlash(dir), ".git")); err == nil {
			return "in the nested repository " + dir + ": commit there"
		}
	}
	return ""
}

func (p *Planner) at(rel string) string { return p.Repo.Prefix + rel }

func (p *Planner) entry(rel string, e *object.Entry) usergit.Entry {
	if e == nil {
		return usergit.Entry{}
	}
	mode := e.Mode.String()
	if e.Mode.IsFile() {
		mode = p.mode(mode == usergit.ModeExec)
	}
	return usergit.Entry{Mode: mode, ID: p.cleaned[blobAt{p.at(rel), e.ID.String()}]}
}

// file works out one path of a commit. It returns nil if HEAD has the changes already.
func (p *Planner) file(ctx context.Context, way []history.Change, w *usergit.Wanted) (*File, error) {
	rel := way[0].Path
	name := p.at(rel)
	head, staged := p.head[name], p.staged[name]
	ours := head
	for i := range way {
		c := &way[i]
		next, err := p.merge(ctx, p.entry(rel, history.OldEntry(c)), ours, p.entry(rel, history.NewEntry(c)))
		if errors.Is(err, errOverlap) {
			if has, err := p.has(ctx, rel, head); err != nil || has {
				return nil, err
			}
			return nil, &Conflict{rel, err.Error()}
		}
		if err != nil {
			return nil, err
		}
		ours = next
	}
	if ours == head {
		return nil, nil
	}
	index, err := p.merge(ctx, head, staged, ours)
	if errors.Is(err, errOverlap) {
		index, err = p.overStaged(ctx, rel, staged)
	}
	if err != nil {
		return nil, err
	}
	w.Entries[name] = ours
	if index != staged {
		w.Staged[name] = index
	}
	f := &File{Path: name, Before: head, After: ours}
	return f, p.Count(ctx, f)
}

// overStaged is the entry of the index where staged lines overlap those of a commit.
func (p *Planner) overStaged(ctx context.Context, rel string, staged usergit.Entry) (usergit.Entry, error) {
	now, err := p.onDisk(ctx, p.at(rel))
	if err == nil && now != staged {
		err = &Conflict{rel, "staged lines overlap: git restore --staged takes them out of the index"}
	}
	return staged, err // all of the file is staged, the agent's lines among it
}
