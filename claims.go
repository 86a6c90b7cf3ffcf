package cairn

import (
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// claims is what a capture vouches for when it could not look at everything. The stat
// cache keeps what it had about the rest, but no checkpoint is made of that: it may be
// stale. A nil *claims vouches for all.
type claims struct {
	kind    Partial
	skipped []Skipped // beside those of the stat cache: what was not looked at
	coverage
}

// covers reports whether the path was looked at. What is nearest to it decides.
func (c *claims) covers(path string) bool {
	return c == nil || c.uncaptured(path) == ""
}

func newClaims(kind Partial, skipped []Skipped, seen []string) *claims {
	m := &metadata{Partial: kind, Skipped: skipped, Seen: pathtext.Texts(seen)}
	return &claims{kind: kind, skipped: skipped, coverage: newCoverage(m)}
}

func unreadSkipped(paths []string) []Skipped {
	list := make([]Skipped, len(paths))
	for i, path := range paths {
		list[i] = Skipped{Path: path, Reason: index.Unread.String()}
	}
	return list
}

// hinted settles what became of hinted paths: captured, gone, or there all the same.
func (r *Repo) hinted(x *index.Index, paths []string) (seen []string, skipped []Skipped) {
	for _, path := range paths {
		if rec := x.Lookup(path); rec != nil && rec.Skip() != index.Rules || path == "" {
			seen = append(seen, path)
			continue
		}
		found, err := dir.Find(r.root, path, x.Has)
		switch {
		case err != nil:
			skipped = append(skipped, Skipped{Path: path, Reason: index.Unreadable.String()})
		case found == nil || found.Path != path:
			seen = append(seen, path)
		default:
			skipped = append(skipped, Skipped{Path: path, Reason: index.Ignored.String(), Size: found.Stat.Size})
		}
	}
	return seen, skipped
}

// claimedTree adds the part of the disk's tree that the claims cover. For the ignore
// rules that were in force, one of some paths also has the .gitignore files above them.
func (c *claims) claimedTree(batch *odb.Batch, x *index.Index) (object.ID, error) {
	b := claimedTree{claims: c, batch: batch, index: x, extra: make(map[string]bool), inner: make(map[string]bool)}
	if c.kind == PartialPaths {
		for _, path := range rulesAbove(slices.Collect(maps.Keys(c.seen))) {
			b.extra[path] = true
		}
	}
	for path := range c.reasons {
		b.leadTo(path)
	}
	for _, set := range []map[string]bool{c.seen, b.extra} {
		for path := range set {
			b.leadTo(path)
		}
	}
	return b.build("")
}

type claimedTree struct {
	*claims
	batch *odb.Batch
	index *index.Index
	extra map[string]bool
	inner map[string]bool // directories that are covered in part, perhaps
}

func (b *claimedTree) leadTo(path string) {
	for path != "" {
		path, _ = index.Split(path)
		b.inner[path] = true
	}
}

func (b *claimedTree) build(dir string) (object.ID, error) {
	var entries []object.Entry
	if d := b.index.Dirs[dir]; d != nil {
		for rec := range d.All {
			path := index.Join(dir, string(rec.Name()))
			e := object.Entry{Name: string(rec.Name()), Mode: rec.Mode(), ID: rec.ID()}
			switch {
			case rec.Skip() != index.Captured || e.ID.IsZero():
				continue
			case e.Mode == object.Dir && b.inner[path]:
				id, err := b.build(path)
				if err != nil {
					return object.ID{}, err
				}
				if e.ID = id; id == object.EmptyTree {
					continue
				}
			case !b.covers(path) && !b.extra[path]:
				continue
			}
			entries = append(entries, e)
		}
	}
	object.SortEntries(entries)
	return b.batch.Add(object.Tree, object.AppendTree(nil, entries))
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
