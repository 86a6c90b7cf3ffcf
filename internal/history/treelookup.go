package history

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// newestWithTree finds the newest checkpoint of each tree: in the lines first, then
// among the states that operations saved, then among what has a name or came from
// elsewhere.
func (r *Store) newestWithTree(ctx context.Context, trees map[object.ID]bool) (found []*Checkpoint, err error) {
	for _, source := range []iter.Seq2[*Checkpoint, error]{r.Checkpoints(ctx), r.operationStates(ctx), r.otherStates(ctx)} {
		for c, err := range source {
			if err != nil {
				return nil, err
			}
			if trees[c.tree] {
				delete(trees, c.tree)
				found = append(found, c)
			}
			if len(trees) == 0 {
				return found, nil
			}
		}
	}
	return found, nil
}
