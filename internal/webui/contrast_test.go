package webui

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"
)

// Text stands out from what is behind it as WCAG 2 asks for at level AA: 4.5 for
// text, 3 for the outlines of what can be used.
func TestContrast(t *testing.T) {
	t.Parallel()
	css, err := assetFiles.ReadFile("assets/page.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := make(map[string][2]float64) // luminance in light and dark
	for _, m := range regexp.MustCompile(`--([a-z-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)`).FindAllStringSubmatch(string(css), -1) {
		colours[m[1]] = [2]float64{luminance(t, m[2]), luminance(t, m[3])}
	}
	code := []string{"text", "muted", "syn-c", "syn-s", "syn-n", "syn-k", "syn-t", "syn-f", "syn-p"}
	for _, group := range []struct {
		least       float64
		front, back []string
	}{
		{4.5, []string{"text", "muted", "accent", "add", "del", "warn"}, []string{"page", "panel", "raised"}},
		{4.5, []string{"text", "accent", "muted", "add", "del"}, []string{"accent-wash"}},
		{4.5, code, []string{"panel", "add-row", "del-row", "add-mark", "del-mark"}},
		{4.5, []string{"add"}, []string{"add-row"}}, {4.5, []string{"del"}, []string{"del-row"}},
		{4.5, []string{"warn"}, []string{"warn-wash"}}, {4.5, []string{"on-accent"}, []string{"accent"}}, {4.5, []string{"page"}, []string{"text"}},
		{3, []string{"strong-line", "accent"}, []string{"page", "panel"}},
	} {
		for _, front := range group.front {
			for _, back := range group.back {
				for i, name := range []string{"light", "dark"} {
					a, okA := colours[front]
					b, okB := colours[back]
					if !okA || !okB {
						t.Fatalf("no colour %s or %s", front, back)
					}
					if got := (max(a[i], b[i]) + .05) / (min(a[i], b[i]) + .05); got < group.least {
						t.Errorf("%s: %s on %s has %.2f, want %.1f", name, front, back, got, group.least)
					}
				}
			}
		}
	}
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{.2126, .7152, .0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(fmt.Errorf("colour %s: %w", hex, err))
		}
		c := float64(n) / 255
		if c <= .04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
