package verify

import (
	"maps"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// addBeside gives a place to checkpoints beside a line. A session that was resumed here and went on elsewhere has
// them: the next resume follows the other line, and what it held here is a further parent. Only checkpoints count at
// which nothing happened, and whose line comes from this one. Where a cleaning has removed what lies beside a checkpoint,
// addBeside returns the time of the newest such one: heads of before may be gone.
func (j *judge) addBeside(places map[object.ID]int) (cleaned time.Time) {
	for queue := slices.Collect(maps.Keys(places)); len(queue) > 0; {
		id := queue[0]
		queue = queue[1:]
		c, err := j.ReadCheckpoint(id)
		if err != nil {
			continue
		}
		for _, parent := range j.parentsBeside(id) {
			way, gone := j.idle(parent, places)
			if at := time.Unix(0, c.At()); gone && at.After(cleaned) {
				cleaned = at
			}
			for _, met := range way {
				places[met] = places[id]
				queue = append(queue, met)
			}
		}
	}
	return cleaned
}

// parentsBeside returns the further parents of a checkpoint, thinned or not.
func (j *judge) parentsBeside(id object.ID) []object.ID {
	var data []byte
	if rec := j.ends.Thinned(id); rec != nil {
		data = rec.Commit
	} else if _, read, err := j.DB.Read(id); err == nil {
		data = read
	}
	c, err := object.ParseCommit(data)
	if err != nil || len(c.Parents) == 0 {
		return nil
	}
	return c.Parents[1:]
}

// idle returns a checkpoint and those before it up to the line. It returns none where the way does not lead there, or
// where anything happened on it. gone says that it ends at a checkpoint that is gone.
func (j *judge) idle(id object.ID, places map[object.ID]int) (way []object.ID, gone bool) {
	for j.ctx.Err() == nil {
		if _, there := places[id]; there {
			return way, false
		}
		if id.IsZero() || !j.holds(id.String()) {
			return nil, true
		}
		c, err := j.ReadCheckpoint(id)
		if err != nil {
			return nil, false
		}
		e, ok := j.record(id, &commit{data: history.CommitOf(c)})
		if !ok || len(e.rec.Events) == 0 || e.line.Before != "" {
			return nil, false
		}
		for _, ev := range e.rec.Events {
			if !slices.Contains([]string{"resume", "begin", "told"}, ev.Kind) {
				return nil, false
			}
		}
		way = append(way, id)
		id = history.Before(c)
	}
	return nil, false
}
