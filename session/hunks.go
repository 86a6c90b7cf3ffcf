package session

import (
	"context"
	"errors"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// OwnChanges are the changes of a scope without what others changed between its steps.
type OwnChanges = operation.OwnChanges

// errNoHunks refuses a call that would take nothing back.
var errNoHunks = errors.New("no hunks and no lines to take back: Revert takes back whole turns")

// OwnChanges lists what the steps of a scope changed themselves, which is what hunks are of. The new
// side of a file is its state after the last of the steps, the old side the same without them.
func (s *Sessions) OwnChanges(ctx context.Context, id string, in Scope) (*OwnChanges, error) {
	_, steps, err := s.scope(ctx, id, in)
	if err != nil {
		return nil, err
	}
	own, err := s.lines.OwnChanges(ctx, steps)
	return own, expired(err, "a state of session %q", id)
}

// scope finds the steps of a scope, with the family that they belong to.
func (s *Sessions) scope(ctx context.Context, id string, in Scope) (*family, []operation.UndoneStep, error) {
	f, err := s.family(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	active, err := s.active(ctx, f.head)
	if err != nil {
		return nil, nil, err
	}
	steps, err := s.stepsIn(ctx, f, active, in)
	return f, steps, err
}

// RevertHunks takes chosen hunks of a scope back, and nothing else. opt.Hunks has the names that
// Diff gives for the same scope, or beginnings of them, and opt.Lines numbers lines of the new
// sides. Later changes, also those of the session, are merged, or opt.OnConflict decides. It is an
// operation of the repository, which Repo.Undo takes back. The boundary of the session stays where
// it is.
//
// The error wraps ErrBusy while a step of the scope is open, and cairn.ErrNotFound for a name that no hunk
// has.
func (s *Sessions) RevertHunks(ctx context.Context, id string, in Scope, opt cairn.RevertOptions) (*cairn.Result, error) {
	if len(opt.Hunks)+len(opt.Lines) == 0 {
		return nil, errNoHunks
	}
	var res *cairn.Result
	err := s.updateFamily(ctx, func(u *operation.LineUpdate) error {
		f, steps, err := s.scope(ctx, id, in)
		if err != nil {
			return err
		}
		if err := f.busyIn(in); err != nil {
			return err
		}
		res, err = s.revertHunks(ctx, u, id, steps, opt)
		return err
	})
	return res, err
}

func (s *Sessions) revertHunks(
	ctx context.Context, u *operation.LineUpdate, id string, steps []operation.UndoneStep,
	opt cairn.RevertOptions,
) (*cairn.Result, error) {
	own, err := u.OwnChanges(ctx, steps)
	if err != nil {
		return nil, expired(err, "a state of session %q", id)
	}
	target := ""
	if len(steps) > 0 {
		target = steps[0].From
	}
	return u.RevertHunks(ctx, own, target, opt)
}

// busyIn refuses a scope that has an open step.
func (f *family) busyIn(in Scope) error {
	refs, err := f.inScope(in)
	if err != nil {
		return err
	}
	return f.busyAt(refs)
}

func (f *family) busyAt(refs []stepRef) error {
	for _, ref := range refs {
		if h := f.members[ref.Session]; h.step(ref.Step).ended == 0 {
			return h.busy(h.step(ref.Step))
		}
	}
	return nil
}
