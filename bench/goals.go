package main

import (
	"fmt"
	"strings"
)

// goal is one thing that cairn promises of its speed or memory. A goal that is
// missed is printed, no more: timings never make a run fail.
type goal struct {
	text string
	met  func(*report) (met, known bool)
}

// timeGoals are the goals for the time of an operation.
func timeGoals(op string) []goal {
	switch op {
	case opFirst:
		return []goal{ofSpec(op, 0.25)}
	case opUnchanged:
		return []goal{ofSpec(op, 0.55), ofFloor(op, 1.3)}
	case opOne:
		return []goal{afterUnchanged(op, 0.005)}
	case opDiffMany:
		return []goal{ofSpec(op, 0.15)}
	case opRestoreMany:
		return []goal{ofSpec(op, 0.05)}
	case opUndoMany, opRedoMany:
		return []goal{ofRestore(op)}
	}
	return nil
}

// memoryGoals are the goals for the peak memory of a track.
func memoryGoals(op string) []goal {
	const limit = 250e6
	return []goal{{"< 250", func(r *report) (bool, bool) {
		bytes, ok := r.peak(op, nameCLI)
		return bytes < limit, ok
	}}}
}

func ofSpec(op string, most float64) goal {
	return goal{fmt.Sprintf("<= %.2f spec", most), func(r *report) (bool, bool) {
		cairn, ok := r.seconds(op, nameCLI)
		spec, okSpec := r.seconds(op, nameSpec)
		return cairn <= most*spec, ok && okSpec
	}}
}

// ofRestore: taking a restore back costs no more than the restore.
func ofRestore(op string) goal {
	return goal{"<= restore", func(r *report) (bool, bool) {
		cairn, ok := r.seconds(op, nameCLI)
		restore, okRestore := r.seconds(opRestoreMany, nameCLI)
		return cairn <= restore, ok && okRestore
	}}
}

func ofFloor(op string, most float64) goal {
	return goal{fmt.Sprintf("<= %.1f floor", most), func(r *report) (bool, bool) {
		cairn, ok := r.seconds(op, nameCLI)
		floor, _, okFloor := r.floorOf(op)
		return cairn <= most*floor, ok && okFloor
	}}
}

func afterUnchanged(op string, more float64) goal {
	return goal{fmt.Sprintf("<= unchanged + %.0f ms", more*1e3), func(r *report) (bool, bool) {
		cairn, ok := r.seconds(op, nameCLI)
		unchanged, okUnchanged := r.seconds(opUnchanged, nameCLI)
		return cairn <= unchanged+more, ok && okUnchanged
	}}
}

// verdict is the last two cells of a row: the goals, and for each whether it is met.
func verdict(goals []goal, r *report) []string {
	var texts, answers []string
	for _, g := range goals {
		texts = append(texts, g.text)
		met, known := g.met(r)
		switch {
		case !known:
			answers = append(answers, "-")
		case met:
			answers = append(answers, "yes")
		default:
			answers = append(answers, "no")
		}
	}
	return []string{strings.Join(texts, "; "), strings.Join(answers, "; ")}
}
