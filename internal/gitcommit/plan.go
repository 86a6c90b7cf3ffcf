package gitcommit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
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

	// Later lists all known changes of a path in the session.
	Later func(path string) []history.Change

	head, staged map[string]usergit.Entry // as the commits planned so far leave them
	cleaned      map[blobAt]string
	disk         map[string]usergit.Entry
}

// blobAt is a captured blob at a path of the repository, whose attributes decide what git makes of it.
type blobAt struct{ path, id string }

// File is a path of a commit.
type File struct {
	Path                 string // from the top of the repository
	Before, After        usergit.Entry
	Additions, Deletions int
	Binary               bool
}

// Skip is a path that is not committed, and why.
type Skip struct{ Path, Reason string }

// Start reads what HEAD and the index have.
func (p *Planner) Start(ctx context.Context, head string) (err error) {
	p.cleaned, p.disk = make(map[blobAt]string), make(map[string]usergit.Entry)
	if p.head, err = p.Repo.Tree(ctx, head); err != nil {
		return err
	}
	p.staged, err = p.Repo.Index(ctx)
	return err
}

// Plan works out the next commit from the ways of its paths. Paths of ways count from the root.
func (p *Planner) Plan(ctx context.Context, ways [][]history.Change) (usergit.Wanted, []File, []Skip, error) {
	w := usergit.Wanted{Entries: make(map[string]usergit.Entry), Staged: make(map[string]usergit.Entry)}
	ways, skipped, err := p.committable(ctx, ways)
	if err != nil {
		return w, nil, skipped, err
	}
	if err := p.clean(ctx, ways); err != nil {
		return w, nil, skipped, err
	}
	var files []File
	var conflicts error
	for _, way := range ways {
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

// committable leaves out paths that git would not add: in submodules and nested repositories, and
// ignored ones. Git refuses to say whether a path in a submodule is ignored.
func (p *Planner) committable(ctx context.Context, ways [][]history.Change) (list [][]history.Change, skipped []Skip, err error) {
	var paths []string
	for _, way := range ways {
		if reason := p.within(p.at(way[0].Path)); reason != "" {
			skipped = append(skipped, Skip{way[0].Path, reason})
			continue
		}
		list, paths = append(list, way), append(paths, p.at(way[0].Path))
	}
	if len(paths) == 0 {
		return nil, skipped, nil
	}
	ignored, err := p.Repo.Ignored(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	return slices.DeleteFunc(list, func(way []history.Change) bool {
		out := ignored[p.at(way[0].Path)]
		if out {
			skipped = append(skipped, Skip{way[0].Path, "ignored by git"})
		}
		return out
	}), skipped, nil
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

// clean finds the blobs that git makes of the contents before and after changes. Contents of one
// path go through git one after the other.
func (p *Planner) clean(ctx context.Context, ways [][]history.Change) error {
	for {
		layer := make(map[string]func() (io.ReadCloser, error))
		ids := make(map[string]string)
		for _, way := range ways {
			for i := range way {
				for _, e := range []*object.Entry{history.OldEntry(&way[i]), history.NewEntry(&way[i])} {
					if err := p.request(ctx, layer, ids, way[i].Path, e); err != nil {
						return err
					}
				}
			}
		}
		if len(layer) == 0 {
			return nil
		}
		made, err := p.Scratch.Clean(ctx, layer)
		if err != nil {
			return err
		}
		for name, id := range made {
			p.cleaned[blobAt{name, ids[name]}] = id
		}
	}
}

// request asks for one blob, unless another one of the path was asked for in this round.
func (p *Planner) request(ctx context.Context, layer map[string]func() (io.ReadCloser, error), ids map[string]string, rel string, e *object.Entry) error {
	if e == nil {
		return nil
	}
	name, id := p.at(rel), e.ID.String()
	if _, ok := p.cleaned[blobAt{name, id}]; ok {
		return nil
	}
	open := func() (io.ReadCloser, error) {
		_, content, err := p.Open(id)
		return content, err
	}
	if e.Mode.IsFile() {
		if _, ok := layer[name]; !ok {
			layer[name], ids[name] = open, id
		}
		return nil
	}
	content, err := open() // the target of a link
	if err != nil {
		return err
	}
	defer content.Close()
	target, err := io.ReadAll(content)
	if err == nil {
		p.cleaned[blobAt{name, id}], err = p.Scratch.Add(ctx, target)
	}
	return err
}

func (p *Planner) entry(rel string, e *object.Entry) usergit.Entry {
	if e == nil {
		return usergit.Entry{}
	}
	return usergit.Entry{Mode: e.Mode.String(), ID: p.cleaned[blobAt{p.at(rel), e.ID.String()}]}
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
		now, diskErr := p.onDisk(ctx, name)
		if diskErr != nil {
			return nil, diskErr
		}
		if now != staged {
			return nil, &Conflict{rel, "staged lines overlap: git restore --staged takes them out of the index"}
		}
		index, err = staged, nil // all of the file is staged, the agent's lines among it
	}
	if err != nil {
		return nil, err
	}
	w.Entries[name] = ours
	if index != staged {
		w.Staged[name] = index
	}
	f := &File{Path: name, Before: head, After: ours}
	return f, p.count(ctx, f)
}

var errOverlap = errors.New("the changes overlap others that HEAD does not have")

// maxMerge is the size up to which texts are merged.
const maxMerge = 32 << 20

// merge is a three-way merge of entries.
func (p *Planner) merge(ctx context.Context, base, ours, theirs usergit.Entry) (usergit.Entry, error) {
	switch {
	case ours == theirs, base == theirs:
		return ours, nil
	case base == ours:
		return theirs, nil
	case !base.IsFile() || !ours.IsFile() || !theirs.IsFile():
		return ours, errOverlap
	}
	out := ours
	if ours.Mode == base.Mode {
		out.Mode = theirs.Mode
	}
	switch {
	case base.ID == ours.ID:
		out.ID = theirs.ID
		return out, nil
	case base.ID == theirs.ID, ours.ID == theirs.ID:
		return out, nil
	}
	var text [3][]byte
	for i, e := range []usergit.Entry{base, ours, theirs} {
		var err error
		if text[i], err = p.Scratch.Blob(ctx, e.ID); err != nil {
			return ours, err
		}
		if len(text[i]) > maxMerge {
			return ours, errOverlap
		}
	}
	res := linediff.Merge(text[0], text[1], text[2])
	if res.Conflicts > 0 {
		return ours, errOverlap
	}
	var err error
	out.ID, err = p.Scratch.Add(ctx, res.Content)
	return out, err
}

// has reports whether HEAD has a state of a path that is on disk now, or that the session knows. It
// then holds what the session did to the path, or the user has replaced that.
func (p *Planner) has(ctx context.Context, rel string, head usergit.Entry) (bool, error) {
	now, err := p.onDisk(ctx, p.at(rel))
	if err != nil || now == head {
		return now == head, err
	}
	known := p.Later(rel)
	if err := p.clean(ctx, [][]history.Change{known}); err != nil {
		return false, err
	}
	return slices.ContainsFunc(known, func(c history.Change) bool { return p.entry(rel, history.NewEntry(&c)) == head }), nil
}

// onDisk returns the entry that git would make of a path on disk.
func (p *Planner) onDisk(ctx context.Context, name string) (usergit.Entry, error) {
	if e, ok := p.disk[name]; ok {
		return e, nil
	}
	at := filepath.Join(p.Repo.Top, filepath.FromSlash(name))
	info, err := os.Lstat(at)
	if err != nil || !info.Mode().IsRegular() {
		return usergit.Entry{}, nil
	}
	made, err := p.Scratch.Clean(ctx, map[string]func() (io.ReadCloser, error){name: func() (io.ReadCloser, error) { return os.Open(at) }})
	if err != nil {
		return usergit.Entry{}, fmt.Errorf("read %s: %w", at, err)
	}
	e := usergit.Entry{Mode: usergit.ModeFile, ID: made[name]}
	if info.Mode()&0o100 != 0 {
		e.Mode = usergit.ModeExec
	}
	p.disk[name] = e
	return e, nil
}

// count counts the lines of a file that a commit adds and deletes.
func (p *Planner) count(ctx context.Context, f *File) error {
	var text [2][]byte
	for i, e := range []usergit.Entry{f.Before, f.After} {
		if e.ID == "" {
			continue
		}
		var err error
		if text[i], err = p.Scratch.Blob(ctx, e.ID); err != nil {
			return err
		}
		if len(text[i]) > maxMerge || linediff.Binary(text[i]) {
			f.Binary = true
		}
	}
	if f.Binary {
		return nil
	}
	for _, e := range linediff.Diff(text[0], text[1]) {
		f.Additions += e.B1 - e.B0
		f.Deletions += e.A1 - e.A0
	}
	return nil
}
