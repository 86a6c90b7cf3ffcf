package review

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/reviewed"
	"github.com/seed-fb9cbc17/cairn/session"
)

// revertHunks takes hunks of a turn back: those of the range from before the first step that
// changed one of their files to after the last. For hunks of one file that is the range that the
// turn's diff shows. For hunks of several files the range may hold a change of another writer in
// one of them; a hunk that has another name because of that is ErrNotFound.
func (s *store) revertHunks(ctx context.Context, t *Turn, hunks []reviewed.Mark, opt cairn.RevertOptions) (*cairn.Result, error) {
	messages, err := s.all.History(ctx, t.Session.ID)
	if err != nil {
		return nil, err
	}
	steps := stepsOf(messages, t.ID)
	touching := slices.DeleteFunc(slices.Clone(steps), func(st *session.Step) bool { return !s.touches(st, hunks) })
	if len(touching) == 0 { // a sub-agent made the changes
		touching = steps
	}
	if len(touching) == 0 {
		return nil, fmt.Errorf("%w: the turn has no step that has ended", session.ErrNotFound)
	}
	return s.repo.Revert(ctx, cairn.Range{From: touching[0].Before.ID, To: touching[len(touching)-1].After.ID}, opt)
}

// stepsOf lists the steps of a turn that have ended.
func stepsOf(messages []session.Message, turn string) (steps []*session.Step) {
	inside := false
	for i := range messages {
		m := &messages[i]
		inside = m.ID == turn || inside && m.Role != session.RoleUser
		for j := range m.Steps {
			if inside && !m.Steps[j].Open() {
				steps = append(steps, &m.Steps[j])
			}
		}
	}
	return steps
}

// touches reports whether a step changed a file of one of the hunks.
func (s *store) touches(st *session.Step, hunks []reviewed.Mark) bool {
	root := filepath.ToSlash(s.repo.Root())
	return slices.ContainsFunc(hunks, func(h reviewed.Mark) bool {
		return slices.Contains(st.Patch.Files, root+"/"+string(h.Path))
	})
}
