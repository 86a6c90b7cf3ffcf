package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// otherRoot is another root of a session. err is why it cannot be used.
type otherRoot struct {
	*Sessions
	root string
	err  error
}

type otherRoots []*otherRoot

// others opens the other roots of a session. A session that cannot be read has none: the next call of
// the caller fails with the reason.
func (s *Sessions) others(ctx context.Context, id string) otherRoots {
	var list otherRoots
	for _, root := range s.furtherOf(ctx, id) {
		o, err := s.sessionsIn(root)
		list = append(list, &otherRoot{o, root, err})
	}
	return list
}

// furtherOf lists the other roots of a session, where they lie now; none for a session that has not begun. Those of a
// session that was fetched are of another machine.
func (s *Sessions) furtherOf(ctx context.Context, id string) []string {
	if id == "" || s.alone {
		return nil
	}
	h, err := s.load(ctx, id)
	if err != nil || h.from != nil {
		return nil
	}
	return s.lines.Elsewhere(h.Further)
}

// sessionsIn returns the sessions of another root. They leave all further roots to s.
func (s *Sessions) sessionsIn(root string) (*Sessions, error) {
	repo, err := s.repo.Beside(root)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.other[root]; known != nil && known.repo == repo {
		return known, nil
	}
	o := New(repo)
	o.alone, o.clock, o.awake = true, s.clock, s.awake
	if s.other == nil {
		s.other = make(map[string]*Sessions)
	}
	s.other[root] = o
	return o, nil
}

// each does something in every root at once and returns where it failed.
func (l otherRoots) each(do func(*otherRoot) error) (missing []Missing) {
	errs := make([]error, len(l))
	var all sync.WaitGroup
	for i, o := range l {
		all.Go(func() {
			err := o.err
			if err == nil {
				err = do(o)
			}
			errs[i] = err
		})
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			missing = append(missing, Missing{Path: cairn.Path(l[i].root), Reason: err.Error()})
		}
	}
	return missing
}

// missingError is the error about other roots of a call whose answer cannot list them.
func missingError(missing []Missing) error {
	var errs []error
	for _, m := range missing {
		errs = append(errs, fmt.Errorf("%w, %s: %s", cairn.ErrOtherRoot, string(m.Path), m.Reason))
	}
	return errors.Join(errs...)
}

func inRoot(root string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w, %s: %w", cairn.ErrOtherRoot, root, err)
}

// inOthers repeats a call in the other roots of a session.
func (s *Sessions) inOthers(ctx context.Context, id string, do func(*Sessions) error) []Missing {
	return s.others(ctx, id).each(func(o *otherRoot) error { return do(o.Sessions) })
}

// possible returns the paths without texts that hold a NUL. These name nothing on any disk, and a
// record could not be read with them.
func possible(paths []string) []string {
	hasNUL := func(path string) bool { return strings.IndexByte(path, 0) >= 0 }
	if !slices.ContainsFunc(paths, hasNUL) {
		return paths
	}
	return slices.DeleteFunc(slices.Clone(paths), hasNUL)
}

// split returns the possible paths of this root or of none, and those of other roots.
func (l otherRoots) split(s *Sessions, paths []string) (here []string, there map[string][]string) {
	paths = possible(paths)
	if len(l) == 0 {
		return paths, nil
	}
	there = make(map[string][]string)
	for _, path := range paths {
		if o := l.holding(s, path); o != nil {
			there[o.root] = append(there[o.root], path)
		} else {
			here = append(here, path)
		}
	}
	return here, there
}

// holding is the other root that has an absolute path, nil if none has it.
func (l otherRoots) holding(s *Sessions, path string) *otherRoot {
	if !filepath.IsAbs(path) || !s.lines.Outside(path) {
		return nil
	}
	for _, o := range l {
		if o.err == nil && !o.lines.Outside(path) {
			return o
		}
	}
	return nil
}

// furtherRoots returns the real paths of directories that a session is to have beside its root. A
// directory inside the root is part of it.
func (s *Sessions) furtherRoots(dirs []string) ([]string, error) {
	if s.alone {
		return dirs, nil
	}
	var roots []string
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			return nil, inRoot(dir, fmt.Errorf("%w: not an absolute path", cairn.ErrRoot))
		}
		if !s.lines.Outside(dir) {
			continue
		}
		root, err := state.ResolveRoot(dir)
		if err != nil {
			return nil, inRoot(dir, err)
		}
		roots = append(roots, root)
	}
	return roots, apart(append(slices.Clone(roots), s.repo.Root()))
}

// apart refuses roots that lie within each other: two captures would have the same files.
func apart(roots []string) error {
	for i, a := range roots {
		for _, b := range roots[i+1:] {
			if a != b && (realpath.Within(a, b) || realpath.Within(b, a)) {
				return fmt.Errorf("%w: %s and %s lie within each other, and a session cannot have both", cairn.ErrRoot, a, b)
			}
		}
	}
	return nil
}

// link makes directories roots of a session and of its sub-agents. Each root knows all others. The new
// ones come first, so that no root of a session lacks it. A root that the session has already may be
// missing.
func (s *Sessions) link(ctx context.Context, b *SessionBegin, further []string) (missing []Missing, err error) {
	if s.alone {
		return nil, s.setFurther(ctx, b.ID, further)
	}
	h, err := s.load(ctx, b.ID)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clone(h.Further), further...)
	slices.Sort(all)
	all = slices.Compact(all)
	if err := apart(append(slices.Clone(all), s.repo.Root())); err != nil {
		return nil, err
	}
	for _, root := range all {
		err := s.linkRoot(ctx, h, b, root, all)
		switch {
		case err == nil:
		case slices.Contains(h.Further, root):
			missing = append(missing, Missing{Path: cairn.Path(root), Reason: err.Error()})
		default:
			return nil, inRoot(root, err)
		}
	}
	if err := s.setFurther(ctx, b.ID, all); err != nil || len(further) == 0 {
		return missing, err
	}
	return missing, s.linkChildren(ctx, b.ID, further)
}

// linkRoot begins a session in another root, if it has not begun there, with the message and the step
// that are under way.
func (s *Sessions) linkRoot(ctx context.Context, h *history, b *SessionBegin, root string, all []string) error {
	o, err := s.sessionsIn(root)
	if err != nil {
		return err
	}
	roots := slices.DeleteFunc(append(slices.Clone(all), s.repo.Root()), func(r string) bool { return r == root })
	slices.Sort(roots)
	if _, err := o.Begin(ctx, SessionBegin{ID: b.ID, Parent: h.Parent, Title: b.Title, Meta: h.Meta, Further: roots}); err != nil {
		return err
	}
	if slices.Contains(h.Further, root) || len(h.messages) == 0 {
		return nil
	}
	m := h.messages[len(h.messages)-1]
	if _, err := o.AddMessage(ctx, MessageBegin{
		Session: h.ID, Message: m.ID, Role: m.Role, Prompt: m.Prompt, Parts: m.Parts, Meta: m.Meta,
	}); err != nil {
		return err
	}
	open := h.openStep()
	if open == nil {
		return nil
	}
	_, err = o.BeginStep(ctx, StepBegin{Session: h.ID, Message: open.Message, Step: open.ID, Meta: open.Meta, Owner: open.Owner})
	return err
}

// linkChildren gives further roots to the sub-agents of a session.
func (s *Sessions) linkChildren(ctx context.Context, id string, further []string) error {
	all, err := s.digests(ctx)
	if err != nil {
		return err
	}
	for _, d := range all {
		if d.Parent != id {
			continue
		}
		if _, err := s.link(ctx, &SessionBegin{ID: d.ID}, further); err != nil {
			return err
		}
	}
	return nil
}

// with is a session after a call that did nothing in some other roots.
func (s *Sessions) with(ctx context.Context, id string, missing []Missing) (*Session, error) {
	out, err := s.Get(ctx, id)
	if err == nil {
		out.Missing = missing
	}
	return out, err
}

// setFurther records the other roots of a session in this one.
func (s *Sessions) setFurther(ctx context.Context, id string, roots []string) error {
	if h, err := s.load(ctx, id); err != nil || slices.Equal(h.Further, roots) {
		return err
	}
	return s.update(ctx, id, func(u *operation.LineUpdate) error {
		h, err := s.load(ctx, id)
		if err != nil || slices.Equal(h.Further, roots) {
			return err
		}
		h.Further = roots
		s.add(h, event{Kind: kindBegin})
		return s.append(ctx, u, h, operation.LineAppend{Message: "directories of session " + name(id)})
	})
}
