package session

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Newest is the id that means the session that was changed last. Newest+"~1" means the one that
// was changed last before it, and so on.
const Newest = "@"

// Find returns the id of the session that spec names. A spec is the whole id, or else
// Newest, alone or with ~N, or else a prefix that one id alone has. The error wraps
// cairn.ErrNotFound or cairn.ErrAmbiguous.
func (s *Sessions) Find(ctx context.Context, spec string) (string, error) {
	all, err := s.named(ctx)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(all, func(d digest) bool { return d.ID == spec }) {
		return spec, nil
	}
	if n, ok := newestBut(spec); ok {
		return s.newestBut(ctx, n)
	}
	var found []choice
	for i := range all {
		if d := &all[i]; spec != "" && strings.HasPrefix(d.ID, spec) {
			found = append(found, choice{d.ID, d.title()})
		}
	}
	return pick("session "+name(spec), found)
}

// newestBut reads Newest, alone or with ~N.
func newestBut(spec string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(spec, Newest+"~")
	if spec == Newest {
		return 0, true
	}
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0
}

// newestBut returns the id of the session that was changed last but n.
func (s *Sessions) newestBut(ctx context.Context, n int) (string, error) {
	list, err := s.List(ctx)
	switch {
	case err != nil:
		return "", err
	case len(list) == 0:
		return "", notFound("no session yet")
	case n >= len(list):
		return "", notFound("session @~%d: there are only %d", n, len(list))
	}
	return list[n].ID, nil
}

// choice is one of the things that a name could mean.
type choice struct{ id, title string }

// shownChoices is the number of choices that an error lists.
const shownChoices = 4

// pick returns the only choice. The error about several ones lists them by their titles.
func pick(what string, found []choice) (string, error) {
	slices.SortFunc(found, func(a, b choice) int { return strings.Compare(a.id, b.id) })
	switch len(found) {
	case 0:
		return "", notFound("%s", what)
	case 1:
		return found[0].id, nil
	}
	var list []string
	for _, c := range found[:min(len(found), shownChoices)] {
		text := name(c.id)
		if c.title != "" {
			text += ` "` + wording.FirstLine(c.title, titleColumns) + `"`
		}
		list = append(list, text)
	}
	text := strings.Join(list, " or ")
	if more := len(found) - len(list); more > 0 {
		text += fmt.Sprintf(" or one of %d more", more)
	}
	return "", fmt.Errorf("%w: %s could be %s (give more of the id)", cairn.ErrAmbiguous, what, text)
}

// Place is the spec of a session by its index in the answer of List.
func Place(index int) string {
	if index == 0 {
		return Newest
	}
	return Newest + "~" + strconv.Itoa(index)
}

// FindStep returns the id of the step that spec names: a whole id, or else Newest, alone or with ~N,
// among the steps that are not reverted, or else a prefix that one id alone has. The error wraps
// ErrNotFound or cairn.ErrAmbiguous.
func (s *Sessions) FindStep(ctx context.Context, session, spec string) (string, error) {
	ids, err := s.FindSteps(ctx, session, []string{spec})
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// FindSteps is FindStep for several specs.
func (s *Sessions) FindSteps(ctx context.Context, session string, specs []string) ([]string, error) {
	if len(specs) == 0 {
		return nil, nil
	}
	history, err := s.History(ctx, session)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for i := range history {
		steps = append(steps, history[i].Steps...)
	}
	ids := make([]string, len(specs))
	for i, spec := range specs {
		if ids[i], err = findStep(steps, session, spec); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func findStep(steps []Step, session, spec string) (string, error) {
	if slices.ContainsFunc(steps, func(st Step) bool { return st.ID == spec }) {
		return spec, nil
	}
	if n, ok := newestBut(spec); ok {
		left := slices.DeleteFunc(slices.Clone(steps), func(st Step) bool { return st.Reverted })
		if n >= len(left) {
			return "", notFound("step @~%d of session %q: there are %d", n, session, len(left))
		}
		return left[len(left)-1-n].ID, nil
	}
	var found []choice
	for i := range steps {
		if st := &steps[i]; spec != "" && strings.HasPrefix(st.ID, spec) {
			found = append(found, choice{st.ID, st.Said()})
		}
	}
	return pick("step "+strconv.Quote(spec)+" of session "+strconv.Quote(session), found)
}

// Said lists the calls of the step's tools in a line.
func (st *Step) Said() string {
	var calls []string
	for _, call := range st.Calls {
		calls = append(calls, call.String())
	}
	return strings.Join(calls, ", ")
}
