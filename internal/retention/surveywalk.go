package retention

import (
	"context"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// walk returns a commit and its ancestors, children first. It leaves out the commits in without and
// stops there.
func (s *survey) walk(ctx context.Context, id object.ID, without map[object.ID]*unit) ([]object.ID, error) {
	var found []object.ID
	seen := make(map[object.ID]bool)
	stack := []object.ID{id}
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[id] || without[id] != nil {
			continue
		}
		seen[id] = true
		n, err := s.node(ctx, id)
		if err != nil {
			return nil, err
		}
		if n == nil {
			continue
		}
		found = append(found, id)
		for _, p := range slices.Backward(n.Parents) {
			stack = append(stack, p)
		}
	}
	return found, nil
}

// node reads a commit. It returns nil for another object and for one that cannot be read.
func (s *survey) node(ctx context.Context, id object.ID) (*node, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if n := s.Known[id]; n != nil {
		return n, nil
	}
	rec := s.ends.Thinned(id)
	kind, data, err := object.Commit, []byte(nil), error(nil)
	if rec == nil {
		kind, data, err = s.repo.DB.Read(id)
	} else {
		data = rec.Commit
	}
	if err != nil || kind != object.Commit {
		return nil, nil
	}
	c, err := object.ParseCommit(data)
	if err != nil {
		return nil, nil
	}
	n := &node{
		tree: c.Tree, Parents: c.Parents, thinned: rec, when: time.Unix(0, history.TimeOf(c)), label: history.Labelled(c),
		onLine: c.Header(history.LineHeader) != "",
		git:    recordOf(c), outside: outsideOf(c),
	}
	switch {
	case rec == nil && s.ends.Has(id, n.Parents):
		n.Parents = nil
	case rec != nil: // a thinned revert does not keep the state that it was to reach
		n.Parents = nil
		if before := s.repo.BeforeThinned(s.ends, rec); !before.IsZero() {
			n.Parents = []object.ID{before}
		}
	}
	s.Known[id] = n
	return n, nil
}
