package session

import (
	"context"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
)

// RevertSteps takes chosen steps of a session back, with those of the sub-agents that they called,
// and nothing else. Later changes, also those of the steps of the session that stay, are merged, or
// opt.OnConflict decides. opt.Paths narrows it down to some paths, opt.Hunks and opt.Lines to places
// of files as OwnChangesOf has them. It is an operation of the repository, which Repo.Undo takes
// back. The boundary of the session stays where it is.
//
// The error wraps ErrBusy while one of the steps is open, and cairn.ErrNotFound for a step that the
// session does not have, where none is given, and where the steps changed nothing in opt.Paths.
func (s *Sessions) RevertSteps(ctx context.Context, id string, steps []string, opt cairn.RevertOptions) (*cairn.Result, error) {
	if len(steps) == 0 {
		return nil, notFound("session %q has no step there to take back", id)
	}
	if len(opt.Paths)+len(opt.Hunks)+len(opt.Lines) == 0 && !opt.ThisRoot {
		if others := s.others(ctx, id); len(others) > 0 {
			return s.revertStepsInAll(ctx, id, steps, opt, others)
		}
	}
	var res *cairn.Result
	err := s.updateFamily(ctx, func(u *operation.LineUpdate) (err error) {
		res, err = s.revertSteps(ctx, u, id, steps, opt)
		return err
	})
	return res, err
}

func (s *Sessions) revertSteps(
	ctx context.Context, u *operation.LineUpdate, id string, steps []string, opt cairn.RevertOptions,
) (*cairn.Result, error) {
	f, refs, chosen, err := s.chosen(ctx, id, steps)
	if err != nil {
		return nil, err
	}
	if err := f.busyAt(refs); err != nil {
		return nil, err
	}
	if len(opt.Hunks)+len(opt.Lines) > 0 {
		return s.revertHunks(ctx, u, id, chosen, opt)
	}
	res, err := u.RevertSteps(ctx, chosen, chosen[0].From, opt)
	if err != nil {
		return nil, expired(err, "a state of session %q", id)
	}
	if err := f.notTakenBack(u, res, refs, nil, false); err != nil {
		return nil, err
	}
	f.addNotes(res, refs, nil)
	return res, nil
}

// OwnChangesOf lists what some steps of a session changed themselves, as OwnChanges does.
func (s *Sessions) OwnChangesOf(ctx context.Context, id string, steps []string) (*OwnChanges, error) {
	_, _, chosen, err := s.chosen(ctx, id, steps)
	if err != nil {
		return nil, err
	}
	own, err := s.lines.OwnChanges(ctx, chosen)
	return own, expired(err, "a state of session %q", id)
}

// StepsIn lists the steps of a session in a scope, without those of its sub-agents, for RevertSteps.
func (s *Sessions) StepsIn(ctx context.Context, id string, in Scope) (steps []string, err error) {
	f, err := s.family(ctx, id)
	if err != nil {
		return nil, err
	}
	refs, err := f.inScope(in)
	for _, ref := range refs {
		if ref.Session == f.head.ID {
			steps = append(steps, ref.Step)
		}
	}
	return steps, err
}

// chosen finds steps by their ids, oldest first, with the family that they belong to.
func (s *Sessions) chosen(ctx context.Context, id string, steps []string) (*family, []stepRef, []operation.UndoneStep, error) {
	f, err := s.family(ctx, id)
	if err != nil {
		return nil, nil, nil, err
	}
	refs, err := f.withCalled(steps)
	if err != nil {
		return nil, nil, nil, err
	}
	windows := f.windows(refs)
	err = s.addOthers(ctx, f, windows)
	return f, refs, undoneSteps(windows), err
}

// withCalled finds steps of the head, with those of the sub-agents that they called. A sub-agent that
// a message called goes when all steps of the message go.
func (f *family) withCalled(steps []string) ([]stepRef, error) {
	var own []*step
	whole := make(map[string]bool) // messages
	for _, m := range f.head.messages {
		whole[m.ID] = len(m.steps) > 0
		for _, st := range m.steps {
			if slices.Contains(steps, st.ID) {
				own = append(own, st)
			} else {
				whole[m.ID] = false
			}
		}
	}
	for _, id := range steps {
		if f.head.step(id) == nil {
			return nil, notFound("step %q of session %q", id, f.head.ID)
		}
	}
	return f.withChildren(own, func(messageID, stepID string) bool {
		return slices.Contains(steps, stepID) || stepID == "" && whole[messageID]
	}), nil
}

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
// operation of the repository, which Repo.Undo takes back. Without a revert, and where the reverts have
// nothing in opt.Paths, the error wraps cairn.ErrNotFound.
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
		if len(b.line.Outside) > 0 {
			steps[i].Outside = [][]string{b.line.Outside}
		}
	}
	return steps, err
}
