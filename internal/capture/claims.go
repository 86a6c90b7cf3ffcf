package capture

import (
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

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
			skipped = append(skipped, state.Skipped{Path: path, Reason: index.Unreadable.String()})
		case found == nil || found.Path != path:
			seen = append(seen, path)
		default:
			skipped = append(skipped, state.Skipped{Path: path, Reason: index.Ignored.String(), Size: found.Stat.Size})
		}
	}
	return seen, skipped
}

// claimedTree adds the tree of the paths that the claims cover. For a checkpoint of some paths the
// tree also has the .gitignore files above them, because their rules applied.
func claimedTree(c *state.Claims, batch *odb.Batch, x *index.Index) (object.ID, error) {
	b := state.ClaimedTree{Claims: c, Batch: batch, Index: x, Extra: make(map[string]bool), Inner: make(map[string]bool)}
	if c.Kind == state.ExtentPaths {
		for _, path := range state.RulesAbove(slices.Collect(maps.Keys(c.Seen))) {
			b.Extra[path] = true
		}
	}
	for path := range c.Reasons {
		b.LeadTo(path)
	}
	for _, set := range []map[string]bool{c.Seen, b.Extra} {
		for path := range set {
			b.LeadTo(path)
		}
	}
	return b.Build("")
}
