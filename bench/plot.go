package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// figure is a file with panels in two columns.
type figure struct {
	suffix, title string
	curves        []string
}

var figures = []figure{
	{"files", "Cost by the number of files in the tree", []string{curveUnchanged, curveOne, curveFirst, curvePeak}},
	{"changed", "Cost by the number of files changed", []string{curveTrack, curveRestore, curveDiff}},
	{"kept", "Cost by the number of checkpoints kept", []string{
		curveKeptTrack, curveKeptLog, curveKeptPatch, curveKeptRestore, curveKeptUndo, curveKeptClean, curveKeptBytes, curveCleanBytes, curveKeptFiles,
	}},
	{"back", "Cost of taking back a turn that made files", namesOf(backCurves())},
}

// plotBench is a run with -plot.
func plotBench(_ context.Context, opt options, out, _ io.Writer) error {
	c, err := readCurves(opt.plot)
	if err != nil {
		return err
	}
	errs := []error{c.print(out)}
	for _, f := range figures {
		if picture := c.draw(&f); picture != "" {
			name := strings.TrimSuffix(opt.plot, filepath.Ext(opt.plot)) + "-" + f.suffix + ".svg"
			errs = append(errs, os.WriteFile(name, []byte(picture), 0o644))
		}
	}
	return errors.Join(errs...)
}

func namesOf(list []curve) (names []string) {
	for _, k := range list {
		names = append(names, k.name)
	}
	return names
}

// print tells how each curve grows.
func (c *curves) print(out io.Writer) error {
	if _, err := fmt.Fprintf(out, "machine: %s; the fastest of %d rounds\n\n", c.Machine, c.Rounds); err != nil {
		return err
	}
	if err := c.slopes().write(out); err != nil {
		return err
	}
	if back := c.backTable(); back != nil {
		if _, err := fmt.Fprintln(out); err != nil {
			return err
		}
		if err := back.write(out); err != nil {
			return err
		}
	}
	for _, note := range c.Notes {
		if _, err := fmt.Fprintf(out, "\nnote: %s\n", note); err != nil {
			return err
		}
	}
	return nil
}

// The measures of a picture, in pixels: two panels side by side are as wide as a
// page of text.
const (
	pictureWidth = 880
	headHeight   = 84
	panelWidth   = pictureWidth / 2
	panelHeight  = 270
	plotLeft     = 66 // of the panel: room for labels
	plotTop      = 28
	plotWidth    = panelWidth - plotLeft - 22
	plotHeight   = panelHeight - plotTop - 50
)

// panel is one diagram.
type panel struct {
	curve *curve
	files int // of the tree, 0 = along x
	lines []line
	x, y  scale
}

// panels are the diagrams of a figure for which something was measured. Two that
// stand side by side have the same scale where they tell the same quantity.
func (c *curves) panels(f *figure) []*panel {
	var list []*panel
	for _, name := range f.curves {
		k := curveNamed(name)
		for _, files := range c.treesOf(k) {
			p := &panel{curve: k, files: files}
			for _, who := range curveLines {
				if l := c.line(k, files, who); len(l.points) > 0 {
					p.lines = append(p.lines, l)
				}
			}
			if len(p.lines) > 0 {
				list = append(list, p)
			}
		}
	}
	for pair := range slices.Chunk(list, 2) {
		for _, p := range pair {
			beside := pair
			if pair[0].curve.of != pair[len(pair)-1].curve.of {
				beside = []*panel{p}
			}
			p.x, p.y = newScale(extent([]*panel{p}, func(q *point) []float64 { return []float64{float64(q.X)} })),
				newScale(extent(beside, func(q *point) []float64 { return q.Values })).whole()
		}
	}
	return list
}

func extent(panels []*panel, of func(*point) []float64) (low, high float64) {
	low = math.Inf(1)
	for _, p := range panels {
		for _, l := range p.lines {
			for i := range l.points {
				low, high = min(low, slices.Min(of(&l.points[i]))), max(high, slices.Max(of(&l.points[i])))
			}
		}
	}
	return low, high
}

// draw returns the picture, "" where nothing was measured.
func (c *curves) draw(f *figure) string {
	panels := c.panels(f)
	if len(panels) == 0 {
		return ""
	}
	rows := (len(panels) + 1) / 2
	s := newSVG(pictureWidth, headHeight+float64(rows*panelHeight), f.title)
	s.label(16, 26, "start", "head", f.title)
	s.label(16, 44, "start", "soft", c.caption())
	legend(s, panels)
	for i, p := range panels {
		p.draw(s, float64(i%2*panelWidth), float64(headHeight+i/2*panelHeight))
	}
	return s.String()
}

// caption says what the figures were measured on.
func (c *curves) caption() string {
	m := &c.Machine
	parts := []string{orUnknown(m.CPU), fmt.Sprint(m.Processors, " processors"), m.FileSystem, "git " + m.Git}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return fmt.Sprintf("%s. Medians of %d rounds, bars from the fastest to the slowest.", strings.Join(parts, ", "), c.Rounds)
}

// legend names the lines that are there. Text is some 6 pixels a letter wide.
func legend(s *svg, panels []*panel) {
	const y = 66
	x := 16.0
	for _, who := range curveLines {
		if !slices.ContainsFunc(panels, func(p *panel) bool {
			return slices.ContainsFunc(p.lines, func(l line) bool { return l.who == who })
		}) {
			continue
		}
		l := looks[who]
		s.line(x, y-4, x+22, y-4, "line "+l.class+"-line")
		s.mark(x+11, y-4, l.shape, l.class+"-mark", "")
		s.label(x+28, y, "start", "", lineTitles[who])
		x += 28 + 6.1*float64(len(lineTitles[who])) + 24
	}
	s.line(x, y-4, x+22, y-4, "guide")
	s.label(x+28, y, "start", "", "linear")
}
