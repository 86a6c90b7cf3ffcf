package state

import (
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// Claims says which paths a partial capture vouches for. The stat cache keeps its earlier records
// of the other paths. They may be stale, so no checkpoint is made of them. A nil *Claims vouches
// for every path.
type Claims struct {
	Kind    Extent
	Skipped []Skipped // paths that were not read, beside the skipped ones of the stat cache
	Coverage
}

// Covers reports whether the capture vouches for the path. The entry nearest to the path, on it or
// above it, decides.
func (c *Claims) Covers(path string) bool {
	return c == nil || c.Uncaptured(path) == ""
}

// NewClaims returns the claims of a capture with these skipped and seen paths.
func NewClaims(kind Extent, skipped []Skipped, seen []string) *Claims {
	m := &Metadata{Partial: kind, Skipped: skipped, Seen: pathtext.Texts(seen)}
	return &Claims{Kind: kind, Skipped: skipped, Coverage: NewCoverage(m)}
}

// UnreadSkipped returns an entry with the reason "unread" for each path.
func UnreadSkipped(paths []string) []Skipped {
	list := make([]Skipped, len(paths))
	for i, path := range paths {
		list[i] = Skipped{Path: path, Reason: index.Unread.String()}
	}
	return list
}

// ClaimedTree builds the tree of the paths that Claims covers, from the records of an index.
type ClaimedTree struct {
	*Claims
	Batch *odb.Batch
	Index *index.Index
	Extra map[string]bool // paths that the tree holds although Claims does not cover them
	Inner map[string]bool // directories above a path that decides: they may be covered in part
}

// LeadTo marks the directories above a path as covered in part.
func (b *ClaimedTree) LeadTo(path string) {
	for path != "" {
		path, _ = index.Split(path)
		b.Inner[path] = true
	}
}

// Build adds the tree of a directory to the batch and returns its id.
func (b *ClaimedTree) Build(dir string) (object.ID, error) {
	var entries []object.Entry
	if d := b.Index.Dirs[dir]; d != nil {
		for rec := range d.All {
			path := index.Join(dir, string(rec.Name()))
			e := object.Entry{Name: string(rec.Name()), Mode: rec.Mode(), ID: rec.ID()}
			switch {
			case rec.Skip() != index.Captured || e.ID.IsZero():
				continue
			case e.Mode == object.Dir && b.Inner[path]:
				id, err := b.Build(path)
				if err != nil {
					return object.ID{}, err
				}
				if e.ID = id; id == object.EmptyTree {
					continue
				}
			case !b.Covers(path) && !b.Extra[path]:
				continue
			}
			entries = append(entries, e)
		}
	}
	object.SortEntries(entries)
	return b.Batch.Add(object.Tree, object.AppendTree(nil, entries))
}

// RulesAbove lists the .gitignore files of all directories above the paths.
func RulesAbove(paths []string) []string {
	set := make(map[string]bool)
	for _, path := range paths {
		for path != "" {
			path, _ = index.Split(path)
			set[index.Join(path, ".gitignore")] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// CountFiles counts the captured files at a path and below it.
func CountFiles(x *index.Index, path string) int {
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
			n += CountFiles(x, index.Join(path, string(rec.Name())))
		}
	}
	return n
}
