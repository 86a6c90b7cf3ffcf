package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
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

// leftAligned columns hold words: the operation or goal, and whether it is met.
func (t table) leftAligned(i int) bool { return i == 0 || t[0][i] == "met" }

// table puts times, memory and stores into one table.
func (r *report) table() table {
	shown := r.shown()
	head := []string{"operation"}
	for _, who := range shown {
		head = append(head, kindOf(who).title+" ms")
	}
	head = append(head, "cairn/spec")
	if r.tookPart(nameNewest) {
		head = append(head, "cairn/newest")
	}
	t := table{append(head, "floor ms", "cairn/floor")}
	for _, o := range operations {
		if r.measured(o.op) {
			t = append(t, r.timeRow(o, shown))
		}
	}
	for _, op := range []string{opFirst, opFirstBorrowed, opUnchanged, opDiffLarge} {
		t = r.otherRow(t, shown, "peak memory of "+operationTitle(op)+", MB", func(who string) (float64, bool) {
			bytes, ok := r.peak(op, who)
			if (who == nameLibrary || who == nameWatching) && op != opFirst {
				ok = false // its process keeps the peak of what came before
			}
			return bytes / 1e6, ok
		})
	}
	for _, when := range []string{"first track", "borrowed first track", "end"} {
		t = r.storeRows(t, shown, when)
	}
	return t
}

// shown are the contenders with a column.
func (r *report) shown() (names []string) {
	for i := range kinds {
		if r.tookPart(kinds[i].name) {
			names = append(names, kinds[i].name)
		}
	}
	return names
}

func (r *report) tookPart(who string) bool {
	return slices.ContainsFunc(r.Samples, func(s sample) bool { return s.Who == who })
}

// details are further tables: processor time, which other programs disturb less, and
// the slowest of the measurements.
func (r *report) details() []table {
	walk, haveWalk := r.processor(floorWalk, nameFloor)
	shown := r.shown()
	processor := r.detail(shown, "CPU ms", func(o operation, who string) (float64, bool) { return r.processor(o.op, who) })
	processor[0] = append(processor[0], "walk CPU ms")
	for i, n := 0, 1; i < len(operations); i++ {
		if o := operations[i]; r.measured(o.op) {
			processor[n] = append(processor[n], number(walk*1e3, haveWalk && looksAtAll(o.op)))
			n++
		}
	}
	return []table{processor, r.detail(shown, "p99 ms", func(o operation, who string) (float64, bool) {
		return quantile(r.times(o.op, who), 0.99)
	})}
}

func (r *report) detail(shown []string, what string, value func(o operation, who string) (float64, bool)) table {
	head := []string{"operation"}
	for _, who := range shown {
		head = append(head, kindOf(who).title+" "+what)
	}
	t := table{head}
	for _, o := range operations {
		if !r.measured(o.op) {
			continue
		}
		row := []string{o.title}
		for _, who := range shown {
			s, ok := value(o, who)
			row = append(row, number(s*1e3, ok))
		}
		t = append(t, row)
	}
	return t
}

// looksAtAll: all but the comparison of two trees, the track of one path, the first track,
// whose floor is another one, and what a change adds.
func looksAtAll(op string) bool {
	return !slices.Contains([]string{opFirst, opDiffMany, opDiffLarge, opOnlyPath, opAboveOne, opAboveMany}, op)
}

func (r *report) timeRow(o operation, shown []string) []string {
	row := []string{o.title}
	for _, who := range shown {
		s, ok := r.seconds(o.op, who)
		row = append(row, number(s*1e3, ok))
	}
	cairn, haveCairn := r.cairn(o.op)
	for _, who := range []string{nameSpec, nameNewest} {
		if who == nameSpec || r.tookPart(who) {
			other, ok := r.rival(o.op, who)
			row = append(row, ratio(cairn/other, haveCairn && ok))
		}
	}
	floor, name, haveFloor := r.floorOf(o.op)
	floorText := number(floor*1e3, haveFloor)
	if haveFloor {
		floorText += " " + name
	}
	return append(row, floorText, ratio(cairn/floor, haveCairn && haveFloor))
}

// otherRow adds a row of values that are not times, unless no contender has a value.
func (r *report) otherRow(t table, shown []string, title string, value func(who string) (float64, bool)) table {
	row, some := []string{title}, false
	for _, who := range shown {
		v, ok := value(who)
		row, some = append(row, number(v, ok)), some || ok
	}
	if !some {
		return t
	}
	cairn, haveCairn := value(nameCLI)
	for _, who := range []string{nameSpec, nameNewest} {
		if who == nameSpec || r.tookPart(who) {
			other, ok := value(who)
			row = append(row, ratio(cairn/other, haveCairn && ok))
		}
	}
	return append(t, append(row, "", ""))
}

func (r *report) storeRows(t table, shown []string, when string) table {
	title := "store after the " + when
	if when == "end" {
		title = "store at the end"
	}
	t = r.otherRow(t, shown, title+", MB on disk", func(who string) (float64, bool) {
		s := r.store(when, who)
		if s == nil {
			return 0, false
		}
		return float64(s.Allocated) / 1e6, true
	})
	return r.otherRow(t, shown, title+", files", func(who string) (float64, bool) {
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
		return read + float64(r.Corpus.CapturedBytes)*(1/t.SHA1+1/zlib)/cores, "store", true
	case opDiffMany, opDiffLarge, opOnlyPath:
		seconds, ok = r.seconds(floorSpawn, nameFloor)
		return seconds, "spawn", ok
	case opAboveOne, opAboveMany:
		seconds, ok = r.seconds(floorsOfChange[op], nameFloor)
		return seconds, "keep", ok
	case opRevertMany, opRestoreMany, opUndoMany, opRedoMany:
		if seconds, ok = r.seconds(floorWriteMany, nameFloor); ok { // older runs have none
			return seconds, "write", true
		}
	case opOneProcessor:
		seconds, ok = r.seconds(floorWalkAlone, nameFloor)
		return seconds, "walk, 1", ok
	}
	seconds, ok = r.seconds(floorWalk, nameFloor)
	return seconds, "walk", ok
}

// number has two or three significant digits, or all before the point.
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
	case x < 0.095:
		return strconv.FormatFloat(x, 'g', 2, 64)
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
