package main

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// svg writes a picture. It knows no more than pictures of curves need. No library does
// it: gonum/plot, the one that is kept well, links nine modules, with fonts and a PDF
// writer among them, and gives every line one colour, where a style sheet follows the
// reader's light or dark page.
type svg struct{ text strings.Builder }

// style is the same in all pictures. Colours are given twice, for a light and a dark
// page; each kind of line has a shape of its own besides.
const style = `
svg { font: 12px -apple-system, "Segoe UI", "Liberation Sans", Helvetica, Arial, sans-serif; color-scheme: light dark;
  --page: #fff; --ink: #1f2328; --soft: #59636e; --grid: #dde1e6; --minor: #eff1f3;
  --spec: #bc4c00; --cairn: #0969da; --library: #1a7f37; --watching: #8250df; --floor: #59636e; }
@media (prefers-color-scheme: dark) {
svg { --page: #0d1117; --ink: #f0f6fc; --soft: #9198a1; --grid: #30363d; --minor: #1c2128;
  --spec: #f0883e; --cairn: #58a6ff; --library: #3fb950; --watching: #bc8cff; --floor: #9198a1; }
}
.page { fill: var(--page); }
text { fill: var(--ink); }
.soft { fill: var(--soft); font-size: 11px; }
.head { font-size: 15px; font-weight: 600; }
.name { font-weight: 600; }
.minor { stroke: var(--minor); }
.grid { stroke: var(--grid); }
.frame { fill: none; stroke: var(--soft); }
.guide { stroke: var(--soft); stroke-dasharray: 1 4; stroke-linecap: round; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.range { stroke-width: 1; opacity: .55; }
.mark { stroke: var(--page); stroke-width: 1; }
`

func newSVG(width, height float64, title string) *svg {
	s := new(svg)
	fmt.Fprintf(&s.text, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img">`+"\n",
		coordinate(width), coordinate(height), coordinate(width), coordinate(height))
	fmt.Fprintf(&s.text, "<title>%s</title>\n<style>%s", escaped(title), style)
	for _, who := range curveLines {
		l := looks[who]
		fmt.Fprintf(&s.text, ".%s-line { stroke: var(--%s); } .%s-mark { fill: var(--%s); }\n", l.class, l.class, l.class, l.class)
	}
	s.text.WriteString("</style>\n")
	s.rect(0, 0, width, height, "page")
	return s
}

// String ends the picture.
func (s *svg) String() string { return s.text.String() + "</svg>\n" }

// coordinate keeps a tenth of a pixel: the same on every machine.
func coordinate(x float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Round(x*10)/10), ".0")
}

func escaped(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		return "" // a Builder takes everything
	}
	return b.String()
}

func (s *svg) rect(x, y, width, height float64, class string) {
	fmt.Fprintf(&s.text, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`+"\n", class, coordinate(x), coordinate(y), coordinate(width), coordinate(height))
}

func (s *svg) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&s.text, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`+"\n", class, coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2))
}

// label writes text that begins, ends or has its middle ("start", "end", "middle") at x.
func (s *svg) label(x, y float64, anchor, class, text string) {
	fmt.Fprintf(&s.text, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`+"\n", class, coordinate(x), coordinate(y), anchor, escaped(text))
}

func (s *svg) polyline(points [][2]float64, class string) {
	var list []string
	for _, p := range points {
		list = append(list, coordinate(p[0])+","+coordinate(p[1]))
	}
	fmt.Fprintf(&s.text, `<polyline class="%s" points="%s"/>`+"\n", class, strings.Join(list, " "))
}

// mark draws a shape around a place, with a text that pointing at it shows.
func (s *svg) mark(x, y float64, shape string, class, title string) {
	fmt.Fprintf(&s.text, `<path class="mark %s" transform="translate(%s %s)" d="%s">`, class, coordinate(x), coordinate(y), shape)
	if title != "" {
		fmt.Fprintf(&s.text, "<title>%s</title>", escaped(title))
	}
	s.text.WriteString("</path>\n")
}

// look is how a contender's lines are drawn.
type look struct{ class, shape string }

var looks = map[string]look{
	nameSpec:     {"spec", "M-4 -4H4V4H-4Z"},
	nameCLI:      {"cairn", "M-4.5 0A4.5 4.5 0 1 1 4.5 0A4.5 4.5 0 1 1 -4.5 0Z"},
	nameLibrary:  {"library", "M0 -5.5L5 3.5H-5Z"},
	nameWatching: {"watching", "M0 -5.5L5.5 0L0 5.5L-5.5 0Z"},
	nameFloor:    {"floor", "M-5 -1.5H5V1.5H-5Z"},
	nameHand:     {"floor", "M-5 -1.5H5V1.5H-5Z"},
}

// lineTitles are the contenders' names in legends and tables.
var lineTitles = map[string]string{
	nameSpec: "specification (git)", nameCLI: "cairn", nameLibrary: "library", nameWatching: "library, watching", nameFloor: "walk + lstat",
	nameHand: "write or unlink",
}
