package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// rootShare is one root in a move or a revert of steps that goes over all roots of a session.
type rootShare struct {
	*Sessions
	u *operation.LineUpdate
}

// inAllRoots runs f with the stores of all roots of a session locked, in the order of their paths.
// head is the place of this root.
func (s *Sessions) inAllRoots(ctx context.Context, id string, others otherRoots, f func(roots []*rootShare, head int) error) error {
	roots := []*rootShare{{Sessions: s}}
	for _, o := range others {
		if o.err == nil {
			_, o.err = o.load(ctx, id)
		}
		if o.err != nil {
			return operation.ThisRootAlone(o.root, o.err)
		}
		roots = append(roots, &rootShare{Sessions: o.Sessions})
	}
	slices.SortFunc(roots, func(a, b *rootShare) int { return strings.Compare(a.repo.Root(), b.repo.Root()) })
	head := slices.IndexFunc(roots, func(r *rootShare) bool { return r.Sessions == s })
	var lock func(i int) error
	lock = func(i int) error {
		if i == len(roots) {
			return f(roots, head)
		}
		return roots[i].updateFamily(ctx, func(u *operation.LineUpdate) error {
			roots[i].u = u
			return lock(i + 1)
		})
	}
	return lock(0)
}

// moveInAll is move for a session of several roots: the boundary moves in all of them or in none.
func (s *Sessions) moveInAll(
	ctx context.Context, id string, opt MoveOptions, pick choose, others otherRoots,
) (*Session, *cairn.Result, error) {
	if opt.Git {
		return nil, nil, operation.ErrGitInRoots
	}
	var m *moved
	err := s.inAllRoots(ctx, id, others, func(roots []*rootShare, head int) error {
		to, in, err := s.pickFor(ctx, id, pick)
		if err != nil {
			return err
		}
		moves := make([]*moved, len(roots))
		shares := make([]operation.Share, len(roots))
		for i, r := range roots {
			choose := in
			if i == head {
				choose = func(*history, []*boundary) (*Target, error) { return to, nil }
			}
			shares[i] = r.moveShare(ctx, id, opt, choose, &moves[i])
		}
		res, err := operation.Together(shares, head, opt.DryRun, opt.Plan)
		if err != nil {
			return err
		}
		m = moves[head]
		m.result = res
		m.held = !res.Moves() && slices.ContainsFunc(moves, func(m *moved) bool { return m.held })
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	out, err := s.outcome(ctx, m)
	return out, m.result, err
}

// pickFor chooses the target in this root, and what finds the same place in others.
func (s *Sessions) pickFor(ctx context.Context, id string, pick choose) (to *Target, in choose, err error) {
	h, err := s.load(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	active, err := s.active(ctx, h)
	if err != nil {
		return nil, nil, err
	}
	if to, err = pick(h, active); err != nil || to == nil {
		return nil, func(*history, []*boundary) (*Target, error) { return nil, nil }, err
	}
	t, err := h.find(*to)
	if err != nil {
		return nil, nil, err
	}
	return to, func(there *history, _ []*boundary) (*Target, error) { return h.counterpart(*to, t, there), nil }, nil
}

// counterpart is the place of a target in another root, nil if nothing goes there. A root that joined
// the session later lacks the messages before.
func (h *history) counterpart(to Target, t *target, there *history) *Target {
	if to.Start || to.Part != "" && slices.ContainsFunc(there.messages, func(m *message) bool { return m.place(to.Part) != nil }) {
		return &to
	}
	first := slices.IndexFunc(h.messages, func(m *message) bool {
		if to.Part != "" {
			return m.place(to.Part) != nil
		}
		return m.ID == to.Message
	})
	goes := func(st *step) bool { return slices.ContainsFunc(t.own, func(o *step) bool { return o.ID == st.ID }) }
	stays := func(st *step) bool { return h.step(st.ID) != nil && !goes(st) }
	for _, m := range h.messages[max(first, 0):] {
		if other := there.message(m.ID); other != nil && !slices.ContainsFunc(other.steps, stays) {
			return &Target{Message: m.ID}
		}
	}
	return nil
}

// moveShare is the share of a root in a move.
func (r *rootShare) moveShare(ctx context.Context, id string, opt MoveOptions, pick choose, out **moved) operation.Share {
	return operation.Share{
		Root: r.repo.Root(),
		Run: func(dryRun bool, plan string, joint *operation.Joint) (*cairn.Result, error) {
			own := opt
			own.DryRun, own.Plan = dryRun, plan
			r.u.Join(joint)
			m, err := r.moveBoundary(ctx, r.u, id, own, pick)
			if err != nil {
				return nil, err
			}
			*out = m
			return m.result, nil
		},
		Idle: func() bool { return (*out).stays },
		Held: func() bool { return (*out).held },
	}
}

// revertStepsInAll is RevertSteps for a session of several roots: the steps go in all roots or in none.
func (s *Sessions) revertStepsInAll(
	ctx context.Context, id string, steps []string, opt cairn.RevertOptions, others otherRoots,
) (*cairn.Result, error) {
	var res *cairn.Result
	err := s.inAllRoots(ctx, id, others, func(roots []*rootShare, head int) (err error) {
		var shares []operation.Share
		for i, r := range roots {
			own := steps
			if i != head {
				h, err := r.load(ctx, id)
				if err != nil {
					return fmt.Errorf("%w, %s: %w", cairn.ErrOtherRoot, r.repo.Root(), err)
				}
				own = slices.DeleteFunc(slices.Clone(steps), func(step string) bool { return h.step(step) == nil })
			}
			if i == head {
				head = len(shares)
			} else if len(own) == 0 {
				continue
			}
			shares = append(shares, r.stepsShare(ctx, id, own, opt))
		}
		res, err = operation.Together(shares, head, opt.DryRun, opt.Plan)
		return err
	})
	return res, err
}

func (r *rootShare) stepsShare(ctx context.Context, id string, steps []string, opt cairn.RevertOptions) operation.Share {
	return operation.Share{
		Root: r.repo.Root(),
		Run: func(dryRun bool, plan string, joint *operation.Joint) (*cairn.Result, error) {
			own := opt
			own.DryRun, own.Plan = dryRun, plan
			r.u.Join(joint)
			return r.revertSteps(ctx, r.u, id, steps, own)
		},
		Idle: func() bool { return true },
	}
}
