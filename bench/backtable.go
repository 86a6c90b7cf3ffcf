package main

import "fmt"

// A turn of goalBackPaths files is taken back within goalBack seconds beyond what
// writing or unlinking these files takes.
const (
	goalBackPaths = 10_000
	goalBack      = 1.5
)

// backTable tells what each way back costs a path, nil where none was measured.
func (c *curves) backTable() table {
	var t table
	for _, k := range backCurves() {
		l, hand := c.line(&k, 0, nameLibrary), c.line(&k, 0, nameHand)
		if len(l.points) == 0 || len(l.points) != len(hand.points) {
			continue
		}
		if t == nil {
			t = table{{"way back"}}
			for _, p := range l.points {
				t[0] = append(t[0], short(p.X)+" files", "by hand", "a path")
			}
			t[0] = append(t[0], "goal", "met")
		}
		t = append(t, backRow(&l, &hand))
	}
	return t
}

func backRow(l, hand *line) []string {
	row := []string{l.curve.title}
	goal, met := "", ""
	for i := range l.points {
		p := &l.points[i]
		took, byHand := fastest(p), fastest(&hand.points[i])
		row = append(row, seconds.text(took), seconds.text(byHand), seconds.text(took/float64(p.X)))
		if p.X == goalBackPaths {
			goal = fmt.Sprintf("%.2f <= %.1f s", took-byHand, goalBack)
			met = map[bool]string{true: "yes", false: "no"}[took-byHand <= goalBack]
		}
	}
	return append(row, goal, met)
}
