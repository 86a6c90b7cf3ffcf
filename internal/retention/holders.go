package retention

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// holders are the units that keep a store from shrinking: the newest checkpoints and operations,
// and pins. An object that several of them reach counts for the first.
type holders struct {
	newest int   // checkpoints protected by KeepLast
	bytes  int64 // of these checkpoints
	pins   []pinHold
}

// pinHold is a pin and the bytes that only the pin keeps alive.
type pinHold struct {
	name  string
	bytes int64
}

// holders measures the units that no policy may remove.
func (s *survey) holders(ctx context.Context, size func(object.ID) int64) (*holders, error) {
	m := s.measure(size)
	h := &holders{}
	for _, u := range s.units {
		if !u.spared {
			continue
		}
		h.newest += u.commits
		for _, id := range u.ids {
			if err := m.add(ctx, id); err != nil {
				return nil, err
			}
		}
	}
	h.bytes = m.total
	pins, err := s.repo.DB.Refs(history.RefPins)
	if err != nil {
		return nil, err
	}
	for _, ref := range pins {
		before := m.total
		if err := m.add(ctx, ref.ID); err != nil {
			return nil, err
		}
		if m.total > before {
			name, ok := history.PinName(ref.Name)
			if !ok {
				name = ref.Name
			}
			h.pins = append(h.pins, pinHold{name, m.total - before})
		}
	}
	slices.SortStableFunc(h.pins, func(a, b pinHold) int { return cmp.Compare(b.bytes, a.bytes) })
	return h, nil
}

// living returns the number of units that stay.
func (s *survey) living() (n int) {
	for _, u := range s.units {
		if !u.dead {
			n++
		}
	}
	return n
}

// names lists the pins, the one with the most bytes first.
func (h *holders) names() (names []string) {
	for _, p := range h.pins {
		names = append(names, p.name)
	}
	return names
}

// maxNamedPins is the number of pins that a message names.
const maxNamedPins = 10

// text says which units hold the space and what the user can do. step is the way to lift the limit
// that was met.
func (h *holders) text(step string) string {
	text := fmt.Sprintf("%s are held by the newest %d checkpoints (keep_last)", wording.Size(h.bytes), h.newest)
	step = "lower keep_last or " + step
	if len(h.pins) == 0 {
		return text + "; " + step
	}
	var named []string
	var bytes int64
	for i, p := range h.pins {
		if i < maxNamedPins {
			named = append(named, fmt.Sprintf("%s (%s)", pathtext.Quote(p.name), wording.Size(p.bytes)))
		}
		bytes += p.bytes
	}
	if more := len(h.pins) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s, and %s by the pins %s; cairn unpin NAME takes one away, otherwise %s", text, wording.Size(bytes), strings.Join(named, ", "), step)
}
