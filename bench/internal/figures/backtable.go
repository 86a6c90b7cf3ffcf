package figures

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
)

// A turn of goalBackPaths files is taken back within goalBack seconds beyond what
// writing or unlinking these files takes.
const (
	goalBackPaths = 10_000
	goalBack      = 1.5
)

// backTable tells what each way back costs a path, nil where none was measured.
func (c *Curves) backTable() report.Table {
	var t report.Table
	for _, k := range backCurves() {
		l, hand := c.Line(&k, 0, names.Library), c.Line(&k, 0, names.Hand)
		if len(l.Points) == 0 || len(l.Points) != len(hand.Points) {
			continue
		}
		if t == nil {
			t = report.Table{{"way back"}}
			for _, p := range l.Points {
				t[0] = append(t[0], report.Short(p.X)+" files", "by hand", "a path")
			}
			t[0] = append(t[0], "goal", "met")
		}
		t = append(t, backRow(&l, &hand))
	}
	return t
}

func backRow(l, hand *Line) []string {
	row := []string{l.curve.title}
	goal, met := "", ""
	for i := range l.Points {
		p := &l.Points[i]
		took, byHand := fastest(p), fastest(&hand.Points[i])
		row = append(row, report.Seconds.Text(took), report.Seconds.Text(byHand), report.Seconds.Text(took/float64(p.X)))
		if p.X == goalBackPaths {
			goal = fmt.Sprintf("%.2f <= %.1f s", took-byHand, goalBack)
			met = map[bool]string{true: "yes", false: "no"}[took-byHand <= goalBack]
		}
	}
	return append(row, goal, met)
}
