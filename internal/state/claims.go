package state

import (
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// Claims is what a capture vouches for when it could not look at everything. The stat
// cache keeps what it had about the rest, but no checkpoint is made of that: it may be
// stale. A nil *claims vouches for all.
type Claims struct {
	Kind    Partial
	Skipped []Skipped // beside those of the stat cache: what was not looked at
	Coverage
}

// Covers reports whether the path was looked at. What is nearest to it decides.
func (c *Claims) Covers(path string) bool {
	return c == nil || c.Uncaptured(path) == ""
}

func NewClaims(kind Partial, skipped []Skipped, seen []string) *Claims {
	m := &Metadata{Partial: kind, Skipped: skipped, Seen: pathtext.Texts(seen)}
	return &Claims{Kind: kind, Skipped: skipped, Coverage: NewCoverage(m)}
}

func UnreadSkipped(paths []string) []Skipped {
	list := make([]Skipped, len(paths))
	for i, path := range paths {
		list[i] = Skipped{Path: path, Reason: index.Unread.String()}
	}
	return list
}

type ClaimedTree struct {
	*Claims
	Batch *odb.Batch
	Index *index.Index
	Extra map[string]bool
	Inner map[string]bool // directories that are covered in part, perhaps
}

func (b *ClaimedTree) LeadTo(path string) {
	for path != "" {
		path, _ = index.Split(path)
		b.Inner[path] = true
	}
}

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
