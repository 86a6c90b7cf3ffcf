package figures

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
)

// look is how a contender's lines are drawn: colour and shape tell them apart.
type look struct {
	color color.RGBA
	shape draw.GlyphDrawer
}

var looks = map[string]look{
	names.Spec:     {rgb(0xbc4c00), draw.BoxGlyph{}},
	names.CLI:      {rgb(0x0969da), draw.CircleGlyph{}},
	names.Library:  {rgb(0x1a7f37), draw.PyramidGlyph{}},
	names.Watching: {rgb(0x8250df), draw.CrossGlyph{}},
	names.Floor:    {rgb(0x59636e), draw.PlusGlyph{}},
	names.Hand:     {rgb(0x59636e), draw.PlusGlyph{}},
}

var soft = rgb(0x59636e)

func rgb(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 0xff}
}

func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func (l look) line() draw.LineStyle { return draw.LineStyle{Color: l.color, Width: vg.Points(1.5)} }

func (l look) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.color, Radius: vg.Points(3), Shape: l.shape}
}

// thumbnails are a line's picture in the legend.
func (l look) thumbnails() []plot.Thumbnailer {
	return []plot.Thumbnailer{&plotter.Line{LineStyle: l.line()}, &plotter.Scatter{GlyphStyle: l.glyph()}}
}

var gridStyle = draw.LineStyle{Color: rgb(0xdde1e6), Width: vg.Points(0.75)}

// guideStyle is that of the line that grows as x does.
var guideStyle = draw.LineStyle{Color: soft, Width: vg.Points(0.75), Dashes: []vg.Length{vg.Points(1), vg.Points(3)}}

// span is a range of values above 0.
type span struct{ low, high float64 }

// decades widens a range to whole powers of ten, one at least.
func (s span) decades() span {
	low, high := math.Floor(math.Log10(s.low)+1e-9), math.Ceil(math.Log10(s.high)-1e-9)
	return span{math.Pow(10, low), math.Pow(10, max(high, low+1))}
}

// narrow ranges are also labelled between the powers of ten.
func (s span) narrow() bool { return s.high < 30*s.low }

// panel is one diagram.
type panel struct {
	curve *curve
	files int // of the tree, 0 = along x
	lines []Line
	x, y  span
}

// plot makes the diagram with its scales, grid and lines.
func (p *panel) plot() (*plot.Plot, error) {
	d := plot.New()
	d.Title.Text, d.Title.Padding = p.title(), vg.Points(6)
	d.Title.TextStyle.Font = sans(10)
	d.X.Label.Text = p.curve.along.title
	number := func(x float64) string { return report.Short(int(math.Round(x))) }
	scaleAxis(&d.X, p.x, number)
	scaleAxis(&d.Y, p.y, p.curve.of.Text)
	grid := plotter.NewGrid()
	grid.Horizontal, grid.Vertical = gridStyle, gridStyle
	d.Add(grid, p.guide())
	for i := range p.lines {
		if err := addLine(d, &p.lines[i]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (p *panel) title() string {
	if p.files > 0 && p.curve.along == axisChanged {
		return p.curve.title + ", tree of " + report.Short(p.files) + " files"
	}
	return p.curve.title
}

// scaleAxis makes an axis logarithmic.
func scaleAxis(a *plot.Axis, s span, text func(float64) string) {
	a.Min, a.Max, a.Scale = s.low, s.high, plot.LogScale{}
	a.Color, a.Tick.Color, a.Label.TextStyle.Color = soft, soft, soft
	a.Label.TextStyle.Font, a.Tick.Label.Font, a.Tick.Label.Color = sans(8), sans(8), soft
	a.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick { return ticks(span{low, high}, text) })
}

// ticks are at the powers of ten, and at their multiples without a label; in a narrow range
// twice and five times a power have one, too.
func ticks(s span, text func(float64) string) (list []plot.Tick) {
	for e := math.Floor(math.Log10(s.low)); e <= math.Log10(s.high); e++ {
		for n := 1.0; n < 10; n++ {
			t := plot.Tick{Value: n * math.Pow(10, e)}
			if t.Value < s.low*(1-1e-9) || t.Value > s.high*(1+1e-9) {
				continue
			}
			if n == 1 || s.narrow() && (n == 2 || n == 5) {
				t.Label = text(t.Value)
			}
			list = append(list, t)
		}
	}
	return list
}

// guide is a line that grows as x does, from the lower left corner as far as it fits.
func (p *panel) guide() plot.Plotter {
	times := min(p.x.high/p.x.low, p.y.high/p.y.low)
	return &plotter.Line{LineStyle: guideStyle, XYs: plotter.XYs{{X: p.x.low, Y: p.y.low}, {X: p.x.low * times, Y: p.y.low * times}}}
}

// addLine draws one contender's line: the medians, and bars from the fastest to the slowest.
func addLine(d *plot.Plot, l *Line) error {
	var points struct {
		plotter.XYs
		plotter.YErrors
	}
	for i := range l.Points {
		q := &l.Points[i]
		v := q.value()
		points.XYs = append(points.XYs, plotter.XY{X: float64(q.X), Y: v})
		points.YErrors = append(points.YErrors, struct{ Low, High float64 }{v - slices.Min(q.Values), slices.Max(q.Values) - v})
	}
	bars, err := plotter.NewYErrorBars(points)
	if err != nil {
		return err
	}
	look := looks[l.who]
	bars.LineStyle, bars.CapWidth = look.line(), 0
	bars.Width = vg.Points(0.75)
	d.Add(bars, &plotter.Line{XYs: points.XYs, LineStyle: look.line()}, &plotter.Scatter{XYs: points.XYs, GlyphStyle: look.glyph()})
	return nil
}
