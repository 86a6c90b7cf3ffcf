package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"unicode/utf8"
)

// table is the rows of text that are printed, the first one being the head.
type table [][]string

// write aligns the columns, as Markdown reads them and people do, too.
func (t table) write(w io.Writer) error {
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for n, row := range t {
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.leftAligned(i) {
				text.WriteString("| " + cell + pad + " ")
			} else {
				text.WriteString("| " + pad + cell + " ")
			}
		}
		text.WriteString("|\n")
		if n == 0 {
			for i, width := range widths {
				rule := strings.Repeat("-", width+1)
				if t.leftAligned(i) {
					text.WriteString("|" + rule + "-")
				} else {
					text.WriteString("|" + rule + ":")
				}
			}
			text.WriteString("|\n")
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// leftAligned columns hold words: the operation, the goal and whether it is met.
func (t table) leftAligned(i int) bool { return i == 0 || t[0][i] == "goal" || t[0][i] == "met" }

// table puts times, memory and stores into one table.
func (r *report) table() table {
	shown := r.shown()
	head := []string{"operation"}
	for _, who := range shown {
		head = append(head, columnTitles[who]+" ms")
	}
	t := table{append(head, "cairn/spec", "floor ms", "cairn/floor", "goal", "met")}
	for _, o := range operations {
		if r.measured(o.op) {
			t = append(t, r.timeRow(o, shown))
		}
	}
	for _, op := range []string{opFirst, opUnchanged} {
		t = r.otherRow(t, shown, "peak memory of "+operationTitle(op)+", MB", memoryGoals(op), func(who string) (float64, bool) {
			bytes, ok := r.peak(op, who)
			if who == nameLibrary && op != opFirst {
				ok = false // its process keeps the peak of the first track
			}
			return bytes / 1e6, ok
		})
	}
	for _, when := range []string{"first track", "end"} {
		t = r.storeRows(t, shown, when)
	}
	return t
}

// shown are the contenders with a column: OpenCode only where it took part.
func (r *report) shown() []string {
	if r.store("end", nameOpenCode) == nil {
		return []string{nameSpec, nameCLI, nameLibrary}
	}
	return kinds
}

var columnTitles = map[string]string{nameSpec: "spec", nameOpenCode: "OpenCode", nameCLI: "cairn", nameLibrary: "library"}

// detail is a second table: processor time, which other programs disturb less, and
// the slowest rounds.
func (r *report) detail() table {
	shown := r.shown()
	head := []string{"operation"}
	for _, what := range []string{" CPU ms", " p99 ms"} {
		for _, who := range shown {
			head = append(head, columnTitles[who]+what)
		}
	}
	t := table{append(head, "walk CPU ms")}
	walk, haveWalk := r.processor(floorWalk, nameFloor)
	for _, o := range operations {
		if !r.measured(o.op) {
			continue
		}
		row := []string{o.title}
		for _, who := range shown {
			s, ok := r.processor(o.op, who)
			row = append(row, number(s*1e3, ok))
		}
		for _, who := range shown {
			s, ok := quantile(r.values(o.op, who, func(s *sample) float64 { return s.Seconds }), 0.99)
			row = append(row, number(s*1e3, ok))
		}
		t = append(t, append(row, number(walk*1e3, haveWalk && looksAtAll(o.op))))
	}
	return t
}

// looksAtAll: all but the comparison of two trees and the first track, whose floor is
// another one.
func looksAtAll(op string) bool { return op != opFirst && op != opDiffMany }

func (r *report) timeRow(o operation, shown []string) []string {
	row := []string{o.title}
	for _, who := range shown {
		s, ok := r.seconds(o.op, who)
		row = append(row, number(s*1e3, ok))
	}
	cairn, haveCairn := r.seconds(o.op, nameCLI)
	spec, haveSpec := r.seconds(o.op, nameSpec)
	floor, name, haveFloor := r.floorOf(o.op)
	floorText := number(floor*1e3, haveFloor)
	if haveFloor {
		floorText += " " + name
	}
	row = append(row, ratio(cairn/spec, haveCairn && haveSpec), floorText, ratio(cairn/floor, haveCairn && haveFloor))
	return append(row, verdict(timeGoals(o.op), r)...)
}

// otherRow adds a row of something that is not a time, unless nobody has a value.
func (r *report) otherRow(t table, shown []string, title string, goals []goal, value func(who string) (float64, bool)) table {
	row, some := []string{title}, false
	for _, who := range shown {
		v, ok := value(who)
		row, some = append(row, number(v, ok)), some || ok
	}
	if !some {
		return t
	}
	cairn, haveCairn := value(nameCLI)
	spec, haveSpec := value(nameSpec)
	row = append(row, ratio(cairn/spec, haveCairn && haveSpec), "", "")
	return append(t, append(row, verdict(goals, r)...))
}

func (r *report) storeRows(t table, shown []string, when string) table {
	title := "store after the " + when
	if when == "end" {
		title = "store at the end"
	}
	t = r.otherRow(t, shown, title+", MB on disk", nil, func(who string) (float64, bool) {
		s := r.store(when, who)
		if s == nil {
			return 0, false
		}
		return float64(s.Allocated) / 1e6, true
	})
	return r.otherRow(t, shown, title+", files", nil, func(who string) (float64, bool) {
		s := r.store(when, who)
		if s == nil {
			return 0, false
		}
		return float64(s.Files), true
	})
}

// floorOf is the least time that an operation can take on this machine, with its
// name.
func (r *report) floorOf(op string) (seconds float64, name string, ok bool) {
	switch op {
	case opFirst:
		read, ok := r.seconds(floorRead, nameFloor)
		t := r.Throughput
		zlib := max(t.Zlib, t.FastZlib)
		if !ok || t.SHA1 == 0 || zlib == 0 {
			return 0, "", false
		}
		cores := float64(min(r.Machine.Processors, runtime.NumCPU()))
		return read + float64(r.Corpus.Bytes)*(1/t.SHA1+1/zlib)/cores, "store", true
	case opDiffMany:
		seconds, ok = r.seconds(floorSpawn, nameFloor)
		return seconds, "spawn", ok
	}
	seconds, ok = r.seconds(floorWalk, nameFloor)
	return seconds, "walk", ok
}

// number has three significant digits, or all before the point.
func number(x float64, ok bool) string {
	switch {
	case !ok:
		return "-"
	case x == 0:
		return "0"
	case x >= 100 || x == math.Trunc(x):
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

func ratio(x float64, ok bool) string {
	switch {
	case !ok || math.IsInf(x, 0) || math.IsNaN(x):
		return "-"
	case x < 0.1:
		return fmt.Sprintf("%.3f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
