package figures

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// figure is a file with panels in two columns.
type figure struct {
	suffix, title string
	curves        []string
}

var figures = []figure{
	{"files", "Cost by the number of files in the tree", []string{CurveUnchanged, CurveOne, CurveFirst, CurvePeak}},
	{"changed", "Cost by the number of files changed", []string{CurveTrack, CurveRestore, CurveDiff}},
	{"kept", "Cost by the number of checkpoints kept", []string{
		CurveKeptTrack, CurveKeptLog, CurveKeptPatch, CurveKeptRestore, CurveKeptUndo, CurveKeptClean, CurveKeptBytes, CurveCleanBytes, CurveKeptFiles,
	}},
	{"back", "Cost of taking back a turn that made files", namesOf(backCurves())},
}

// PlotFile draws the curves of a file. The pictures lie beside it, and out gets their tables.
func PlotFile(file string, out io.Writer) error {
	c, err := ReadCurves(file)
	if err != nil {
		return err
	}
	errs := []error{c.Print(out)}
	for _, f := range figures {
		picture, err := c.draw(&f)
		if picture != nil {
			name := strings.TrimSuffix(file, filepath.Ext(file)) + "-" + f.suffix + ".svg"
			err = os.WriteFile(name, picture, 0o644)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func namesOf(list []curve) (names []string) {
	for _, k := range list {
		names = append(names, k.Name)
	}
	return names
}

// Print tells how each curve grows.
func (c *Curves) Print(out io.Writer) error {
	if _, err := fmt.Fprintf(out, "machine: %s; the fastest of %d rounds\n\n", c.Machine, c.Rounds); err != nil {
		return err
	}
	if err := c.slopes().Write(out); err != nil {
		return err
	}
	if back := c.backTable(); back != nil {
		if _, err := fmt.Fprintln(out); err != nil {
			return err
		}
		if err := back.Write(out); err != nil {
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

// panels are the diagrams of a figure for which something was measured. Two that
// stand side by side have the same scale where they tell the same quantity.
func (c *Curves) panels(f *figure) []*panel {
	var list []*panel
	for _, name := range f.curves {
		k := curveNamed(name)
		for _, files := range c.treesOf(k) {
			p := &panel{curve: k, files: files}
			for _, who := range CurveLines {
				if l := c.Line(k, files, who); len(l.Points) > 0 {
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
			p.x = extent([]*panel{p}, func(q *Point) []float64 { return []float64{float64(q.X)} })
			if p.x.low == p.x.high {
				p.x = p.x.decades()
			}
			p.y = extent(beside, func(q *Point) []float64 { return q.Values }).decades()
		}
	}
	return list
}

func extent(panels []*panel, of func(*Point) []float64) span {
	s := span{low: math.Inf(1)}
	for _, p := range panels {
		for _, l := range p.lines {
			for i := range l.Points {
				s.low, s.high = min(s.low, slices.Min(of(&l.Points[i]))), max(s.high, slices.Max(of(&l.Points[i])))
			}
		}
	}
	return s
}

// The measures of a picture: two panels side by side are as wide as a page of text.
const (
	pictureWidth = vg.Length(660)
	headHeight   = vg.Length(58)
	panelHeight  = vg.Length(205)
	margin       = vg.Length(12)
)

// draw returns the picture, nil where nothing was measured.
func (c *Curves) draw(f *figure) ([]byte, error) {
	panels := c.panels(f)
	if len(panels) == 0 {
		return nil, nil
	}
	var rows [][]*plot.Plot
	for pair := range slices.Chunk(panels, 2) {
		row := make([]*plot.Plot, 2) // the last one may lack the second
		for i, p := range pair {
			var err error
			if row[i], err = p.plot(); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	picture := vgsvg.New(pictureWidth, headHeight+panelHeight*vg.Length(len(rows)))
	all := draw.New(picture)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	c.head(draw.Crop(all, margin, -margin, all.Max.Y-headHeight, 0), f, panels)
	tiles := draw.Tiles{Rows: len(rows), Cols: 2, PadLeft: margin, PadRight: margin, PadTop: headHeight, PadBottom: margin, PadX: 2 * margin, PadY: margin}
	for y, row := range plot.Align(rows, tiles, all) {
		for x, canvas := range row {
			if rows[y][x] != nil {
				rows[y][x].Draw(canvas)
			}
		}
	}
	var text bytes.Buffer
	_, err := picture.WriteTo(&text)
	// Arial and Helvetica have the same widths as the font that the library measures with.
	family := []byte("font-family:Liberation Sans")
	return bytes.ReplaceAll(text.Bytes(), family, append(family, ",Arial,Helvetica,sans-serif"...)), err
}

// head writes the title, what the figures were measured on, and the legend.
func (c *Curves) head(at draw.Canvas, f *figure, panels []*panel) {
	style := draw.TextStyle{Font: sans(12), Color: color.Black, Handler: plot.DefaultTextHandler}
	at.FillText(style, vg.Point{X: at.Min.X, Y: at.Max.Y - 20}, f.title)
	style.Font, style.Color = sans(8), soft
	at.FillText(style, vg.Point{X: at.Min.X, Y: at.Max.Y - 33}, c.caption())
	for _, entry := range legend(panels) {
		entry.Draw(draw.Crop(at, 0, 0, 0, -40))
		at.Min.X += entry.Rectangle(at).Size().X + margin + 6
	}
}

// caption says what the figures were measured on.
func (c *Curves) caption() string {
	m := &c.Machine
	parts := []string{system.OrUnknown(m.CPU), fmt.Sprint(m.Processors, " processors"), m.FileSystem, "git " + m.Git}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return fmt.Sprintf("%s. Medians of %d rounds, bars from the fastest to the slowest.", strings.Join(parts, ", "), c.Rounds)
}

// legend has an entry for each line that is there; they stand side by side.
func legend(panels []*panel) (list []plot.Legend) {
	add := func(name string, thumbnails ...plot.Thumbnailer) {
		l := plot.NewLegend()
		l.Left, l.Top, l.TextStyle.Font, l.ThumbnailWidth = true, true, sans(9), vg.Points(18)
		l.Add(name, thumbnails...)
		list = append(list, l)
	}
	for _, who := range CurveLines {
		if slices.ContainsFunc(panels, func(p *panel) bool {
			return slices.ContainsFunc(p.lines, func(l Line) bool { return l.who == who })
		}) {
			add(lineTitles[who], looks[who].thumbnails()...)
		}
	}
	add("linear", &plotter.Line{LineStyle: guideStyle})
	return list
}

// lineTitles are the contenders' names in legends and tables.
var lineTitles = map[string]string{
	names.Spec: "specification (git)", names.CLI: "cairn", names.Library: "library", names.Watching: "library, watching", names.Floor: "walk + lstat",
	names.Hand: "write or unlink",
}
