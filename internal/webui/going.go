package webui

import (
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn/session"
)

// countedSteps is the number of steps of a preview whose changes are counted.
const countedSteps = 200

// going are the steps of a session that a revert to before a message takes back, or those of the turn
// that begins with the message.
type going struct {
	turns []*turn // with only those steps, in their order
	ids   []string
}

// going finds the steps that have ended and are not reverted, from the message of a way on.
func (v *visit) going(w *way) (*going, error) {
	if v.goes != nil {
		return v.goes, nil
	}
	s, err := v.project.Sessions.Get(v.ctx(), w.Session)
	if err != nil {
		return nil, err
	}
	messages, err := v.project.Sessions.History(v.ctx(), w.Session)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(messages, func(m session.Message) bool { return m.ID == w.Message })
	if at < 0 {
		return nil, fmt.Errorf("message %q: %w", w.Message, session.ErrNotFound)
	}
	goes := make(map[string]bool)
	for i := range messages[at:] {
		goes[messages[at+i].ID] = true
	}
	v.goes = &going{}
	for _, t := range turnsOf(s, messages) {
		if w.Turn && t.Message != w.Message {
			continue
		}
		var steps []session.Step
		for _, st := range t.Steps {
			if goes[st.Message] && !st.Reverted && !st.Open() {
				steps = append(steps, st)
			}
		}
		for i := range steps {
			v.goes.ids = append(v.goes.ids, steps[i].ID)
		}
		if t.Steps = steps; len(steps) > 0 {
			v.goes.turns = append(v.goes.turns, t)
		}
	}
	return v.goes, nil
}

// steps are the ids of the steps that a way takes back.
func (w *way) steps(v *visit) ([]string, error) {
	if len(w.Steps) > 0 {
		return w.Steps, nil
	}
	g, err := v.going(w)
	if err != nil {
		return nil, err
	}
	return g.ids, nil
}

// boxOf names the box of a step: ids may have any bytes, and a browser sends fields as UTF-8.
func (w *way) boxOf(step string) string { return elementID("s" + w.Session + "/" + step) }

// tickedSteps are the ids of the ticked steps. changed reports whether they are others than those that
// the way takes back.
func (v *visit) tickedSteps(w *way, b *boxes) (ids []string, changed bool, err error) {
	g, err := v.going(w)
	if err != nil {
		return nil, false, err
	}
	now, err := w.steps(v)
	if err != nil {
		return nil, false, err
	}
	for _, id := range g.ids {
		ticked := b.steps[w.boxOf(id)]
		if ticked {
			ids = append(ids, id)
		}
		changed = changed || ticked != slices.Contains(now, id)
	}
	return ids, changed, nil
}

// plannedTurn and plannedStep are boxes of a preview.
type plannedTurn struct {
	Number int
	Prompt string
	Steps  []plannedStep
}

type plannedStep struct {
	*stepView
	Box    string
	Ticked bool
}

// plannedTurns lists the steps that a way of a session takes back, and those that it was narrowed
// down from.
func (v *visit) plannedTurns(w *way) (list []plannedTurn, err error) {
	g, err := v.going(w)
	if err != nil {
		return nil, err
	}
	now, err := w.steps(v)
	if err != nil {
		return nil, err
	}
	left := countedSteps
	for _, t := range g.turns {
		one := plannedTurn{Number: t.Number, Prompt: t.Prompt}
		for i := range t.Steps {
			st := &t.Steps[i]
			view := &stepView{Step: st, Number: i + 1}
			view.Calls, view.Rest = callsOf(st)
			if left--; left >= 0 {
				if view.Counts, err = v.count(st.Before.ID, st.After.ID); err != nil {
					return nil, err
				}
			}
			one.Steps = append(one.Steps, plannedStep{view, w.boxOf(st.ID), slices.Contains(now, st.ID)})
		}
		list = append(list, one)
	}
	return list, nil
}
