package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// drawn is what a reader of XML sees in a picture.
type drawn struct {
	width, height float64
	texts         []drawnText
	marks         map[string][2]float64 // by title
}

type drawnText struct {
	left, top, right, bottom float64
	text                     string
}

func parsePicture(t *testing.T, picture string) drawn {
	t.Helper()
	d := drawn{marks: make(map[string][2]float64)}
	dec := xml.NewDecoder(strings.NewReader(picture))
	var path xml.StartElement
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return d
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "svg":
			d.width, d.height = numberOf(t, start, "width"), numberOf(t, start, "height")
		case "path":
			path = start
		case "text":
			d.texts = append(d.texts, textOf(t, start, contentOf(t, dec, start)))
		case "title":
			if title := contentOf(t, dec, start); path.Name.Local != "" {
				var x, y float64
				if _, err := fmt.Sscanf(attribute(path, "transform"), "translate(%g %g)", &x, &y); err != nil {
					t.Fatal(err)
				}
				d.marks[title] = [2]float64{x, y}
			}
		}
	}
}

func contentOf(t *testing.T, dec *xml.Decoder, start xml.StartElement) (text string) {
	t.Helper()
	if err := dec.DecodeElement(&text, &start); err != nil {
		t.Fatal(err)
	}
	return text
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func numberOf(t *testing.T, e xml.StartElement, name string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(attribute(e, name), 64)
	if err != nil {
		t.Fatalf("%s of %s: %v", name, e.Name.Local, err)
	}
	return x
}

// textOf guesses the place that a text takes, with letters on the wide side.
func textOf(t *testing.T, e xml.StartElement, text string) drawnText {
	size := map[string]float64{"head": 15, "soft": 11}[attribute(e, "class")]
	if size == 0 {
		size = 12
	}
	width := 0.58 * size * float64(utf8.RuneCountInString(text))
	x, y := numberOf(t, e, "x"), numberOf(t, e, "y")
	left := x - map[string]float64{"start": 0, "middle": width / 2, "end": width}[attribute(e, "text-anchor")]
	return drawnText{left, y - size*0.8, left + width, y + size*0.2, text}
}

// told by formula: y(who, x) at the places where a whole run measures.
func toldCurves(y func(k *curve, who string, x int) float64) *curves {
	c := &curves{Version: reportVersion, Rounds: 3, Machine: machine{CPU: "A <fast> & quiet processor", Processors: 2, FileSystem: "ext4", Git: "2.39.5"}}
	sizes := map[axis][]int{axisFiles: curveFiles, axisChanged: curveChanged, axisKept: curveKept, axisBack: curveBack}
	for i := range allCurves {
		k := &allCurves[i]
		trees := map[axis][]int{axisFiles: {0}, axisChanged: changedTrees, axisKept: {keptTree}, axisBack: {backTree}}[k.along]
		for _, files := range trees {
			for _, x := range sizes[k.along] {
				for _, who := range curveLines {
					at := where{k.name, files, x}
					if files == 0 {
						at.files = x
					}
					if v := y(k, who, x); v > 0 {
						c.add(at, who, v)
						c.add(at, who, v*1.5)
						c.add(at, who, v*0.9)
					}
				}
			}
		}
	}
	return c
}

// proportional grows from the smallest to the largest values that are to be expected.
func proportional(k *curve, who string, x int) float64 {
	v := map[quantity]float64{seconds: 1e-5, octets: 1e4, count: 1}[k.of] * float64(x)
	return v / map[string]float64{nameSpec: 0.1, nameCLI: 1, nameLibrary: 2, nameWatching: 10, nameFloor: 3, nameHand: 4}[who]
}

// No text leaves the picture or touches another one.
func TestPictureTexts(t *testing.T) {
	t.Parallel()
	narrow := func(_ *curve, _ string, x int) float64 { return 2 + float64(x)/1e6 }
	for name, y := range map[string]func(*curve, string, int) float64{"wide": proportional, "narrow": narrow} {
		c := toldCurves(y)
		for _, f := range figures {
			d := parsePicture(t, c.draw(&f))
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
	c := &curves{}
	for x, seconds := range map[int]float64{1_000: 0.001, 10_000: 0.01, 100_000: 1} {
		c.add(where{curveUnchanged, x, x}, nameCLI, seconds)
	}
	d := parsePicture(t, c.draw(&figures[0]))
	low, middle, high := d.marks["cairn, 1k: 1 ms"], d.marks["cairn, 10k: 10 ms"], d.marks["cairn, 100k: 1 s"]
	if len(d.marks) != 3 || low == middle || middle == high {
		t.Fatalf("marks %v", d.marks)
	}
	if x := (low[0] + high[0]) / 2; math.Abs(middle[0]-x) > 0.1 {
		t.Errorf("10k is at %g, between 1k and 100k there is %g", middle[0], x)
	}
	if y := low[1] + (high[1]-low[1])/3; math.Abs(middle[1]-y) > 0.1 {
		t.Errorf("10 ms is at %g, a third of the way from 1 ms to 1 s is %g", middle[1], y)
	}
	for _, label := range d.texts {
		if label.text == "10 ms" && math.Abs((label.top+label.bottom)/2-middle[1]) > 4 {
			t.Errorf("the label of 10 ms is at %g, its mark at %g", label.bottom, middle[1])
		}
		if label.text == "10k" && math.Abs((label.left+label.right)/2-middle[0]) > 0.1 {
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
	again := new(curves)
	if err := json.Unmarshal(data, again); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(again.Points)
	for _, f := range figures {
		if a, b := c.draw(&f), again.draw(&f); a != b || a == "" {
			t.Errorf("%s: two pictures of the same numbers differ", f.suffix)
		}
	}
}

func TestPictureEdgeCases(t *testing.T) {
	t.Parallel()
	c := &curves{}
	if picture := c.draw(&figures[0]); picture != "" {
		t.Errorf("nothing measured gives\n%s", picture)
	}
	c.add(where{curveUnchanged, 1000, 1000}, nameCLI, 0.001) // a single number
	c.add(where{curvePeak, 1000, 1000}, nameCLI, 0)          // a system that does not tell
	c.add(where{curveUnchanged, 0, 0}, nameSpec, 1)
	c.add(where{"unheard-of", 1, 1}, nameCLI, 1)
	picture := c.draw(&figures[0])
	if d := parsePicture(t, picture); len(d.marks) != 1 || strings.Contains(picture, "NaN") || strings.Contains(picture, "Inf") {
		t.Errorf("marks %v in\n%s", d.marks, picture)
	}
}

func TestPlot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "growth.json")
	if err := saveTo(file, toldCurves(proportional).writeJSON); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := plotBench(context.Background(), options{plot: file}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"files", "changed", "kept", "back"} {
		parsePicture(t, string(readFile(t, filepath.Join(dir, "growth-"+suffix+".svg"))))
	}
	if !strings.Contains(out.String(), "| track, by files changed of 100k ") {
		t.Errorf("no row for a large tree in\n%s", out.String())
	}
	for _, text := range []string{"", "{}", `{"version": 1}`, "[]"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := plotBench(context.Background(), options{plot: file}, io.Discard, io.Discard); err == nil {
			t.Errorf("%q is drawn", text)
		}
	}
}
