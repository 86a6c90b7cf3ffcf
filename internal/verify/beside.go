package verify

import (
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// addBeside gives a place to checkpoints beside a line. A session that was resumed here and went on elsewhere has
// them: the next resume follows the other line, and what it held here is a further parent. Only checkpoints count at
// which nothing happened, and whose line comes from this one.
func (j *judge) addBeside(places map[object.ID]int) {
	for queue := slices.Collect(maps.Keys(places)); len(queue) > 0; {
		id := queue[0]
		queue = queue[1:]
		c, err := j.ReadCheckpoint(id)
		if err != nil {
			continue
		}
		for i, parent := range history.CommitOf(c).Parents {
			if i == 0 {
				continue
			}
			for _, met := range j.idle(parent, places) {
				places[met] = places[id]
				queue = append(queue, met)
			}
		}
	}
}

// idle returns a checkpoint and those before it up to the line. It returns none where the way does not lead there, or
// where anything happened on it.
func (j *judge) idle(id object.ID, places map[object.ID]int) (way []object.ID) {
	for j.ctx.Err() == nil {
		if _, there := places[id]; there {
			return way
		}
		c, err := j.ReadCheckpoint(id)
		if err != nil {
			return nil
		}
		e, ok := j.record(id, &commit{data: history.CommitOf(c)})
		if !ok || len(e.rec.Events) == 0 || e.line.Before != "" {
			return nil
		}
		for _, ev := range e.rec.Events {
			if !slices.Contains([]string{"resume", "begin", "told"}, ev.Kind) {
				return nil
			}
		}
		way = append(way, id)
		id = history.Before(c)
	}
	return nil
}
