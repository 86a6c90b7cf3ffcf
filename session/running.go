package session

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
)

// runningStep is a step that was open between two neighbouring states of the disk. at is an event
// of its session at which it was open, or with which it began.
type runningStep struct{ session, message, step, at string }

// running lists the steps that were open when a change appeared.
func (w *blamer) running(o *cairn.BlameOrigin) ([]runningStep, error) {
	following := make(map[string]string) // by session: its next event
	for _, id := range o.Following {
		rec, err := w.record(id)
		if err != nil {
			return nil, err
		}
		if rec.Now.ID != "" {
			following[rec.Now.ID] = id
		}
	}
	latest := make(map[string]string) // the line of a fork begins with events of its source, so the last one counts
	var sessions []string
	for _, id := range o.Open {
		rec, err := w.record(id)
		if err != nil {
			return nil, err
		}
		if rec.Now.ID == "" {
			continue
		}
		if latest[rec.Now.ID] == "" {
			sessions = append(sessions, rec.Now.ID)
		}
		latest[rec.Now.ID] = id
	}
	var steps []runningStep
	for _, id := range sessions {
		st, err := w.openStep(latest[id], following[id])
		if err != nil {
			return nil, err
		}
		if st != nil {
			steps = append(steps, *st)
		}
	}
	return w.withoutParents(steps)
}

// openStep returns the step of a session that was open between two of its events, nil for none.
// after is "" if there is no later event.
func (w *blamer) openStep(before, after string) (*runningStep, error) {
	rec, err := w.record(before)
	if err != nil {
		return nil, err
	}
	d := &rec.Now
	if after == "" && d.Open == "" {
		return nil, nil // without its history: a line may be long, and most sessions of a store have ended
	}
	if after == "" {
		h, err := w.load(w.ctx, d.ID)
		if errors.Is(err, ErrNotFound) {
			return nil, nil // deleted; the events are those of a fork
		}
		if err != nil && !Unreadable(err) {
			return nil, err
		}
		if err == nil && h.openStep() == nil {
			return nil, nil
		}
		return &runningStep{d.ID, d.OpenMessage, d.Open, before}, nil
	}
	if rec, err = w.record(after); err != nil {
		return nil, err
	}
	for _, ev := range rec.Events {
		switch {
		case ev.Kind == kindStep && ev.State != nil: // begun afterwards, with the state of an earlier event
			return &runningStep{d.ID, ev.Message, ev.Step, after}, nil
		case ev.Kind == kindEnd && ev.Step == d.Open && ev.State != nil: // it had ended with an earlier state
			return nil, nil
		}
	}
	if d.Open == "" {
		return nil, nil
	}
	return &runningStep{d.ID, d.OpenMessage, d.Open, before}, nil
}

// record reads the record of an event. A record that cannot be decoded counts as none: a later
// release may have made it.
func (w *blamer) record(checkpoint string) (*record, error) {
	if rec := w.records[checkpoint]; rec != nil {
		return rec, nil
	}
	e, err := w.lines.Event(checkpoint)
	if err != nil {
		return nil, err
	}
	rec, err := w.decode(e)
	if err != nil {
		rec = &record{}
	}
	w.records[checkpoint] = rec
	return rec, nil
}

// withoutParents leaves out the steps of sessions above another one of the list: while a sub-agent
// works, the step of its parent is open, too.
func (w *blamer) withoutParents(steps []runningStep) ([]runningStep, error) {
	if len(steps) < 2 {
		return steps, nil
	}
	above := make(map[string]bool)
	for _, st := range steps {
		rec, err := w.record(st.at)
		if err != nil {
			return nil, err
		}
		for at := rec.Now.Parent; at != "" && !above[at]; {
			above[at] = true
			h, err := w.load(w.ctx, at)
			if errors.Is(err, ErrNotFound) || Unreadable(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			at = h.Parent
		}
	}
	return slices.DeleteFunc(steps, func(st runningStep) bool { return above[st.session] }), nil
}

// choose returns the step that made a change, and those that may have made it as well. The step
// counts that alone names the path. Else the step counts at whose own event the change was seen.
func (w *blamer) choose(steps []runningStep, o *cairn.BlameOrigin) (first runningStep, rest []runningStep, err error) {
	if len(steps) == 1 {
		return steps[0], nil, nil
	}
	var naming []runningStep
	for _, st := range steps {
		_, paths, err := w.tell(st)
		if err != nil {
			return first, nil, err
		}
		if w.names(paths, o.Path) {
			naming = append(naming, st)
		}
	}
	if len(naming) > 0 {
		steps = naming
	}
	at := 0
	if o.Checkpoint != nil {
		rec, err := w.record(o.Checkpoint.ID)
		if err != nil {
			return first, nil, err
		}
		at = max(0, slices.IndexFunc(steps, func(st runningStep) bool { return st.session == rec.Now.ID }))
	}
	return steps[at], slices.Delete(slices.Clone(steps), at, at+1), nil
}

// names reports whether paths that tools named have a path or a directory above it.
func (w *blamer) names(paths []string, path string) bool {
	root := filepath.ToSlash(w.repo.Root())
	return slices.ContainsFunc(paths, func(p string) bool {
		p = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(p)), root+"/")
		return p == path || p == "." || p == root || strings.HasPrefix(path, p+"/")
	})
}
