package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// axis is what a curve runs along.
type axis struct{ title, unit string }

var (
	axisFiles   = axis{"files in the tree", "file"}
	axisChanged = axis{"files changed", "file"}
	axisKept    = axis{"checkpoints kept", "checkpoint"}
	axisBack    = axis{"files taken back", "file"}
)

// quantity is what a curve tells. Values are in seconds, bytes or a number.
type quantity int

const (
	seconds quantity = iota
	octets
	count
)

// curve is one cost that is measured at several sizes.
type curve struct {
	name, title string
	along       axis
	of          quantity
	most        growthLimit // for cairn
}

// The curves, by their names in files.
const (
	curveFirst     = "first-track/files"
	curveUnchanged = "unchanged-track/files"
	curveOne       = "track-1-changed/files"
	curvePeak      = "peak-memory/files"

	curveTrack   = "track/changed"
	curveRestore = "restore/changed"
	curveDiff    = "diff-full/changed"

	curveKeptTrack   = "track-1-changed/kept"
	curveKeptLog     = "log/kept"
	curveKeptPatch   = "patch-oldest/kept"
	curveKeptRestore = "restore-100/kept"
	curveKeptUndo    = "undo-100/kept"
	curveKeptClean   = "clean/kept"
	curveKeptFiles   = "store-files/kept"
	curveKeptBytes   = "store-bytes/kept"
	curveCleanBytes  = "store-bytes-cleaned/kept"
)

var allCurves = append([]curve{
	{curveUnchanged, "track, unchanged", axisFiles, seconds, asTheWalk},
	{curveOne, "track, 1 file changed", axisFiles, seconds, asTheWalk},
	{curveFirst, "first track", axisFiles, seconds, linear},
	{curvePeak, "peak memory of a track, unchanged", axisFiles, octets, linear},

	{curveTrack, "track", axisChanged, seconds, linear},
	{curveRestore, "restore", axisChanged, seconds, linear},
	{curveDiff, "diff full", axisChanged, seconds, linear},

	{curveKeptTrack, "track, 1 file changed", axisKept, seconds, flat},
	{curveKeptLog, "log, the newest 20", axisKept, seconds, flat},
	{curveKeptPatch, "patch since the oldest", axisKept, seconds, flat},
	{curveKeptRestore, "restore, 100 files", axisKept, seconds, flat},
	{curveKeptUndo, "undo of the restore", axisKept, seconds, flat},
	{curveKeptClean, "cleaning", axisKept, seconds, linear},
	{curveKeptFiles, "files of the store before the cleaning", axisKept, count, linear},
	{curveKeptBytes, "store before the cleaning", axisKept, octets, linear},
	{curveCleanBytes, "store after the cleaning", axisKept, octets, linear},
}, backCurves()...)

// curves is what a run with -curves found. results/README.md describes its JSON form.
type curves struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
	Machine machine   `json:"machine"`
	Rounds  int       `json:"rounds"`
	Points  []point   `json:"points"`
	Notes   []string  `json:"notes,omitempty"`
}

// point holds all measurements of one contender at one place of a curve.
type point struct {
	Curve      string    `json:"curve"`
	Files      int       `json:"files"` // of the tree
	Who        string    `json:"who"`
	X          int       `json:"x"`      // files, changed files or checkpoints
	Values     []float64 `json:"values"` // seconds, bytes or a number; one a round
	CPUSeconds []float64 `json:"cpuSeconds,omitempty"`
}

// where is a place that is measured.
type where struct {
	curve    string
	files, x int
}

// add records one measurement.
func (c *curves) add(at where, who string, value float64) *point {
	same := func(p point) bool {
		return p.Curve == at.curve && p.Files == at.files && p.X == at.x && p.Who == who
	}
	i := slices.IndexFunc(c.Points, same)
	if i < 0 {
		i = len(c.Points)
		c.Points = append(c.Points, point{Curve: at.curve, Files: at.files, Who: who, X: at.x})
	}
	p := &c.Points[i]
	p.Values = append(p.Values, value)
	return p
}

// line is one contender's way along a curve, by rising x. Trees of all sizes belong
// to one line where the number of files is what the curve runs along.
type line struct {
	curve  *curve
	files  int // of the tree, 0 = x
	who    string
	points []point
}

// line returns a line with the points that were measured, perhaps none. 0 stands for
// what the system does not tell.
func (c *curves) line(k *curve, files int, who string) line {
	l := line{curve: k, files: files, who: who}
	for _, p := range c.Points {
		if p.Curve == k.name && p.Who == who && (files == 0 || p.Files == files) && p.X > 0 && len(p.Values) > 0 && slices.Min(p.Values) > 0 {
			l.points = append(l.points, p)
		}
	}
	slices.SortStableFunc(l.points, func(a, b point) int { return a.X - b.X })
	return l
}

// value is the median.
func (p *point) value() float64 {
	v, _ := median(p.Values)
	return v
}

// treesOf lists the sizes of trees that a curve was measured on; only 0 where it
// runs along the number of files.
func (c *curves) treesOf(k *curve) []int {
	if k.along == axisFiles {
		return []int{0}
	}
	var sizes []int
	for _, p := range c.Points {
		if p.Curve == k.name {
			sizes = append(sizes, p.Files)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

func (c *curves) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

func readCurves(file string) (*curves, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c := new(curves)
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if c.Version != reportVersion || len(c.Points) == 0 {
		return nil, fmt.Errorf("%s holds no curves of version %d", file, reportVersion)
	}
	return c, nil
}
