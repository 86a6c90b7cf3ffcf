package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// expired makes ErrExpired of a state that has been cleaned away.
func expired(err error, format string, args ...any) error {
	if !errors.Is(err, cairn.ErrNotFound) || errors.Is(err, operation.ErrNotInPaths) {
		return err
	}
	if errors.Is(err, cairn.ErrThinned) {
		return fmt.Errorf("%w: %s: %w", ErrExpired, fmt.Sprintf(format, args...), err)
	}
	return fmt.Errorf("%w: %s has been cleaned away", ErrExpired, fmt.Sprintf(format, args...))
}

// family is a session with its children and theirs.
type family struct {
	head    *history
	members map[string]*history // by id, the head included
	order   []string            // parents first
	above   map[string]bool     // the ancestors of the head
	all     []digest
	unread  []Unread // sessions that cannot be read
}

func (s *Sessions) family(ctx context.Context, id string) (*family, error) {
	h, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	all, unread, err := s.around(ctx, h)
	if err != nil {
		return nil, err
	}
	f := &family{head: h, members: map[string]*history{id: h}, order: []string{id}, above: make(map[string]bool), all: all, unread: unread}
	for _, d := range descendants(all, id) {
		member, err := s.load(ctx, d.ID)
		if Unreadable(err) {
			continue // addOthers sees to it
		}
		if err != nil {
			return nil, err
		}
		f.members[d.ID] = member
		f.order = append(f.order, d.ID)
	}
	for at := h.Parent; at != "" && !f.above[at]; {
		f.above[at] = true
		i := slices.IndexFunc(all, func(d digest) bool { return d.ID == at })
		if i < 0 {
			break
		}
		at = all[i].Parent
	}
	return f, nil
}

// open lists the running steps.
func (f *family) open() (list []*history) {
	for _, id := range f.order {
		if f.members[id].openStep() != nil {
			list = append(list, f.members[id])
		}
	}
	return list
}

// dead lists the members with a step that counts as ended because its owner is gone.
func (f *family) dead() (list []*history) {
	for _, id := range f.order {
		if f.members[id].dead != nil {
			list = append(list, f.members[id])
		}
	}
	return list
}

// withChildren adds the steps of the sub-agents that were called by these steps of the head, or by
// the messages that go, at whatever time those steps ran.
func (f *family) withChildren(own []*step, goes func(messageID, stepID string) bool) []stepRef {
	refs := make([]stepRef, 0, len(own))
	for _, st := range own {
		refs = append(refs, stepRef{f.head.ID, st.ID})
	}
	gone := map[string]bool{}
	for _, id := range f.order[1:] {
		h := f.members[id]
		gone[id] = gone[h.Parent] || h.Parent == f.head.ID && goes(h.ParentMessage, h.ParentStep)
		if !gone[id] {
			continue
		}
		for st := range h.steps() {
			refs = append(refs, stepRef{id, st.ID})
		}
	}
	return refs
}

func (h *history) steps() iter.Seq[*step] {
	return func(yield func(*step) bool) {
		for _, m := range h.messages {
			for _, st := range m.steps {
				if !yield(st) {
					return
				}
			}
		}
	}
}

// window is steps that overlap, as one.
type window struct { // window is a group of steps that overlap in time.
	operation.UndoneStep
	began, ended int64
	steps        map[stepRef]bool
	shared       map[string]bool // checkpoints before them: forks have the same steps
}

// forever is later than every end.
const forever = 1<<63 - 1

// windows joins steps that overlap in time: a change inside two steps of a family counts for both.
func (f *family) windows(refs []stepRef) []*window {
	var list []*window
	for _, ref := range refs {
		st := f.members[ref.Session].step(ref.Step)
		if st == nil {
			continue
		}
		w := &window{
			began: st.began, ended: st.endOr(forever), steps: map[stepRef]bool{ref: true},
			shared: map[string]bool{st.Before.ID: true},
		}
		w.Step = operation.Step{Session: ref.Session, From: st.Before.ID, To: st.After.ID, Claims: st.Paths}
		w.Made, w.Hints = st.absent, st.hints
		if len(st.outside) > 0 {
			w.Outside = [][]string{st.outside}
		}
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b *window) int { return cmp.Compare(a.began, b.began) })
	var joined []*window
	for _, w := range list {
		if n := len(joined); n > 0 && w.began < joined[n-1].ended {
			joined[n-1].join(w)
		} else {
			joined = append(joined, w)
		}
	}
	return joined
}

func (s *step) endOr(open int64) int64 {
	if s.ended == 0 {
		return open
	}
	return s.ended
}

// join adds a step. Only the first step's knowledge of absent paths counts: an earlier step of the
// window may have deleted a path that a later one found absent.
func (w *window) join(later *window) {
	if later.ended > w.ended {
		w.ended, w.To = later.ended, later.To
	}
	w.Claims = append(slices.Clip(w.Claims), later.Claims...)
	w.Hints = append(slices.Clip(w.Hints), later.Hints...)
	w.Outside = append(slices.Clip(later.Outside), w.Outside...)
	for ref := range later.steps {
		w.steps[ref] = true
	}
	for id := range later.shared {
		w.shared[id] = true
	}
}

// addOthers finds the steps of others that overlap windows: of other sessions, and of the steps of
// the family that stay. A session that cannot be read counts as having worked all the time.
func (s *Sessions) addOthers(ctx context.Context, f *family, windows []*window) error {
	if len(windows) == 0 {
		return nil
	}
	first := windows[0].began
	for _, d := range f.all {
		if f.above[d.ID] || d.At < first && d.Open == "" {
			continue
		}
		err := s.addOther(ctx, f, &d, windows)
		if Unreadable(err) {
			s.addUnread(ctx, &Unread{ID: d.ID, at: d.At, open: d.Open != ""}, windows)
		} else if err != nil {
			return err
		}
	}
	for _, u := range f.unread {
		if !f.above[u.ID] {
			s.addUnread(ctx, &u, windows)
		}
	}
	if f.head.from != nil {
		return nil // operations of this store did not move the files there
	}
	return s.addOperations(ctx, windows)
}

// addOther adds the steps of a session.
func (s *Sessions) addOther(ctx context.Context, f *family, d *digest, windows []*window) (err error) {
	h := f.members[d.ID]
	if h == nil {
		if h, err = s.load(ctx, d.ID); err != nil {
			return err
		}
	}
	hidden, err := s.hidden(ctx, h)
	if err != nil {
		return err
	}
	for st := range h.steps() {
		h.overlap(st, windows, hidden.steps[st.ID])
	}
	return nil
}

// maxUnread is how long the last step of a session that cannot be read may have lasted, in nanoseconds.
const maxUnread = int64(24 * time.Hour)

// addUnread adds a session that cannot be read as one step. What happened in a window meanwhile may be its work.
func (s *Sessions) addUnread(ctx context.Context, u *Unread, windows []*window) {
	began, end := int64(0), u.at
	if u.open {
		end = min(end, forever-maxUnread) + maxUnread
	}
	if tip, err := s.lines.Tip(u.ID); err == nil {
		for e, err := range s.lines.Back(ctx, tip.ID) {
			if err != nil {
				began = 0
				break
			}
			began = e.At()
		}
	}
	for _, w := range windows {
		if began < w.ended && end > w.began {
			w.Others = append(w.Others, operation.Step{Session: u.ID, From: w.From, To: w.To, Note: "it cannot be read, see cairn doctor"})
		}
	}
}

// addOperations finds the changes of restores, reverts and undos inside windows: they belong to no
// step.
func (s *Sessions) addOperations(ctx context.Context, windows []*window) error {
	for op, err := range s.repo.Operations(ctx) {
		if err != nil {
			return err
		}
		at := op.When.UnixNano()
		if at < windows[0].began {
			break
		}
		for _, w := range windows {
			if at > w.began && at < w.ended {
				w.Others = append(w.Others, operation.Step{Operation: op.ID, From: op.Before, To: op.After, Claims: op.Paths})
			}
		}
	}
	return nil
}

// overlap adds a step to the windows that it overlaps without being part of them.
func (h *history) overlap(st *step, windows []*window, reverted bool) {
	end := st.endOr(forever)
	for _, w := range windows {
		if w.steps[stepRef{h.ID, st.ID}] || w.shared[st.Before.ID] || st.began >= w.ended || end <= w.began {
			continue
		}
		w.Others = append(w.Others, operation.Step{
			Session: h.ID, From: st.Before.ID, To: st.After.ID, Claims: st.Paths, Reverted: reverted,
			Note: h.note(st),
		})
	}
}

// undoneSteps returns windows in the form of package operation.
func undoneSteps(windows []*window) []operation.UndoneStep {
	out := make([]operation.UndoneStep, len(windows))
	for i, w := range windows {
		out[i] = w.UndoneStep
	}
	return out
}

// descendants lists the children of a session and theirs, parents first.
func descendants(all []digest, id string) []digest {
	var list []digest
	seen := map[string]bool{id: true}
	for queue := []string{id}; len(queue) > 0; queue = queue[1:] {
		for _, d := range all {
			if d.Parent == queue[0] && !seen[d.ID] {
				seen[d.ID] = true
				list, queue = append(list, d), append(queue, d.ID)
			}
		}
	}
	return list
}
