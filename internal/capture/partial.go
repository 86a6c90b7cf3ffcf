package capture

import (
	"iter"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// coverage returns the coverage of a partial capture. The stat cache keeps its earlier records of
// the other paths. They may be stale, so no checkpoint is made of them.
func coverage(kind state.Extent, skipped []state.Skipped, unread, seen []string) *state.Coverage {
	for _, path := range unread {
		skipped = append(skipped, state.Skipped{Path: state.Path(path), Reason: index.Unread.String()})
	}
	return state.NewCoverage(&state.Metadata{Partial: kind, Skipped: skipped, Seen: pathtext.Texts(seen)})
}

// hinted classifies hinted paths: captured or absent (seen), or present but not captured (skipped).
func (r *Capturer) hinted(x *index.Index, paths []string) (seen []string, skipped []state.Skipped) {
	for _, path := range paths {
		if rec := x.Lookup(path); rec != nil && rec.Skip() != index.Rules || path == "" {
			seen = append(seen, path)
			continue
		}
		found, err := dir.Find(r.Root, path, x.Has)
		switch {
		case err != nil:
			skipped = append(skipped, state.Skipped{Path: state.Path(path), Reason: index.Unreadable.String()})
		case found == nil || found.Path != path:
			seen = append(seen, path)
		default:
			skipped = append(skipped, state.Skipped{Path: state.Path(path), Reason: index.Ignored.String(), Size: found.Stat.Size})
		}
	}
	return seen, skipped
}

// treeBuilder builds the tree of the covered paths of a capture.
type treeBuilder struct {
	*Snapshot
	rules  map[string]bool // files that the tree holds although they are not covered
	partly map[string]bool // directories above a path that decides
}

// coveredTree adds the tree of the covered paths. For a checkpoint of some paths the tree also has
// the .gitignore files above them, because their rules applied.
func (c *Snapshot) coveredTree() (object.ID, error) {
	b := treeBuilder{c, make(map[string]bool), make(map[string]bool)}
	if c.covered.Kind == state.ExtentPaths {
		for _, path := range rulesAbove(slices.Collect(maps.Keys(c.covered.Seen))) {
			b.rules[path] = true
		}
	}
	b.leadTo(maps.Keys(c.covered.Reasons))
	b.leadTo(maps.Keys(c.covered.Seen))
	b.leadTo(maps.Keys(b.rules))
	return b.build("")
}

// leadTo marks the directories above the paths as covered in part.
func (b *treeBuilder) leadTo(paths iter.Seq[string]) {
	for path := range paths {
		for path != "" {
			path, _ = index.Split(path)
			b.partly[path] = true
		}
	}
}

// build adds the tree of a directory to the batch and returns its id.
func (b *treeBuilder) build(dir string) (object.ID, error) {
	var entries []object.Entry
	if d := b.Index.Dirs[dir]; d != nil {
		for rec := range d.All {
			path := index.Join(dir, string(rec.Name()))
			e := object.Entry{Name: string(rec.Name()), Mode: rec.Mode(), ID: rec.ID()}
			switch {
			case rec.Skip() != index.Captured || e.ID.IsZero():
				continue
			case e.Mode == object.Dir && b.partly[path]:
				id, err := b.build(path)
				if err != nil {
					return object.ID{}, err
				}
				if e.ID = id; id == object.EmptyTree {
					continue
				}
			case !b.covered.Covers(path) && !b.rules[path]:
				continue
			}
			entries = append(entries, e)
		}
	}
	object.SortEntries(entries)
	return b.Batch.Add(object.Tree, object.AppendTree(nil, entries))
}

// rulesAbove lists the .gitignore files of all directories above the paths.
func rulesAbove(paths []string) []string {
	set := make(map[string]bool)
	for _, path := range paths {
		for path != "" {
			path, _ = index.Split(path)
			set[index.Join(path, ".gitignore")] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// countFiles counts the captured files at a path and below it.
func countFiles(x *index.Index, path string) int {
	rec := x.Lookup(path)
	switch {
	case rec != nil && rec.Skip() != index.Captured, rec == nil && path != "":
		return 0
	case rec != nil && rec.Mode() != object.Dir:
		return 1
	}
	n := 0
	if d := x.Dirs[path]; d != nil {
		for rec := range d.All {
			n += countFiles(x, index.Join(path, string(rec.Name())))
		}
	}
	return n
}
