package figures

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn/bench/internal/benchtest"
	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// drawn is what a reader of SVG sees in a picture, in points from its upper left corner.
type drawn struct {
	width, height float64
	texts         []drawnText
	lines         map[string][][2]float64 // corners of the last line of each colour
}

type drawnText struct {
	left, top, right, bottom float64
	text                     string
}

// thick is the style of a contender's line.
var thick = regexp.MustCompile(`^fill:none;stroke:(#[0-9A-F]{6});stroke-width:1\.5$`)

func parsePicture(t *testing.T, picture []byte) drawn {
	t.Helper()
	var root struct {
		ViewBox string `xml:"viewBox,attr"`
		All     struct {
			Paths []struct {
				D     string `xml:"d,attr"`
				Style string `xml:"style,attr"`
			} `xml:"path"`
			Texts []struct {
				X     float64 `xml:"x,attr"`
				Y     float64 `xml:"y,attr"`
				Style string  `xml:"style,attr"`
				Text  string  `xml:",chardata"`
			} `xml:"text"`
		} `xml:"g"`
	}
	if err := xml.Unmarshal(picture, &root); err != nil {
		t.Fatalf("%v in\n%s", err, picture)
	}
	d := drawn{lines: make(map[string][][2]float64)}
	if _, err := fmt.Sscanf(root.ViewBox, "0 0 %g %g", &d.width, &d.height); err != nil {
		t.Fatal(err)
	}
	for _, text := range root.All.Texts {
		d.texts = append(d.texts, textOf(t, text.X, d.height+text.Y, text.Style, text.Text))
	}
	for _, path := range root.All.Paths {
		if m := thick.FindStringSubmatch(path.Style); m != nil {
			d.lines[m[1]] = cornersOf(t, path.D, d.height)
		}
	}
	return d
}

// textOf guesses the place that a text takes, with letters on the wide side.
func textOf(t *testing.T, x, y float64, style, text string) drawnText {
	t.Helper()
	_, after, _ := strings.Cut(style, "font-size:")
	after, _, _ = strings.Cut(after, "px")
	size, err := strconv.ParseFloat(after, 64)
	if err != nil {
		t.Fatalf("%v in %q", err, style)
	}
	width := 0.54 * size * float64(utf8.RuneCountInString(text))
	return drawnText{x, y - size*0.8, x + width, y + size*0.2, text}
}

func cornersOf(t *testing.T, path string, height float64) (corners [][2]float64) {
	t.Helper()
	for _, corner := range strings.Split(strings.TrimPrefix(path, "M"), "L") {
		var x, y float64
		if _, err := fmt.Sscanf(corner, "%g,%g", &x, &y); err != nil {
			t.Fatalf("%v in %q", err, path)
		}
		corners = append(corners, [2]float64{x, height - y})
	}
	return corners
}

func drawing(t *testing.T, c *Curves, f *figure) []byte {
	t.Helper()
	picture, err := c.draw(f)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// told by formula: y(who, x) at the places where a whole run measures.
func toldCurves(y func(k *curve, who string, x int) float64) *Curves {
	c := &Curves{Version: report.Version, Rounds: 3, Machine: system.Machine{CPU: "A <fast> & quiet processor", Processors: 2, FileSystem: "ext4", Git: "2.39.5"}}
	sizes := map[axis][]int{axisFiles: CurveFiles, axisChanged: CurveChanged, axisKept: CurveKept, axisBack: CurveBack}
	for i := range AllCurves {
		k := &AllCurves[i]
		trees := map[axis][]int{axisFiles: {0}, axisChanged: ChangedTrees, axisKept: {KeptTree}, axisBack: {BackTree}}[k.along]
		for _, files := range trees {
			for _, x := range sizes[k.along] {
				for _, who := range CurveLines {
					at := Where{k.Name, files, x}
					if files == 0 {
						at.Files = x
					}
					if v := y(k, who, x); v > 0 {
						c.Add(at, who, v)
						c.Add(at, who, v*1.5)
						c.Add(at, who, v*0.9)
					}
				}
			}
		}
	}
	return c
}

// proportional grows from the smallest to the largest values that are to be expected.
func proportional(k *curve, who string, x int) float64 {
	v := map[report.Quantity]float64{report.Seconds: 1e-5, report.Octets: 1e4, report.Count: 1}[k.of] * float64(x)
	return v / map[string]float64{names.Spec: 0.1, names.CLI: 1, names.Library: 2, names.Watching: 10, names.Floor: 3, names.Hand: 4}[who]
}

// No text leaves the picture or touches another one.
func TestPictureTexts(t *testing.T) {
	t.Parallel()
	narrow := func(_ *curve, _ string, x int) float64 { return 2 + float64(x)/1e6 }
	for name, y := range map[string]func(*curve, string, int) float64{"wide": proportional, "narrow": narrow} {
		c := toldCurves(y)
		for _, f := range figures {
			d := parsePicture(t, drawing(t, c, &f))
			if len(d.texts) < 20 {
				t.Errorf("%s, %s: only %d texts", name, f.suffix, len(d.texts))
			}
			for i, a := range d.texts {
				if a.left < 0 || a.top < 0 || a.right > d.width || a.bottom > d.height {
					t.Errorf("%s, %s: %q is clipped", name, f.suffix, a.text)
				}
				for _, b := range d.texts[:i] {
					if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
						t.Errorf("%s, %s: %q and %q overlap", name, f.suffix, a.text, b.text)
					}
				}
			}
		}
	}
}

// A mark lies where its numbers say, on logarithmic scales.
func TestPictureNumbers(t *testing.T) {
	t.Parallel()
	c := &Curves{}
	for x, seconds := range map[int]float64{1_000: 0.001, 10_000: 0.01, 100_000: 1} {
		c.Add(Where{CurveUnchanged, x, x}, names.CLI, seconds)
	}
	d := parsePicture(t, drawing(t, c, &figures[0]))
	corners := d.lines["#0969DA"]
	if len(corners) != 3 {
		t.Fatalf("lines %v", d.lines)
	}
	low, middle, high := corners[0], corners[1], corners[2]
	if x := (low[0] + high[0]) / 2; low[0] >= high[0] || math.Abs(middle[0]-x) > 0.1 {
		t.Errorf("10k is at %g, between 1k and 100k there is %g", middle[0], x)
	}
	if y := low[1] + (high[1]-low[1])/3; low[1] <= high[1] || math.Abs(middle[1]-y) > 0.1 {
		t.Errorf("10 ms is at %g, a third of the way from 1 ms to 1 s is %g", middle[1], y)
	}
	for _, label := range d.texts {
		if label.text == "10 ms" && math.Abs((label.top+label.bottom)/2-middle[1]) > 4 {
			t.Errorf("the label of 10 ms is at %g, its mark at %g", label.bottom, middle[1])
		}
		if label.text == "10k" && math.Abs((label.left+label.right)/2-middle[0]) > 1 {
			t.Errorf("the label of 10k is at %g to %g, its mark at %g", label.left, label.right, middle[0])
		}
	}
}

// One JSON file gives one picture, whatever order the points are in.
func TestPictureIsDeterministic(t *testing.T) {
	t.Parallel()
	c := toldCurves(proportional)
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	again := new(Curves)
	if err := json.Unmarshal(data, again); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(again.Points)
	for _, f := range figures {
		if a, b := drawing(t, c, &f), drawing(t, again, &f); !bytes.Equal(a, b) || len(a) == 0 {
			t.Errorf("%s: two pictures of the same numbers differ", f.suffix)
		}
	}
}

func TestPictureEdgeCases(t *testing.T) {
	t.Parallel()
	c := &Curves{}
	if picture := drawing(t, c, &figures[0]); picture != nil {
		t.Errorf("nothing measured gives\n%s", picture)
	}
	c.Add(Where{CurveUnchanged, 1000, 1000}, names.CLI, 0.001) // a single number
	c.Add(Where{CurvePeak, 1000, 1000}, names.CLI, 0)          // a system that does not tell
	c.Add(Where{CurveUnchanged, 0, 0}, names.Spec, 1)
	c.Add(Where{"unheard-of", 1, 1}, names.CLI, 1)
	picture := drawing(t, c, &figures[0])
	parsePicture(t, picture)
	if panels := c.panels(&figures[0]); len(panels) != 1 || len(panels[0].lines) != 1 || len(panels[0].lines[0].Points) != 1 {
		t.Errorf("panels %v", panels)
	}
	if bytes.Contains(picture, []byte("NaN")) || bytes.Contains(picture, []byte("Inf")) {
		t.Errorf("a number that is none in\n%s", picture)
	}
}

func TestPlot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "growth.json")
	if err := report.SaveTo(file, toldCurves(proportional).WriteJSON); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := PlotFile(file, &out); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"files", "changed", "kept", "back"} {
		parsePicture(t, []byte(benchtest.ReadFile(t, filepath.Join(dir, "growth-"+suffix+".svg"))))
	}
	if !strings.Contains(out.String(), "| track, by files changed of 100k ") {
		t.Errorf("no row for a large tree in\n%s", out.String())
	}
	for _, text := range []string{"", "{}", `{"version": 1}`, "[]"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := PlotFile(file, io.Discard); err == nil {
			t.Errorf("%q is drawn", text)
		}
	}
}
