package session

import (
	"context"
	"io"
	"iter"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// Diff yields the changes of a session, a message or a step, including the steps of its children,
// ordered by path: each file from before its first change to after its last. Reverted steps count
// only if the scope names them or their message. Changes that are known to belong to other
// sessions, or to be shared with them, are left out.
//
// With opt.Hunks the old side of a file is its new side without the steps, as in OwnChanges.
func (s *Sessions) Diff(ctx context.Context, id string, in Scope, opt cairn.DiffOptions) iter.Seq2[*cairn.FileDiff, error] {
	return func(yield func(*cairn.FileDiff, error) bool) {
		diffs, err := s.diffs(ctx, id, in, opt)
		if err != nil {
			yield(nil, err)
			return
		}
		for d, err := range diffs {
			if !yield(&d, err) || err != nil {
				return
			}
		}
	}
}

func (s *Sessions) diffs(ctx context.Context, id string, in Scope, opt cairn.DiffOptions) (iter.Seq2[cairn.FileDiff, error], error) {
	if opt.Hunks {
		own, err := s.OwnChanges(ctx, id, in)
		if err != nil {
			return nil, err
		}
		return own.FileDiffs(ctx, own.List, opt), nil
	}
	list, err := s.Changes(ctx, id, in)
	return s.repo.FileDiffs(ctx, list, opt), err
}

// WriteDiff writes what Diff yields as a unified diff.
func (s *Sessions) WriteDiff(ctx context.Context, w io.Writer, id string, in Scope, opt cairn.DiffOptions) error {
	if opt.Hunks {
		own, err := s.OwnChanges(ctx, id, in)
		if err != nil {
			return err
		}
		return own.WriteDiff(ctx, w, own.List, opt)
	}
	list, err := s.Changes(ctx, id, in)
	if err != nil {
		return err
	}
	return s.repo.WriteDiff(ctx, w, list, opt)
}

// Changes lists what Diff yields without hunks, without the texts.
func (s *Sessions) Changes(ctx context.Context, id string, in Scope) ([]cairn.Change, error) {
	h, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	active, err := s.active(ctx, h)
	if err != nil {
		return nil, err
	}
	return s.changed(ctx, h, active, in)
}

// changed lists the changes of the steps in a scope.
func (s *Sessions) changed(ctx context.Context, h *history, active []*boundary, in Scope) ([]cairn.Change, error) {
	f, err := s.family(ctx, h.ID)
	if err != nil {
		return nil, err
	}
	steps, err := s.stepsIn(ctx, f, active, in)
	if err != nil {
		return nil, err
	}
	list, err := s.lines.StepChanges(ctx, steps)
	return list, expired(err, "a state of session %q", h.ID)
}

// stepsIn finds the steps in a scope, oldest first. Reverted ones are not part of the session.
func (s *Sessions) stepsIn(ctx context.Context, f *family, active []*boundary, in Scope) ([]operation.UndoneStep, error) {
	refs, err := f.inScope(in)
	if err != nil {
		return nil, err
	}
	if in == (Scope{}) && len(active) > 0 {
		refs = withoutRefs(refs, active[len(active)-1].Undone)
	}
	windows := f.windows(refs)
	if err := s.addOthers(ctx, f, windows); err != nil {
		return nil, err
	}
	return undoneSteps(windows), nil
}

// inScope lists the steps in a scope, with the steps of the sub-agents that they called.
func (f *family) inScope(in Scope) ([]stepRef, error) {
	var own []*step
	found := in == Scope{}
	meant := make(map[string]bool)
	means := false
	in.Turn = in.Turn && f.head.hasUser()
	for _, m := range f.head.messages {
		if means = in.means(m, means); !means {
			continue
		}
		meant[m.ID] = true
		found = found || in.Step == ""
		for _, st := range m.steps {
			if in.Step == "" || in.Step == st.ID {
				own, found = append(own, st), true
			}
		}
	}
	switch {
	case !found && in.Step != "":
		return nil, notFound("step %q of session %q", in.Step, f.head.ID)
	case !found:
		return nil, notFound("message %q of session %q", in.Message, f.head.ID)
	}
	return f.withChildren(own, func(messageID, stepID string) bool {
		if in.Step != "" {
			return stepID == in.Step
		}
		return in.Message == "" || meant[messageID]
	}), nil
}

// means reports whether a message belongs to the scope; before is the result for the message before
// it.
func (in Scope) means(m *message, before bool) bool {
	return in.Message == "" || m.ID == in.Message || before && (in.Rest || in.Turn && m.Role != RoleUser)
}

func withoutRefs(refs, gone []stepRef) []stepRef {
	drop := make(map[stepRef]bool)
	for _, ref := range gone {
		drop[ref] = true
	}
	var out []stepRef
	for _, ref := range refs {
		if !drop[ref] {
			out = append(out, ref)
		}
	}
	return out
}
