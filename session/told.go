package session

import (
	"cmp"
	"errors"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// told is what the line of a session says of a step.
type told struct {
	work  *Work
	paths []string // that tools named
}

// tell reads what the line says of a step: its work, and the paths that its tools named. The step
// may have left the session, and its id may have been given again since. So the events around the
// one at which it was open count, and not the session as it is now.
func (w *blamer) tell(st runningStep) (*Work, []string, error) {
	if t, ok := w.steps[st]; ok {
		return t.work, t.paths, nil
	}
	entries, at, err := w.entriesAround(st)
	if err != nil {
		return nil, nil, err
	}
	t := told{work: &Work{Session: st.session, Message: st.message, Step: st.step}}
	begun := w.back(&t, st, entries[:at+1])
	w.forward(&t, st, entries[begun:])
	w.steps[st] = t
	return t.work, t.paths, nil
}

// entriesAround returns the events of the session, and the place of the step's event among them. Of
// a session that is gone, or cannot be read, only the events before are reachable.
func (w *blamer) entriesAround(st runningStep) ([]*entry, int, error) {
	tip, err := w.lines.Tip(st.session)
	if err != nil && !errors.Is(err, cairn.ErrNotFound) && !Unreadable(err) {
		return nil, 0, err
	}
	is := func(e *entry) bool { return e.mark.id == st.at }
	if err == nil {
		l, err := w.read(w.ctx, st.session, tip)
		if err != nil && !Unreadable(err) {
			return nil, 0, err
		}
		if err == nil {
			if i := slices.IndexFunc(l.entries, is); i >= 0 {
				return l.entries, i, nil
			}
		}
	}
	e, err := w.lines.Event(st.at)
	if err != nil {
		return nil, 0, err
	}
	l, err := w.readSince(w.ctx, e, nil, "")
	if err != nil {
		return nil, 0, err
	}
	return l.entries, len(l.entries) - 1, nil
}

// back goes back to the beginning of the step, and from there to the prompt of its turn. It returns
// the place of the beginning.
func (w *blamer) back(t *told, st runningStep, entries []*entry) (begun int) {
	begun = -1
	wanted := st.message
	for i, e := range slices.Backward(entries) {
		for _, ev := range slices.Backward(e.rec.Events) {
			switch {
			case begun < 0 && ev.Kind == kindStep && ev.Step == st.step:
				begun = i
				t.work.Agent = cmp.Or(ev.Meta[MetaAgent], e.rec.Now.Meta[MetaAgent])
				t.work.Model = cmp.Or(ev.Meta[MetaModel], e.rec.Now.Meta[MetaModel])
				t.work.tell(calls(nil, ev.Meta), nil, w.repo.Root())
			case begun >= 0 && ev.Kind == kindMessage && (wanted == "" || ev.Message == wanted):
				wanted = "" // the message itself was found; before an answer comes the prompt
				t.work.Agent = cmp.Or(t.work.Agent, ev.Meta[MetaAgent])
				if ev.Prompt != "" || ev.Role == RoleUser {
					t.work.Prompt = wording.FirstLine(ev.Prompt, workText)
					return begun
				}
			}
		}
	}
	if begun < 0 {
		return len(entries) - 1
	}
	if known := entries[begun].rec.Now.Work; known != nil && known.Message == st.message {
		t.work.Prompt = known.Prompt // the line has lost the message
	}
	return begun
}

// forward goes from the beginning of the step to its end.
func (w *blamer) forward(t *told, st runningStep, entries []*entry) {
	for i, e := range entries {
		for j := range e.rec.Events {
			ev := &e.rec.Events[j]
			switch {
			case i > 0 && ev.Kind == kindStep && ev.Step == st.step:
				return // given again
			case ev.Step != st.step:
				continue
			}
			t.paths = append(t.paths, ev.Paths...)
			if ev.Kind == kindEnd {
				t.work.Changed = ev.Changed
				if list := calls(ev.Parts, nil); len(list) > 0 {
					t.work.Calls = nil
					t.work.tell(list, nil, w.repo.Root())
				}
				t.work.tell(nil, ev.first(), w.repo.Root())
				return
			}
		}
	}
}
