package main

import (
	"fmt"
	"math"
	"slices"
)

// scale is a logarithmic range, by the exponents of ten at its ends.
type scale struct{ low, high float64 }

// room is what lies between a mark and the frame, in decades.
const room = 0.1

func newScale(low, high float64) scale {
	return scale{math.Log10(low) - room, math.Log10(high) + room}
}

// whole widens a scale to whole decades, or to a little more than these where a mark
// would touch the frame.
func (s scale) whole() scale {
	low, high := math.Floor(s.low+room), math.Ceil(s.high-room)
	return scale{min(low, s.low), max(high, low+1, s.high)}
}

// at is how far along the scale a value lies, from 0 to 1.
func (s scale) at(v float64) float64 { return (math.Log10(v) - s.low) / (s.high - s.low) }

// tick is a line of the grid.
type tick struct {
	value    float64
	major    bool // a power of ten
	labelled bool
}

// ticks are at the powers of ten and at their multiples.
func (s scale) ticks() (list []tick) {
	narrow := s.high-s.low < 1.5
	for e := math.Floor(s.low); e <= s.high; e++ {
		for n := 1; n < 10; n++ {
			v := float64(n) * math.Pow(10, e)
			if at := s.at(v); at >= -1e-9 && at <= 1+1e-9 {
				list = append(list, tick{v, n == 1, n == 1 || narrow && (n == 2 || n == 5)})
			}
		}
	}
	return list
}

// draw draws the panel with its upper left corner at x, y.
func (p *panel) draw(s *svg, x, y float64) {
	left, top := x+plotLeft, y+plotTop
	title := p.curve.title
	if p.files > 0 && p.curve.along == axisChanged {
		title += ", tree of " + short(p.files) + " files"
	}
	s.label(left, top-10, "start", "name", title)
	p.grid(s, left, top)
	p.guide(s, left, top)
	s.rect(left, top, plotWidth, plotHeight, "frame")
	for i := range p.lines {
		p.curveOf(s, &p.lines[i], left, top)
	}
}

func (p *panel) grid(s *svg, left, top float64) {
	bottom := top + plotHeight
	class := map[bool]string{false: "minor", true: "grid"}
	for _, t := range p.y.ticks() {
		y := bottom - p.y.at(t.value)*plotHeight
		s.line(left, y, left+plotWidth, y, class[t.major])
		if t.labelled {
			s.label(left-7, y+4, "end", "soft", p.curve.of.text(t.value))
		}
	}
	for _, t := range p.x.ticks() {
		x := left + p.x.at(t.value)*plotWidth
		s.line(x, top, x, bottom, class[t.major])
		if t.labelled {
			s.label(x, bottom+16, "middle", "soft", short(int(math.Round(t.value))))
		}
	}
	s.label(left+plotWidth/2, bottom+33, "middle", "soft", p.curve.along.title)
}

// guide is a line that grows as x does, from the lower left corner as far as it fits.
func (p *panel) guide(s *svg, left, top float64) {
	decades := min(p.x.high-p.x.low, p.y.high-p.y.low)
	x, y := decades/(p.x.high-p.x.low), decades/(p.y.high-p.y.low)
	bottom := float64(top + plotHeight)
	s.line(left, bottom, left+x*plotWidth, bottom-y*plotHeight, "guide")
}

// curveOf draws one contender's line.
func (p *panel) curveOf(s *svg, l *line, left, top float64) {
	look := looks[l.who]
	place := func(x int, value float64) [2]float64 {
		return [2]float64{left + p.x.at(float64(x))*plotWidth, top + plotHeight - p.y.at(value)*plotHeight}
	}
	var points [][2]float64
	for i := range l.points {
		q := &l.points[i]
		points = append(points, place(q.X, q.value()))
		if low, high := place(q.X, slices.Min(q.Values)), place(q.X, slices.Max(q.Values)); low[1]-high[1] > 1 {
			s.line(low[0], low[1], high[0], high[1], "range "+look.class+"-line")
		}
	}
	s.polyline(points, "line "+look.class+"-line")
	for i := range l.points {
		q := &l.points[i]
		s.mark(points[i][0], points[i][1], look.shape, look.class+"-mark",
			fmt.Sprintf("%s, %s: %s", lineTitles[l.who], short(q.X), l.curve.of.text(q.value())))
	}
}
