package figures

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
)

// BackShape says where the files of a turn lie.
type BackShape struct {
	Name, Title string
	Path        func(i int) string // '/'-separated, below the turn's directory
}

// BackShapes are the turns that are taken back.
var BackShapes = []BackShape{
	{"one", "one directory", func(i int) string { return fmt.Sprintf("%06d.txt", i) }},
	{"many", "directories of 20", func(i int) string { return fmt.Sprintf("%05d/%02d.txt", i/20, i%20) }},
}

// BackWay takes a turn back, or brings it back.
type BackWay struct {
	name, title string
	Op          string
	Brings      bool // the turn's files are there afterwards
	Untimed     bool // it only makes way for the next one
}

// The ways follow one another: each begins with what the one before it left.
var BackWays = []BackWay{
	{"session-revert", "session revert", peers.OpRevertTurn, false, false},
	{"unrevert", "unrevert", peers.OpUnrevert, true, false},
	{"restore", "restore", peers.OpRestore, false, false},
	{"undo", "undo", peers.OpUndo, true, false},
	{"redo", "redo", peers.OpRedo, false, false},
	{"", "", peers.OpUndo, true, true},
	{"revert", "revert of a patch", peers.OpRevert, false, false},
	{"", "", peers.OpUndo, true, true},
	{"revert-range", "revert of a range", peers.OpRevertRange, false, false},
}

// BackCurve names the curve of a way and a shape.
func BackCurve(w *BackWay, shape *BackShape) string {
	return "back-" + w.name + "-" + shape.Name + "/paths"
}

// backCurves lists the curves of every way back.
func backCurves() (list []curve) {
	for i := range BackShapes {
		for j := range BackWays {
			if w := &BackWays[j]; !w.Untimed {
				list = append(list, curve{BackCurve(w, &BackShapes[i]), w.title + ", new files in " + BackShapes[i].Title, axisBack, report.Seconds, linear})
			}
		}
	}
	return list
}
