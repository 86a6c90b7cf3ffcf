package session

import (
	"context"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
)

// RevertedChanges lists what the reverts in effect of a session changed. UnrevertSome takes some of
// it back. Without a revert the list is empty.
func (s *Sessions) RevertedChanges(ctx context.Context, id string) (*OwnChanges, error) {
	h, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	reverts, err := s.activeReverts(ctx, h)
	if err != nil {
		return nil, err
	}
	own, err := s.lines.OwnChanges(ctx, reverts)
	return own, expired(err, "a state of session %q", id)
}

// UnrevertSome brings back some of what the reverts in effect took back: the paths of opt.Paths, or
// places of files as RevertedChanges has them. Later changes are merged, or opt.OnConflict decides.
// The boundary of the session stays where it is, so Unrevert can bring back the rest. It is an
// operation of the repository, which Repo.Undo takes back. Without a revert the error wraps
// ErrNotFound.
func (s *Sessions) UnrevertSome(ctx context.Context, id string, opt cairn.RevertOptions) (*cairn.Result, error) {
	var res *cairn.Result
	err := s.updateFamily(ctx, func(u *operation.LineUpdate) error {
		h, err := s.load(ctx, id)
		if err != nil {
			return err
		}
		reverts, err := s.activeReverts(ctx, h)
		if err != nil {
			return err
		}
		if len(reverts) == 0 {
			return notFound("session %q has nothing to bring back", id)
		}
		if len(opt.Hunks)+len(opt.Lines) > 0 {
			res, err = s.revertHunks(ctx, u, id, reverts, opt)
			return err
		}
		res, err = u.RevertSteps(ctx, reverts, reverts[0].From, opt)
		return expired(err, "a state of session %q", id)
	})
	return res, err
}

// activeReverts are the reverts in effect of a session as steps to take back, oldest first.
func (s *Sessions) activeReverts(ctx context.Context, h *history) ([]operation.UndoneStep, error) {
	active, err := s.active(ctx, h)
	steps := make([]operation.UndoneStep, len(active))
	for i, b := range active {
		steps[i] = operation.UndoneStep{Step: plan.Step{From: b.line.Before, To: b.line.ID}, Made: b.line.Created}
	}
	return steps, err
}
