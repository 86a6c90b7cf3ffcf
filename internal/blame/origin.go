package blame

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// answer puts the lines of the answer together with their origins.
func (f *file) answer(r *Result) error {
	var texts []string
	if n := len(f.spans); n > 0 && !f.spans[n-1].ID.IsZero() {
		content, err := f.content(n - 1)
		if err != nil {
			return err
		}
		texts = LineTexts(content)
	}
	f.Lines = make([]FileLine, len(r.Lines))
	for i, l := range r.Lines {
		o, err := f.origin(l.Version)
		if err != nil {
			return err
		}
		f.Lines[i] = FileLine{o, l.Number, texts[i]}
	}
	for _, d := range r.Deleted {
		o, err := f.origin(d.Version)
		if err != nil {
			return err
		}
		by, err := f.origin(d.By)
		if err != nil {
			return err
		}
		text := LineTexts([]byte(d.Text))[0]
		f.Deleted = append(f.Deleted, DeletedLine{FileLine{o, d.Number, text}, by, d.Before + 1})
	}
	return nil
}

// origin returns the origin that all lines of a version share.
func (f *file) origin(version int) (*Origin, error) {
	if o := f.origins[version]; o != nil {
		return o, nil
	}
	s := &f.spans[version]
	o := &Origin{Path: s.Path}
	if s.First < len(f.timeline) {
		m := &f.timeline[s.First]
		cp, err := f.store.ReadCheckpoint(m.ID)
		if err != nil {
			return nil, err
		}
		o.Checkpoint, o.Operation = cp, m.Operation
	}
	if s.Before >= 0 {
		o.Before = f.timeline[s.Before].ID.String()
	}
	if version > 0 && !f.spans[version-1].ID.IsZero() {
		o.OldPath = f.spans[version-1].Path
	}
	if f.events == nil {
		f.events = listEvents(f.whole)
	}
	o.Open, o.Following = f.events.around(s.First - 1)
	f.origins[version] = o
	return o, nil
}

// eventList finds the events of lines with records around a moment.
type eventList [][]event // by line, the oldest first

// event is one event of a line, at a moment of the timeline.
type event struct {
	at int
	id string
}

func listEvents(timeline []history.Moment) eventList {
	at := make(map[object.ID]int, len(timeline))
	for i := range timeline {
		at[timeline[i].ID] = i
	}
	list := eventList{}
	for i := range timeline {
		if !timeline[i].Tip {
			continue
		}
		var line []event
		for n, ok := i, true; ok; n, ok = at[timeline[n].Parent] {
			if timeline[n].Event {
				line = append(line, event{n, timeline[n].ID.String()})
			}
		}
		slices.Reverse(line)
		list = append(list, line)
	}
	return list
}

// around returns the newest event of each line up to a moment, ordered by time, and the next event
// of each line after it. A line that was forked has events in common with the other one.
func (e eventList) around(at int) (open, following []string) {
	var before, after []event
	for _, line := range e {
		n, _ := slices.BinarySearchFunc(line, at+1, func(ev event, at int) int { return ev.at - at })
		if n > 0 {
			before = append(before, line[n-1])
		}
		if n < len(line) {
			after = append(after, line[n])
		}
	}
	return idsOf(before), idsOf(after)
}

func idsOf(events []event) (ids []string) {
	slices.SortFunc(events, func(a, b event) int { return a.at - b.at })
	for _, ev := range slices.Compact(events) {
		ids = append(ids, ev.id)
	}
	return ids
}
