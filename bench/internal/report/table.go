package report

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// Table is the rows of text that are printed, the first one being the head.
type Table [][]string

// WriteNarrow writes cells without padding.
func (t Table) WriteNarrow(w io.Writer) error {
	var text strings.Builder
	for n, row := range t {
		text.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if n == 0 {
			text.WriteString("| ---" + strings.Repeat(" | ---:", len(row)-1) + " |\n")
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// Write aligns the columns, as Markdown reads them and people do, too.
func (t Table) Write(w io.Writer) error {
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
func (t Table) leftAligned(i int) bool {
	return i == 0 || t[0][i] == "met" || strings.HasPrefix(t[0][i], "where ")
}

// table puts times, memory and stores into one table.
func (r *Report) table() Table {
	shown := r.shown()
	head := []string{"operation"}
	for _, who := range shown {
		head = append(head, peers.KindOf(who).Title+" ms")
	}
	head = append(head, "cairn/spec")
	if r.tookPart(names.Newest) {
		head = append(head, "cairn/newest")
	}
	t := Table{append(head, "floor ms", "cairn/floor")}
	for _, o := range names.Operations {
		if r.measured(o.Op) {
			t = append(t, r.timeRow(o, shown))
		}
	}
	for _, op := range []string{names.OpFirst, names.OpFirstBorrowed, names.OpUnchanged, names.OpDiffLarge} {
		t = r.otherRow(t, shown, "peak memory of "+names.OperationTitle(op)+", MB", func(who string) (float64, bool) {
			bytes, ok := r.peak(op, who)
			if (who == names.Library || who == names.Watching) && op != names.OpFirst {
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
func (r *Report) shown() (names []string) {
	for i := range peers.Kinds {
		if r.tookPart(peers.Kinds[i].Name) {
			names = append(names, peers.Kinds[i].Name)
		}
	}
	return names
}

func (r *Report) tookPart(who string) bool {
	return slices.ContainsFunc(r.Samples, func(s Sample) bool { return s.Who == who })
}

// details are further tables: processor time, which other programs disturb less, and
// the slowest of the measurements.
func (r *Report) details() []Table {
	walk, haveWalk := r.processor(names.FloorWalk, names.Floor)
	shown := r.shown()
	processor := r.detail(shown, "CPU ms", func(o names.Operation, who string) (float64, bool) { return r.processor(o.Op, who) })
	processor[0] = append(processor[0], "walk CPU ms")
	for i, n := 0, 1; i < len(names.Operations); i++ {
		if o := names.Operations[i]; r.measured(o.Op) {
			processor[n] = append(processor[n], number(walk*1e3, haveWalk && looksAtAll(o.Op)))
			n++
		}
	}
	return []Table{processor, r.detail(shown, "p99 ms", func(o names.Operation, who string) (float64, bool) {
		return system.Quantile(r.Times(o.Op, who), 0.99)
	})}
}

func (r *Report) detail(shown []string, what string, value func(o names.Operation, who string) (float64, bool)) Table {
	head := []string{"operation"}
	for _, who := range shown {
		head = append(head, peers.KindOf(who).Title+" "+what)
	}
	t := Table{head}
	for _, o := range names.Operations {
		if !r.measured(o.Op) {
			continue
		}
		row := []string{o.Title}
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
	return !slices.Contains([]string{names.OpFirst, names.OpDiffMany, names.OpDiffLarge, names.OpOnlyPath, names.OpAboveOne, names.OpAboveMany}, op)
}

func (r *Report) timeRow(o names.Operation, shown []string) []string {
	row := []string{o.Title}
	for _, who := range shown {
		s, ok := r.Seconds(o.Op, who)
		row = append(row, number(s*1e3, ok))
	}
	cairn, haveCairn := r.cairn(o.Op)
	for _, who := range []string{names.Spec, names.Newest} {
		if who == names.Spec || r.tookPart(who) {
			other, ok := r.rival(o.Op, who)
			row = append(row, ratio(cairn/other, haveCairn && ok))
		}
	}
	floor, name, haveFloor := r.floorOf(o.Op)
	floorText := number(floor*1e3, haveFloor)
	if haveFloor {
		floorText += " " + name
	}
	return append(row, floorText, ratio(cairn/floor, haveCairn && haveFloor))
}

// otherRow adds a row of values that are not times, unless no contender has a value.
func (r *Report) otherRow(t Table, shown []string, title string, value func(who string) (float64, bool)) Table {
	row, some := []string{title}, false
	for _, who := range shown {
		v, ok := value(who)
		row, some = append(row, number(v, ok)), some || ok
	}
	if !some {
		return t
	}
	cairn, haveCairn := value(names.CLI)
	for _, who := range []string{names.Spec, names.Newest} {
		if who == names.Spec || r.tookPart(who) {
			other, ok := value(who)
			row = append(row, ratio(cairn/other, haveCairn && ok))
		}
	}
	return append(t, append(row, "", ""))
}

func (r *Report) storeRows(t Table, shown []string, when string) Table {
	title := "store after the " + when
	if when == "end" {
		title = "store at the end"
	}
	t = r.otherRow(t, shown, title+", MB on disk", func(who string) (float64, bool) {
		s := r.Store(when, who)
		if s == nil {
			return 0, false
		}
		return float64(s.Allocated) / 1e6, true
	})
	return r.otherRow(t, shown, title+", files", func(who string) (float64, bool) {
		s := r.Store(when, who)
		if s == nil {
			return 0, false
		}
		return float64(s.Files), true
	})
}

// floorOf is the least time that an operation can take on this machine, with its
// name.
func (r *Report) floorOf(op string) (seconds float64, name string, ok bool) {
	if floor := names.FloorsOfWriting[op]; floor != "" {
		if seconds, ok = r.Seconds(floor, names.Floor); ok { // older runs have none
			name, _, _ = strings.Cut(floor, "-")
			return seconds, name, true
		}
	}
	switch op {
	case names.OpFirst:
		read, ok := r.Seconds(names.FloorRead, names.Floor)
		t := r.Throughput
		zlib := max(t.Zlib, t.FastZlib)
		if !ok || t.SHA1 == 0 || zlib == 0 {
			return 0, "", false
		}
		cores := float64(min(r.Machine.Processors, runtime.NumCPU()))
		return read + float64(r.Corpus.CapturedBytes)*(1/t.SHA1+1/zlib)/cores, "store", true
	case names.OpDiffMany, names.OpDiffLarge, names.OpOnlyPath:
		seconds, ok = r.Seconds(names.FloorSpawn, names.Floor)
		return seconds, "spawn", ok
	case names.OpAboveOne, names.OpAboveMany:
		seconds, ok = r.Seconds(names.FloorsOfChange[op], names.Floor)
		return seconds, "keep", ok
	case names.OpOneProcessor:
		seconds, ok = r.Seconds(names.FloorWalkAlone, names.Floor)
		return seconds, "walk, 1", ok
	}
	seconds, ok = r.Seconds(names.FloorWalk, names.Floor)
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
