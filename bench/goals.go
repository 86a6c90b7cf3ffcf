package main

import "fmt"

// goal is one thing that cairn promises of its speed or memory. A goal that is
// missed is printed, no more: timings never make a run fail.
type goal struct {
	title   string
	unit    string // "" for a ratio
	atLeast bool   // the value is to be no smaller than the limit, instead of no larger
	value   func(*report) (float64, bool)
	limit   func(*report) (float64, bool)
}

// met compares, with known = false where something was not measured.
func (g *goal) met(r *report) (met, known bool) {
	value, ok := g.value(r)
	limit, okLimit := g.limit(r)
	if !ok || !okLimit {
		return false, false
	}
	if g.atLeast {
		return value >= limit, true
	}
	return value <= limit, true
}

func (g *goal) relation() string {
	if g.atLeast {
		return ">="
	}
	return "<="
}

// goals are the promises in the order of the table.
var goals = []goal{
	{title: "first track, cairn / spec", value: ofSpec(opFirst), limit: fixed(0.25)},
	{title: "first track, borrowed, cairn / spec without", value: ofSpec(opFirstBorrowed), limit: fixed(0.03)},
	{title: "track, unchanged, cairn / spec", value: ofSpec(opUnchanged), limit: fixed(0.55)},
	{title: "track, unchanged, cairn / walk", value: ofWalk(nameCLI), limit: fixed(1.15)},
	{title: "track, unchanged, library / walk", value: ofWalk(nameLibrary), limit: fixed(1.15)},
	{title: "track, unchanged, by 2 processors instead of 1", atLeast: true, value: scalingFactor, limit: fixed(1.7)},
	{title: "track, 1 changed, cairn, above unchanged", unit: "ms", value: millisecondsOf(opAboveOne, nameCLI), limit: fixed(0.51)},
	{title: "track, 1 changed, library, above unchanged", unit: "ms", value: millisecondsOf(opAboveOne, nameLibrary), limit: fixed(0.51)},
	{title: "track, 100 changed, cairn, above unchanged", unit: "ms", value: millisecondsOf(opAboveMany, nameCLI), limit: changedLimit},
	{title: "track, 100 changed, library, above unchanged", unit: "ms", value: millisecondsOf(opAboveMany, nameLibrary), limit: changedLimit},
	{title: "watching, unchanged, p50", unit: "ms", value: watched(opUnchanged, 0.5), limit: fixed(0.05)},
	{title: "watching, 1 changed, p50", unit: "ms", value: watched(opOne, 0.5), limit: fixed(1)},
	{title: "watching, 1 changed, p99", unit: "ms", value: watched(opOne, 0.99), limit: fixed(5)},
	{title: "watching, 100 changed, p50", unit: "ms", value: watched(opMany, 0.5), limit: fixed(15)},
	{title: "watching, set-up: opening and one track", unit: "ms", value: millisecondsOf(opOpen, nameWatching), limit: setUpLimit},
	{title: "watching, memory of a file", unit: "bytes", value: memoryPerFile, limit: fixed(300)},
	{title: "restore, 100 files, cairn / spec", value: ofSpec(opRestoreMany), limit: fixed(0.01)},
	{title: "track after it, cairn / track, unchanged", value: ofOther(opAfterRestore, opUnchanged), limit: fixed(1.15)},
	{title: "undo of it, cairn / restore", value: ofOther(opUndoMany, opRestoreMany), limit: fixed(1)},
	{title: "redo of it, cairn / restore", value: ofOther(opRedoMany, opRestoreMany), limit: fixed(1)},
	{title: "diff full, 100 files, cairn / spec", value: ofSpec(opDiffMany), limit: fixed(0.15)},
	{title: "diff full, 1,000 files, memory of cairn", unit: "MB", value: peakOfCairn(opDiffLarge), limit: fixed(100)},
	{title: "first track, memory of cairn", unit: "MB", value: peakOfCairn(opFirst), limit: fixed(250)},
	{title: "track, unchanged, memory of cairn", unit: "MB", value: peakOfCairn(opUnchanged), limit: fixed(250)},
}

// promised is a quantity of a run, with false where it was not measured.
type promised = func(*report) (float64, bool)

func fixed(limit float64) promised {
	return func(*report) (float64, bool) { return limit, true }
}

// changedLimit is half a millisecond and ten microseconds a file.
func changedLimit(r *report) (float64, bool) { return 0.5 + 0.01*float64(r.Edited), true }

// setUpLimit is a track without watching and ten microseconds a directory.
func setUpLimit(r *report) (float64, bool) {
	s, ok := r.seconds(opOpen, nameLibrary)
	return s*1e3 + 0.01*float64(r.Corpus.CapturedDirs), ok && r.Corpus.CapturedDirs > 0
}

// ofSpec is what cairn takes in units of what the specification takes.
func ofSpec(op string) promised {
	return func(r *report) (float64, bool) {
		cairn, ok := r.cairn(op)
		spec, okSpec := r.rival(op, nameSpec)
		return cairn / spec, ok && okSpec && spec > 0
	}
}

func ofWalk(who string) promised {
	return func(r *report) (float64, bool) {
		cairn, ok := r.seconds(opUnchanged, who)
		walk, okWalk := r.seconds(floorWalk, nameFloor)
		return cairn / walk, ok && okWalk && walk > 0
	}
}

func ofOther(op, other string) promised {
	return func(r *report) (float64, bool) {
		s, ok := r.cairn(op)
		t, okOther := r.cairn(other)
		return s / t, ok && okOther && t > 0
	}
}

func scalingFactor(r *report) (float64, bool) {
	one, ok := r.seconds(opOneProcessor, nameLibrary)
	two, okTwo := r.seconds(opTwoProcessors, nameLibrary)
	return one / two, ok && okTwo && two > 0
}

func watched(op string, q float64) promised {
	return func(r *report) (float64, bool) {
		s, ok := quantile(r.times(op, nameWatching), q)
		return s * 1e3, ok
	}
}

func millisecondsOf(op, who string) promised {
	return func(r *report) (float64, bool) {
		s, ok := r.seconds(op, who)
		return s * 1e3, ok
	}
}

// manyToHold is how many files make what a process takes for itself, some megabytes,
// too little to count.
const manyToHold = 50_000

// memoryPerFile takes all of the process, what a user sees, or for small trees the heap.
func memoryPerFile(r *report) (float64, bool) {
	heap, resident, ok := r.perFile()
	if r.Corpus.Captured < manyToHold {
		return heap, ok
	}
	return resident, ok
}

func peakOfCairn(op string) promised {
	return func(r *report) (float64, bool) {
		bytes, ok := r.peak(op, nameCLI)
		return bytes / 1e6, ok
	}
}

// goalTable has a row for each goal that the run says something about.
func (r *report) goalTable() table {
	t := table{{"goal", "measured", "limit", "met"}}
	for i := range goals {
		g := &goals[i]
		met, known := g.met(r)
		if !known {
			continue
		}
		value, _ := g.value(r)
		limit, _ := g.limit(r)
		t = append(t, []string{g.title, promisedText(value, g.unit), g.relation() + " " + promisedText(limit, g.unit), map[bool]string{true: "yes", false: "no"}[met]})
	}
	return t
}

func promisedText(x float64, unit string) string {
	if unit == "" {
		return ratio(x, true)
	}
	if x < 0 {
		return fmt.Sprintf("-%s %s", number(-x, true), unit)
	}
	return number(x, true) + " " + unit
}
