package main

import (
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/console"
)

// decoratedLine is idLine with the names of the checkpoint behind the id, in the colours that git log
// has for tags. As there, a terminal has them, and a script does not.
func (r *logRun) decoratedLine(id, line string) {
	names := r.namesOf(id)
	if len(names) == 0 {
		r.idLine(line)
		return
	}
	paint := r.palette()
	painted := make([]string, len(names))
	for i, name := range names {
		painted[i] = paint.Paint(console.BoldYellow, name)
	}
	list := strings.Join(painted, paint.Paint(console.Yellow, ", "))
	r.idLine(line[:shortID] + paint.Paint(console.Yellow, " (") + list + paint.Paint(console.Yellow, ")") + line[shortID:])
}

// namesOf returns the names that pins give a checkpoint. They are read once. The log is there without
// names that cannot be read.
func (r *logRun) namesOf(id string) []string {
	if !r.outTerminal {
		return nil
	}
	if r.pinned == nil {
		r.pinned = make(map[string][]string)
		pins, err := r.repo.Pins(r.ctx)
		if err != nil {
			return nil
		}
		for _, p := range pins {
			r.pinned[p.Checkpoint] = append(r.pinned[p.Checkpoint], p.Name)
		}
	}
	return r.pinned[id]
}
