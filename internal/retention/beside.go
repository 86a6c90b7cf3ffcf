package retention

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// takeBeside adds the further parents of a checkpoint to its unit, and returns those that are checkpoints of a line.
func (s *survey) takeBeside(ctx context.Context, own *unit, n *node) (lines []object.ID, err error) {
	for _, beside := range n.Parents[min(1, len(n.Parents)):] {
		b, err := s.node(ctx, beside)
		if err != nil {
			return nil, err
		}
		if b != nil && b.onLine {
			lines = append(lines, beside)
			continue
		}
		ids, err := s.walk(ctx, beside, s.owned)
		if err != nil {
			return nil, err
		}
		own.ids = append(own.ids, ids...)
	}
	return lines, nil
}

// addBeside makes units of the checkpoints beside a line, up to the line.
func (s *survey) addBeside(ctx context.Context, line string, queue []object.ID, like unit) error {
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for s.owned[id] == nil {
			n, err := s.node(ctx, id)
			if err != nil {
				return err
			}
			if n == nil {
				break
			}
			like.when = n.when
			own := s.addUnit(line, id, n, like)
			more, err := s.takeBeside(ctx, own, n)
			if err != nil {
				return err
			}
			if queue = append(queue, more...); len(n.Parents) == 0 {
				own.commits = 0 // a cleaning has left it, because a checkpoint that lives names it
				break
			}
			id = n.Parents[0]
		}
	}
	return nil
}
