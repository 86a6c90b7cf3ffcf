package figures

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
)

// growthLimit says how much a cost of cairn may grow, as an exponent: 0 not at all,
// 1 as the size does.
type growthLimit int

const (
	flat growthLimit = iota
	linear
	asTheWalk // as the floor does; not at all where the system tells what has changed
)

// tolerance is what an exponent may be above its limit: noise of the measurement of
// 40 percent from one end of a decade to the other.
const tolerance = 0.15

// decade returns the points of the last decade of x.
func (l *Line) decade() []Point {
	if len(l.Points) == 0 {
		return nil
	}
	last := l.Points[len(l.Points)-1].X
	for i := range l.Points {
		if l.Points[i].X*10 >= last {
			return l.Points[i:]
		}
	}
	return nil
}

// fastest is the least of the rounds: other programs make an operation slower, never
// faster. That does not smooth over what grows.
func fastest(p *Point) float64 { return slices.Min(p.Values) }

// leastCPU is the least processor time, 0 where it is not known.
func leastCPU(p *Point) float64 {
	if len(p.CPUSeconds) == 0 {
		return 0
	}
	return slices.Min(p.CPUSeconds)
}

// exponent is that of the power of x which fits best, by least squares of the
// logarithms, over the last decade.
func (l *Line) exponent(of func(*Point) float64) (float64, bool) {
	var xs, ys []float64
	for _, p := range l.decade() {
		if of(&p) <= 0 {
			return 0, false
		}
		xs, ys = append(xs, math.Log(float64(p.X))), append(ys, math.Log(of(&p)))
	}
	if len(xs) < 2 {
		return 0, false
	}
	_, exponent := stat.LinearRegression(xs, ys, nil, false)
	return exponent, true
}

// each is what one more costs, between the ends of the last decade.
func (l *Line) each(of func(*Point) float64) float64 {
	points := l.decade()
	a, b := &points[0], &points[len(points)-1]
	return (of(b) - of(a)) / float64(b.X-a.X)
}

// limit is the exponent that a line of cairn must not exceed, with its reason.
func (c *Curves) limit(l *Line) (float64, string, bool) {
	switch {
	case l.who == names.Spec || l.who == names.Floor || l.who == names.Hand:
		return 0, "", false
	case l.curve.most == linear:
		return 1, "linear", true
	case l.curve.most == flat || l.who == names.Watching:
		return 0, "flat", true
	}
	walk := c.Line(curveNamed(CurveUnchanged), 0, names.Floor)
	exponent, ok := walk.exponent(fastest)
	return exponent, "as the walk", ok
}

func curveNamed(name string) *curve {
	for i := range AllCurves {
		if AllCurves[i].Name == name {
			return &AllCurves[i]
		}
	}
	return nil
}

// slopes is the table that tells whether no curve is worse than linear in what has
// changed, beside what must be looked at.
func (c *Curves) slopes() report.Table {
	t := report.Table{{"curve", "who", "from", "to", "at the end", "exponent", "one more", "CPU exponent", "one more, CPU", "goal", "met"}}
	for i := range AllCurves {
		k := &AllCurves[i]
		for _, files := range c.treesOf(k) {
			for _, who := range CurveLines {
				if l := c.Line(k, files, who); len(l.Points) > 0 {
					t = append(t, c.slopeRow(&l))
				}
			}
		}
	}
	return t
}

func (c *Curves) slopeRow(l *Line) []string {
	points := l.decade()
	last := points[len(points)-1]
	row := []string{l.title(), lineTitles[l.who], report.Short(points[0].X), report.Short(last.X), l.curve.of.Text(fastest(&last))}
	exponent, ok := l.exponent(fastest)
	if !ok {
		return append(row, "-", "-", "-", "-", "", "")
	}
	row = append(row, fmt.Sprintf("%.2f", exponent), l.curve.of.Text(l.each(fastest)))
	if cpu, ok := l.exponent(leastCPU); ok {
		row = append(row, fmt.Sprintf("%.2f", cpu), l.curve.of.Text(l.each(leastCPU)))
	} else {
		row = append(row, "", "")
	}
	most, why, known := c.limit(l)
	if !known {
		return append(row, "", "")
	}
	return append(row, why, map[bool]string{true: "yes", false: "no"}[exponent <= most+tolerance])
}

// title says what a line is about.
func (l *Line) title() string {
	title := l.curve.title + ", by " + l.curve.along.title
	if l.curve.along == axisChanged || l.curve.along == axisBack {
		title += " of " + report.Short(l.files)
	}
	return title
}
