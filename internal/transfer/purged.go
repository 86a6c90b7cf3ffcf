package transfer

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// tellPurged says which purged paths the states hold that have come with something. They left their store before the
// purge, or a store without it, and are taken as they are.
func (r *Transport) tellPurged(ctx context.Context, trees []object.ID, with string) {
	r.warnPurged(ctx, trees, with, "the same cairn purge takes it out")
}

// TellPurged says which purged paths a checkpoint holds that was brought from a directory. kept says that a ref leads
// to it.
func (r *Transport) TellPurged(ctx context.Context, c *history.Checkpoint, dir string, kept bool) {
	end := "the same cairn purge takes it out"
	if !kept {
		end = "cairn gc --thorough takes it out"
	}
	r.warnPurged(ctx, []object.ID{history.TreeOf(c)}, "the state of "+dir, end)
}

func (r *Transport) warnPurged(ctx context.Context, trees []object.ID, with, end string) {
	held := r.deniedIn(trees)
	for path := range r.replacedIn(ctx, trees) {
		held[path] = true
	}
	if paths := slices.Sorted(maps.Keys(held)); len(paths) > 0 {
		r.Log.Warn("what was purged here has come again with "+with+" ("+end+")",
			"paths", strings.Join(paths[:min(len(paths), maxTold)], " "), "count", len(paths))
	}
}

// maxTold bounds the paths in a warning.
const maxTold = 5

// deniedIn returns those of the paths that a purge keeps out of captures which some states hold.
func (r *Transport) deniedIn(trees []object.ID) map[string]bool {
	held := make(map[string]bool)
	paths, err := r.PurgedPaths()
	if err != nil {
		return held // captures fail, and say why
	}
	for _, path := range paths {
		if !filepath.IsAbs(path) && slices.ContainsFunc(trees, func(tree object.ID) bool {
			e, err := r.EntryOrNil(tree, path)
			return err == nil && e != nil
		}) {
			held[path] = true
		}
	}
	return held
}

// replacedIn returns the paths that a purge has taken out of some states. A purge of secrets, and one that was lifted,
// keep no path out of captures. What a repair has lost is no purge.
func (r *Transport) replacedIn(ctx context.Context, trees []object.ID) map[string]bool {
	gone, replaced := make(map[string]bool), r.ReadReplaced()
	for _, tree := range trees {
		now, ok := replaced[tree]
		if !ok {
			continue
		}
		for change, err := range r.CompareTrees(ctx, tree, now, nil) {
			if err != nil {
				break // the state that took its place has been cleaned away
			}
			if change.New == nil {
				gone[change.Path] = true
			}
		}
	}
	if losses, err := r.Losses(); err == nil {
		for _, l := range losses {
			delete(gone, string(l.Path))
		}
	}
	return gone
}
