package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
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
func (l *line) decade() []point {
	if len(l.points) == 0 {
		return nil
	}
	last := l.points[len(l.points)-1].X
	for i := range l.points {
		if l.points[i].X*10 >= last {
			return l.points[i:]
		}
	}
	return nil
}

// fastest is the least of the rounds: other programs make an operation slower, never
// faster. That does not smooth over what grows.
func fastest(p *point) float64 { return slices.Min(p.Values) }

// leastCPU is the least processor time, 0 where it is not known.
func leastCPU(p *point) float64 {
	if len(p.CPUSeconds) == 0 {
		return 0
	}
	return slices.Min(p.CPUSeconds)
}

// exponent is that of the power of x which fits best, by least squares of the
// logarithms, over the last decade.
func (l *line) exponent(of func(*point) float64) (float64, bool) {
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
func (l *line) each(of func(*point) float64) float64 {
	points := l.decade()
	a, b := &points[0], &points[len(points)-1]
	return (of(b) - of(a)) / float64(b.X-a.X)
}

// limit is the exponent that a line of cairn must not exceed, with its reason.
func (c *curves) limit(l *line) (float64, string, bool) {
	switch {
	case l.who == nameSpec || l.who == nameFloor || l.who == nameHand:
		return 0, "", false
	case l.curve.most == linear:
		return 1, "linear", true
	case l.curve.most == flat || l.who == nameWatching:
		return 0, "flat", true
	}
	walk := c.line(curveNamed(curveUnchanged), 0, nameFloor)
	exponent, ok := walk.exponent(fastest)
	return exponent, "as the walk", ok
}

func curveNamed(name string) *curve {
	for i := range allCurves {
		if allCurves[i].name == name {
			return &allCurves[i]
		}
	}
	return nil
}

// slopes is the table that tells whether no curve is worse than linear in what has
// changed, beside what must be looked at.
func (c *curves) slopes() table {
	t := table{{"curve", "who", "from", "to", "at the end", "exponent", "one more", "CPU exponent", "one more, CPU", "goal", "met"}}
	for i := range allCurves {
		k := &allCurves[i]
		for _, files := range c.treesOf(k) {
			for _, who := range curveLines {
				if l := c.line(k, files, who); len(l.points) > 0 {
					t = append(t, c.slopeRow(&l))
				}
			}
		}
	}
	return t
}

func (c *curves) slopeRow(l *line) []string {
	points := l.decade()
	last := points[len(points)-1]
	row := []string{l.title(), lineTitles[l.who], short(points[0].X), short(last.X), l.curve.of.text(fastest(&last))}
	exponent, ok := l.exponent(fastest)
	if !ok {
		return append(row, "-", "-", "-", "-", "", "")
	}
	row = append(row, fmt.Sprintf("%.2f", exponent), l.curve.of.text(l.each(fastest)))
	if cpu, ok := l.exponent(leastCPU); ok {
		row = append(row, fmt.Sprintf("%.2f", cpu), l.curve.of.text(l.each(leastCPU)))
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
func (l *line) title() string {
	title := l.curve.title + ", by " + l.curve.along.title
	if l.curve.along == axisChanged || l.curve.along == axisBack {
		title += " of " + short(l.files)
	}
	return title
}
