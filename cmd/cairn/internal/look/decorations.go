package look

import (
	"strings"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/console"
)

// decoratedLine is IDLine with the names of the checkpoint behind the id, in the colours that git log
// has for tags. As there, a terminal has them, and a script does not.
func (r *logRun) decoratedLine(id, line string) {
	names := r.namesOf(id)
	if len(names) == 0 {
		r.IDLine(line)
		return
	}
	paint := r.Palette()
	painted := make([]string, len(names))
	for i, name := range names {
		painted[i] = paint.Paint(console.BoldYellow, name)
	}
	list := strings.Join(painted, paint.Paint(console.Yellow, ", "))
	r.IDLine(line[:cli.ShortID] + paint.Paint(console.Yellow, " (") + list + paint.Paint(console.Yellow, ")") + line[cli.ShortID:])
}

// namesOf returns the names that pins give a checkpoint. They are read once. The log is there without
// names that cannot be read.
func (r *logRun) namesOf(id string) []string {
	if !r.OutTerminal {
		return nil
	}
	if r.PinNames == nil {
		r.PinNames = make(map[string][]string)
		list := r.repo.Pins
		if r.f.fetched {
			list = r.repo.FetchedPins
		}
		pins, err := list(r.ctx)
		if err != nil {
			return nil
		}
		for _, p := range pins {
			r.PinNames[p.Checkpoint] = append(r.PinNames[p.Checkpoint], p.Name)
		}
	}
	return r.PinNames[id]
}
