package repair

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// LackedObjects lists the objects that are reachable from refs and that the store has lost.
func (r *Doctor) LackedObjects(ctx context.Context) ([]object.ID, error) {
	m := newMender(r, nil)
	if err := m.walk(ctx); err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Keys(m.lost), func(a, b object.ID) int { return slices.Compare(a[:], b[:]) }), nil
}
