package report

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// Goal is one thing that cairn promises of its speed or memory. A goal that is
// missed is printed, no more: timings never make a run fail.
type Goal struct {
	Title   string
	Unit    string // "" for a ratio
	atLeast bool   // the value is to be no smaller than the limit, instead of no larger
	Value   func(*Report) (float64, bool)
	Limit   func(*Report) (float64, bool)
}

// Met compares, with known = false where something was not measured.
func (g *Goal) Met(r *Report) (met, known bool) {
	value, ok := g.Value(r)
	limit, okLimit := g.Limit(r)
	if !ok || !okLimit {
		return false, false
	}
	if g.atLeast {
		return value >= limit, true
	}
	return value <= limit, true
}

// Relation stands between a value and its limit.
func (g *Goal) Relation() string {
	if g.atLeast {
		return ">="
	}
	return "<="
}

// Goals are the promises in the order of the table.
var Goals = []Goal{
	{Title: "first track, cairn / spec", Value: ofSpec(names.OpFirst), Limit: fixed(0.25)},
	{Title: "first track, borrowed, cairn / spec without", Value: ofSpec(names.OpFirstBorrowed), Limit: fixed(0.03)},
	{Title: "track, unchanged, cairn / spec", Value: ofSpec(names.OpUnchanged), Limit: fixed(0.55)},
	{Title: "track, unchanged, cairn / walk", Value: ofWalk(names.CLI), Limit: fixed(1.15)},
	{Title: "track, unchanged, library / walk", Value: ofWalk(names.Library), Limit: fixed(1.15)},
	{Title: "track, unchanged, by 2 processors instead of 1", atLeast: true, Value: scalingFactor, Limit: fixed(1.7)},
	{Title: "track, 1 changed, cairn, above unchanged", Unit: "ms", Value: millisecondsOf(names.OpAboveOne, names.CLI), Limit: fixed(0.51)},
	{Title: "track, 1 changed, library, above unchanged", Unit: "ms", Value: millisecondsOf(names.OpAboveOne, names.Library), Limit: fixed(0.51)},
	{Title: "track, 100 changed, cairn, above unchanged", Unit: "ms", Value: millisecondsOf(names.OpAboveMany, names.CLI), Limit: changedLimit},
	{Title: "track, 100 changed, library, above unchanged", Unit: "ms", Value: millisecondsOf(names.OpAboveMany, names.Library), Limit: changedLimit},
	{Title: "watching, unchanged, p50", Unit: "ms", Value: watched(names.OpUnchanged, 0.5), Limit: fixed(0.05)},
	{Title: "watching, 1 changed, p50", Unit: "ms", Value: watched(names.OpOne, 0.5), Limit: fixed(1)},
	{Title: "watching, 1 changed, p99", Unit: "ms", Value: watched(names.OpOne, 0.99), Limit: fixed(5)},
	{Title: "watching, 100 changed, p50", Unit: "ms", Value: watched(names.OpMany, 0.5), Limit: fixed(15)},
	{Title: "watching, set-up: opening and one track", Unit: "ms", Value: millisecondsOf(names.OpOpen, names.Watching), Limit: setUpLimit},
	{Title: "watching, memory of a file", Unit: "bytes", Value: memoryPerFile, Limit: fixed(300)},
	{Title: "restore, 100 files, cairn / spec", Value: ofSpec(names.OpRestoreMany), Limit: fixed(0.01)},
	{Title: "track after it, cairn / track, unchanged", Value: ofOther(names.OpAfterRestore, names.OpUnchanged), Limit: fixed(1.15)},
	{Title: "undo of it, cairn / restore", Value: ofOther(names.OpUndoMany, names.OpRestoreMany), Limit: fixed(1)},
	{Title: "redo of it, cairn / restore", Value: ofOther(names.OpRedoMany, names.OpRestoreMany), Limit: fixed(1)},
	{Title: "diff full, 100 files, cairn / spec", Value: ofSpec(names.OpDiffMany), Limit: fixed(0.15)},
	{Title: "diff full, 1,000 files, memory of cairn", Unit: "MB", Value: peakOfCairn(names.OpDiffLarge), Limit: fixed(100)},
	{Title: "first track, memory of cairn", Unit: "MB", Value: peakOfCairn(names.OpFirst), Limit: fixed(250)},
	{Title: "track, unchanged, memory of cairn", Unit: "MB", Value: peakOfCairn(names.OpUnchanged), Limit: fixed(250)},
}

// promised is a quantity of a run, with false where it was not measured.
type promised = func(*Report) (float64, bool)

func fixed(limit float64) promised {
	return func(*Report) (float64, bool) { return limit, true }
}

// changedLimit is half a millisecond and ten microseconds a file.
func changedLimit(r *Report) (float64, bool) { return 0.5 + 0.01*float64(r.Edited), true }

// setUpLimit is a track without watching and ten microseconds a directory.
func setUpLimit(r *Report) (float64, bool) {
	s, ok := r.Seconds(names.OpOpen, names.Library)
	return s*1e3 + 0.01*float64(r.Corpus.CapturedDirs), ok && r.Corpus.CapturedDirs > 0
}

// ofSpec is what cairn takes in units of what the specification takes.
func ofSpec(op string) promised {
	return func(r *Report) (float64, bool) {
		cairn, ok := r.cairn(op)
		spec, okSpec := r.rival(op, names.Spec)
		return cairn / spec, ok && okSpec && spec > 0
	}
}

func ofWalk(who string) promised {
	return func(r *Report) (float64, bool) {
		cairn, ok := r.Seconds(names.OpUnchanged, who)
		walk, okWalk := r.Seconds(names.FloorWalk, names.Floor)
		return cairn / walk, ok && okWalk && walk > 0
	}
}

func ofOther(op, other string) promised {
	return func(r *Report) (float64, bool) {
		s, ok := r.cairn(op)
		t, okOther := r.cairn(other)
		return s / t, ok && okOther && t > 0
	}
}

func scalingFactor(r *Report) (float64, bool) {
	one, ok := r.Seconds(names.OpOneProcessor, names.Library)
	two, okTwo := r.Seconds(names.OpTwoProcessors, names.Library)
	return one / two, ok && okTwo && two > 0
}

func watched(op string, q float64) promised {
	return func(r *Report) (float64, bool) {
		s, ok := system.Quantile(r.Times(op, names.Watching), q)
		return s * 1e3, ok
	}
}

func millisecondsOf(op, who string) promised {
	return func(r *Report) (float64, bool) {
		s, ok := r.Seconds(op, who)
		return s * 1e3, ok
	}
}

// manyToHold is how many files make what a process takes for itself, some megabytes,
// too little to count.
const manyToHold = 50_000

// memoryPerFile takes all of the process, what a user sees, or for small trees the heap.
func memoryPerFile(r *Report) (float64, bool) {
	heap, resident, ok := r.PerFile()
	if r.Corpus.Captured < manyToHold {
		return heap, ok
	}
	return resident, ok
}

func peakOfCairn(op string) promised {
	return func(r *Report) (float64, bool) {
		bytes, ok := r.peak(op, names.CLI)
		return bytes / 1e6, ok
	}
}

// goalTable has a row for each goal that the run says something about.
func (r *Report) goalTable() Table {
	t := Table{{"goal", "measured", "limit", "met"}}
	for i := range Goals {
		g := &Goals[i]
		met, known := g.Met(r)
		if !known {
			continue
		}
		value, _ := g.Value(r)
		limit, _ := g.Limit(r)
		t = append(t, []string{g.Title, PromisedText(value, g.Unit), g.Relation() + " " + PromisedText(limit, g.Unit), map[bool]string{true: "yes", false: "no"}[met]})
	}
	return t
}

// PromisedText is a value of a promise with its unit.
func PromisedText(x float64, unit string) string {
	if unit == "" {
		return ratio(x, true)
	}
	if x < 0 {
		return fmt.Sprintf("-%s %s", number(-x, true), unit)
	}
	return number(x, true) + " " + unit
}
