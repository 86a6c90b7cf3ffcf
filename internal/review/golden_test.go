package review

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

var update = flag.Bool("update", false, "write the screens in testdata anew")

func width(line string) int       { return ansi.StringWidth(line) }
func stripped(text string) string { return ansi.Strip(text) }

// golden compares a screen with a file. An escape is written as ^[.
func golden(t *testing.T, name, screen string) {
	t.Helper()
	gittest.AssertGolden(t, filepath.Join("testdata", name+".txt"), strings.ReplaceAll(screen, "\x1b", "^[")+"\n", *update)
}

var sizes = [][2]int{{80, 24}, {120, 40}, {200, 50}}

var looks = map[string]Options{
	"none": {Colours: NoColours}, "sixteen": {Colours: SixteenColours, Dark: true}, "dark": {Colours: ManyColours, Dark: true}, "light": {Colours: ManyColours},
}

// states are the screens that are compared, with the keys that lead to them.
var states = map[string][]string{
	"turns":  nil,
	"files":  {"G", "k", "enter"},
	"hunks":  {"G", "k", "enter", "j", "enter", "]", "a"},
	"odd":    {"j", "enter", "enter"},
	"split":  {"G", "k", "enter", "j", "enter", "s", "]", "j"},
	"plan":   {"G", "k", "x"},
	"help":   {"?"},
	"search": {"/"},
}

// TestScreens compares every screen in every size without colours, and the hunks in all looks.
func TestScreens(t *testing.T) {
	t.Parallel()
	for state, keys := range states {
		for look, opt := range looks {
			if look != "none" && state != "hunks" && state != "turns" {
				continue
			}
			for _, size := range sizes {
				name := fmt.Sprintf("%s-%s-%dx%d", state, look, size[0], size[1])
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					d := drive(t, newFake(), size[0], size[1], opt)
					d.keys(keys...)
					golden(t, name, d.screen())
				})
			}
		}
	}
}
