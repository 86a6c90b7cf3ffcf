package session

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

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
