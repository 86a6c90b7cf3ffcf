package session

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
)

// beginInAll begins a step in this root and then in the others. If it has begun here, the step is
// returned, and Missing tells of others in which it has not.
func (s *Sessions) beginInAll(ctx context.Context, b StepBegin) (*Step, error) {
	others := s.others(ctx, b.Session)
	if b.Step == "" {
		b.Step = s.unusedStep(ctx, b.Session, others)
	}
	here, there := others.split(s, b.Paths)
	own := b
	own.Paths = here
	begun, err := s.captureBefore(ctx, own)
	if err != nil {
		return nil, err
	}
	begun.Missing = others.each(func(o *otherRoot) error {
		same := b
		same.Message, same.Step, same.Paths, same.Owner = begun.Message, begun.ID, there[o.root], begun.Owner
		_, err := o.BeginStep(ctx, same)
		return err
	})
	return begun, nil
}

// unusedStep makes up an id for a step that no root of a session has, "" where there is but one root. A root that
// recorded a step alone, or joined later, counts otherwise than this one.
func (s *Sessions) unusedStep(ctx context.Context, id string, others otherRoots) string {
	if len(others) == 0 {
		return ""
	}
	all := make([]*history, 0, len(others)+1)
	if h, err := s.load(ctx, id); err == nil {
		all = append(all, h)
	}
	for _, o := range others {
		if o.err != nil {
			continue
		}
		if h, err := o.load(ctx, id); err == nil {
			all = append(all, h)
		}
	}
	most := 0
	for _, h := range all {
		most = max(most, h.Steps)
	}
	for n := most + 1; ; n++ {
		made := fmt.Sprintf("step-%d", n)
		if !slices.ContainsFunc(all, func(h *history) bool { return h.step(made) != nil }) {
			return made
		}
	}
}

// splitEnd returns the end of a step for this root, and those for others, by root.
func (l otherRoots) splitEnd(s *Sessions, e *StepEnd) (here *StepEnd, there map[string]*StepEnd) {
	own := *e
	if len(l) == 0 {
		own.Paths = possible(e.Paths) // split does that, too
		return &own, nil
	}
	var paths map[string][]string
	own.Paths, paths = l.split(s, e.Paths)
	own.Parts = nil
	there = make(map[string]*StepEnd)
	for _, o := range l {
		same := *e
		same.Paths, same.Parts = paths[o.root], nil
		there[o.root] = &same
	}
	for _, p := range e.Parts {
		stays := l.splitStays(s, p)
		own.Parts = append(own.Parts, stays[s.repo.Root()])
		for root, end := range there {
			if part, ok := stays[root]; ok {
				end.Parts = append(end.Parts, part)
			}
		}
	}
	return &own, there
}

// splitStays returns a part as each root gets it: of changes that no capture holds, those of the root.
// Other parts are the same in all roots.
func (l otherRoots) splitStays(s *Sessions, p Part) map[string]Part {
	parts := map[string]Part{s.repo.Root(): p}
	list, told := staysOf([]Part{p})
	if !told {
		for _, o := range l {
			parts[o.root] = p
		}
		return parts
	}
	lists := make(map[string][]UncapturedChange)
	for _, t := range list {
		root := s.repo.Root()
		if o := l.holding(s, string(t.Path)); o != nil {
			root = o.root
			if rel, err := filepath.Rel(root, string(t.Path)); err == nil {
				t.Path = cairn.Path(filepath.ToSlash(rel))
			}
		}
		lists[root] = append(lists[root], t)
	}
	for root := range parts {
		lists[root] = append([]UncapturedChange{}, lists[root]...)
	}
	for root, some := range lists {
		if part, err := UncapturedPart(p.ID, some); err == nil {
			parts[root] = part
		}
	}
	return parts
}

// endStep ends a step in the other roots, and adds to the step in this one what it changed there and where it did not
// end.
func (l otherRoots) endStep(ctx context.Context, there map[string]*StepEnd, ended *Step) {
	id := strings.TrimSuffix(ended.ID, late)
	patches := make([]cairn.Patch, len(l))
	ended.Missing = l.each(func(o *otherRoot) error {
		e := there[o.root]
		e.Step = cmp.Or(e.Step, id)
		st, err := o.EndStep(ctx, *e)
		if err == nil {
			patches[slices.Index(l, o)] = st.Patch
		}
		return err
	})
	for i, p := range patches {
		if len(p.Files) > 0 {
			ended.Elsewhere = append(ended.Elsewhere, RootPatch{cairn.Path(l[i].root), p})
		}
	}
}

// betweenElsewhere records in the other roots what RecordBetween records here. If one of them has
// changed, this root gets the message, too: the turn is one.
func (s *Sessions) betweenElsewhere(ctx context.Context, b *StepBetween, others otherRoots, made *Step) (*Step, error) {
	if len(others) == 0 {
		return made, nil
	}
	steps := make(map[string]*Step, len(others))
	for _, o := range others {
		steps[o.root] = &Step{}
	}
	missing := others.each(func(o *otherRoot) error {
		st, err := o.RecordBetween(ctx, *b)
		if st != nil {
			*steps[o.root] = *st
		}
		return err
	})
	if made != nil {
		made.Missing = missing
		return made, nil
	}
	for _, o := range others {
		st := steps[o.root]
		if st.ID == "" {
			continue
		}
		_, err := s.AddMessage(ctx, MessageBegin{Session: b.Session, Message: b.Message, Role: RoleUser, Prompt: b.Prompt, Meta: b.Meta})
		st.Missing = missing
		return st, err
	}
	return nil, missingError(missing)
}

// forkElsewhere forks a session in its other roots. A root without the message, because it joined the
// session later, forks at the first message after it that it has.
func (s *Sessions) forkElsewhere(ctx context.Context, others otherRoots, id, message, newID string) []Missing {
	return others.each(func(o *otherRoot) error {
		at := message
		if at != "" {
			h, err := s.load(ctx, id)
			if err != nil {
				return err
			}
			there, err := o.load(ctx, id)
			if err != nil {
				return err
			}
			at = h.firstIn(there, message)
		}
		_, err := o.Fork(ctx, id, at, newID)
		return err
	})
}

// firstIn is the first message, from a given one on, that the session has in another root; "" for none.
func (h *history) firstIn(there *history, id string) string {
	from := slices.IndexFunc(h.messages, func(m *message) bool { return m.ID == id })
	for _, m := range h.messages[max(from, 0):] {
		if there.message(m.ID) != nil {
			return m.ID
		}
	}
	return ""
}

// addElsewhere adds what steps changed in the other roots. A root that cannot be read adds nothing.
func (s *Sessions) addElsewhere(ctx context.Context, h *history, list []Message) {
	if s.alone || len(h.Further) == 0 {
		return
	}
	for _, o := range s.others(ctx, h.ID) {
		if o.err != nil {
			continue
		}
		there, err := o.load(ctx, h.ID)
		if err != nil {
			continue
		}
		for i := range list {
			for j := range list[i].Steps {
				o.addPatch(ctx, &list[i].Steps[j], there)
			}
		}
	}
}

func (o *otherRoot) addPatch(ctx context.Context, to *Step, there *history) {
	st := there.step(to.ID)
	if st == nil {
		return
	}
	if out, err := o.stepOut(ctx, there, st); err == nil && len(out.Patch.Files) > 0 {
		to.Elsewhere = append(to.Elsewhere, RootPatch{cairn.Path(o.root), out.Patch})
	}
}

// countSteps counts what the steps of a session changed in other roots.
func (l otherRoots) countSteps(ctx context.Context, h *history) {
	for _, o := range l {
		if o.err != nil {
			continue
		}
		there, err := o.load(ctx, h.ID)
		if err != nil {
			continue
		}
		for st := range h.steps() {
			if other := there.step(st.ID); other != nil {
				st.elsewhere += other.changed
			}
		}
	}
}

// movedPaths adds what operations did in other roots, as absolute paths.
func (l otherRoots) movedPaths(ctx context.Context, n *News, ops []unheardOf) error {
	for _, o := range l {
		if o.err != nil {
			continue
		}
		var shares []unheardOf
		for _, op := range ops {
			if op.Joint == nil {
				continue
			}
			share, err := o.lines.ShareOf(ctx, op.Joint.ID)
			if err != nil {
				return err
			}
			if share != nil {
				shares = append(shares, unheardOf{share, true, share.Paths})
			}
		}
		there := &News{}
		if err := o.movedPaths(ctx, there, shares); err != nil {
			return err
		}
		for _, path := range there.Restored {
			n.Restored = append(n.Restored, o.absolute(path))
		}
		for _, path := range there.Deleted {
			n.Deleted = append(n.Deleted, o.absolute(path))
		}
		for _, p := range there.Stay {
			n.Stay = append(n.Stay, cairn.PathReason{Path: cairn.Path(o.absolute(string(p.Path))), Reason: p.Reason})
		}
	}
	return nil
}
