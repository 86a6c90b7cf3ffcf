package review

import (
	"context"
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// revertHunks takes hunks of a turn back. The range from before its first step to after its last
// has the same hunks as the turn, unless another writer changed the same file in between; such a
// hunk has another name there and is ErrNotFound.
func (s *store) revertHunks(ctx context.Context, t *Turn, opt cairn.RevertOptions) (*cairn.Result, error) {
	messages, err := s.all.History(ctx, t.Session.ID)
	if err != nil {
		return nil, err
	}
	var in cairn.Range
	inside := false
	for i := range messages {
		m := &messages[i]
		inside = m.ID == t.ID || inside && m.Role != session.RoleUser
		for j := range m.Steps {
			st := &m.Steps[j]
			if inside && in.From == "" {
				in.From = st.Before.ID
			}
			if inside && !st.Open() {
				in.To = st.After.ID
			}
		}
	}
	if in.From == "" || in.To == "" {
		return nil, fmt.Errorf("%w: the turn has no step that has ended", session.ErrNotFound)
	}
	return s.repo.Revert(ctx, in, opt)
}
