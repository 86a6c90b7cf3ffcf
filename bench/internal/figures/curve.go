package figures

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// axis is what a curve runs along.
type axis struct{ title, unit string }

var (
	axisFiles   = axis{"files in the tree", "file"}
	axisChanged = axis{"files changed", "file"}
	axisKept    = axis{"checkpoints kept", "checkpoint"}
	axisBack    = axis{"files taken back", "file"}
)

// curve is one cost that is measured at several sizes.
type curve struct {
	Name, title string
	along       axis
	of          report.Quantity
	most        growthLimit // for cairn
}

// The curves, by their names in files.
const (
	CurveFirst     = "first-track/files"
	CurveUnchanged = "unchanged-track/files"
	CurveOne       = "track-1-changed/files"
	CurvePeak      = "peak-memory/files"

	CurveTrack   = "track/changed"
	CurveRestore = "restore/changed"
	CurveDiff    = "diff-full/changed"

	CurveKeptTrack   = "track-1-changed/kept"
	CurveKeptLog     = "log/kept"
	CurveKeptPatch   = "patch-oldest/kept"
	CurveKeptRestore = "restore-100/kept"
	CurveKeptUndo    = "undo-100/kept"
	CurveKeptClean   = "clean/kept"
	CurveKeptFiles   = "store-files/kept"
	CurveKeptBytes   = "store-bytes/kept"
	CurveCleanBytes  = "store-bytes-cleaned/kept"
)

// AllCurves are the curves in the order of the tables.
var AllCurves = append([]curve{
	{CurveUnchanged, "track, unchanged", axisFiles, report.Seconds, asTheWalk},
	{CurveOne, "track, 1 file changed", axisFiles, report.Seconds, asTheWalk},
	{CurveFirst, "first track", axisFiles, report.Seconds, linear},
	{CurvePeak, "peak memory of a track, unchanged", axisFiles, report.Octets, linear},

	{CurveTrack, "track", axisChanged, report.Seconds, linear},
	{CurveRestore, "restore", axisChanged, report.Seconds, linear},
	{CurveDiff, "diff full", axisChanged, report.Seconds, linear},

	{CurveKeptTrack, "track, 1 file changed", axisKept, report.Seconds, flat},
	{CurveKeptLog, "log, the newest 20", axisKept, report.Seconds, flat},
	{CurveKeptPatch, "patch since the oldest", axisKept, report.Seconds, flat},
	{CurveKeptRestore, "restore, 100 files", axisKept, report.Seconds, flat},
	{CurveKeptUndo, "undo of the restore", axisKept, report.Seconds, flat},
	{CurveKeptClean, "cleaning", axisKept, report.Seconds, linear},
	{CurveKeptFiles, "files of the store before the cleaning", axisKept, report.Count, linear},
	{CurveKeptBytes, "store before the cleaning", axisKept, report.Octets, linear},
	{CurveCleanBytes, "store after the cleaning", axisKept, report.Octets, linear},
}, backCurves()...)

// Curves is what a run with -curves found. results/README.md describes its JSON form.
type Curves struct {
	Version int            `json:"version"`
	Time    time.Time      `json:"time"`
	Machine system.Machine `json:"machine"`
	Rounds  int            `json:"rounds"`
	Points  []Point        `json:"points"`
	Notes   []string       `json:"notes,omitempty"`
}

// Point holds all measurements of one contender at one place of a curve.
type Point struct {
	Curve      string    `json:"curve"`
	Files      int       `json:"files"` // of the tree
	Who        string    `json:"who"`
	X          int       `json:"x"`      // files, changed files or checkpoints
	Values     []float64 `json:"values"` // seconds, bytes or a number; one a round
	CPUSeconds []float64 `json:"cpuSeconds,omitempty"`
}

// Where is a place that is measured.
type Where struct {
	Curve    string
	Files, X int
}

// Add records one measurement.
func (c *Curves) Add(at Where, who string, value float64) *Point {
	same := func(p Point) bool {
		return p.Curve == at.Curve && p.Files == at.Files && p.X == at.X && p.Who == who
	}
	i := slices.IndexFunc(c.Points, same)
	if i < 0 {
		i = len(c.Points)
		c.Points = append(c.Points, Point{Curve: at.Curve, Files: at.Files, Who: who, X: at.X})
	}
	p := &c.Points[i]
	p.Values = append(p.Values, value)
	return p
}

// Line is one contender's way along a curve, by rising x. Trees of all sizes belong
// to one line where the number of files is what the curve runs along.
type Line struct {
	curve  *curve
	files  int // of the tree, 0 = x
	who    string
	Points []Point
}

// Line returns a line with the points that were measured, perhaps none. 0 stands for
// what the system does not tell.
func (c *Curves) Line(k *curve, files int, who string) Line {
	l := Line{curve: k, files: files, who: who}
	for _, p := range c.Points {
		if p.Curve == k.Name && p.Who == who && (files == 0 || p.Files == files) && p.X > 0 && len(p.Values) > 0 && slices.Min(p.Values) > 0 {
			l.Points = append(l.Points, p)
		}
	}
	slices.SortStableFunc(l.Points, func(a, b Point) int { return a.X - b.X })
	return l
}

// value is the median.
func (p *Point) value() float64 {
	v, _ := system.Median(p.Values)
	return v
}

// treesOf lists the sizes of trees that a curve was measured on; only 0 where it
// runs along the number of files.
func (c *Curves) treesOf(k *curve) []int {
	if k.along == axisFiles {
		return []int{0}
	}
	var sizes []int
	for _, p := range c.Points {
		if p.Curve == k.Name {
			sizes = append(sizes, p.Files)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// WriteJSON writes the curves as a file that ReadCurves reads.
func (c *Curves) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

// ReadCurves reads a file of curves.
func ReadCurves(file string) (*Curves, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c := new(Curves)
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if c.Version != report.Version || len(c.Points) == 0 {
		return nil, fmt.Errorf("%s holds no curves of version %d", file, report.Version)
	}
	return c, nil
}

// The sizes that curves are measured at, as far as the options allow.
var (
	CurveFiles   = []int{1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 500_000}
	CurveChanged = []int{1, 3, 10, 30, 100, 300, 1_000, 3_000}
	CurveKept    = []int{100, 1_000, 3_000, 10_000}

	// ChangedTrees are the trees whose changed files are varied.
	ChangedTrees = []int{10_000, 100_000}
)

// The contenders of curves, in the order of the legend.
var CurveKinds = []string{names.Spec, names.CLI, names.Library, names.Watching}

// CurveLines are the lines of a curve, in the order of the legend: contenders, and what
// the machine takes for the least of it.
var CurveLines = append(slices.Clone(CurveKinds), names.Floor, names.Hand)

// BackTree is the tree beside a turn, and CurveBack the numbers of files that the turn
// makes and that are taken back.
const BackTree = 80_000

// CurveBack are the numbers of files that a turn makes.
var CurveBack = []int{10, 1_000, 10_000, 50_000}

// KeptTree is the tree whose checkpoints pile up, and RestoredFiles how many of its
// files are edited before each restore.
const (
	KeptTree      = 1000
	RestoredFiles = 100
)
