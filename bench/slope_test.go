package main

import (
	"math"
	"testing"
)

func TestExponent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		y    func(x float64) float64
		want float64
	}{
		{"constant", func(float64) float64 { return 5 }, 0},
		{"linear", func(x float64) float64 { return 3 * x }, 1},
		{"quadratic", func(x float64) float64 { return x * x }, 2},
		{"falling", func(x float64) float64 { return 1 / x }, -1},
		{"only the last decade counts", func(x float64) float64 { return max(x, 1000) }, 1},
	} {
		l := line{curve: curveNamed(curveUnchanged)}
		for _, x := range []int{1, 10, 100, 1000, 2000, 10_000} {
			l.points = append(l.points, point{X: x, Values: []float64{2 * c.y(float64(x)), c.y(float64(x))}})
		}
		if got, ok := l.exponent(fastest); !ok || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if want := (c.y(10_000) - c.y(1000)) / 9000; math.Abs(l.each(fastest)-want) > 1e-9 {
			t.Errorf("%s: one more costs %v, want %v", c.name, l.each(fastest), want)
		}
		if _, ok := l.exponent(leastCPU); ok {
			t.Errorf("%s: processor time that was not measured has an exponent", c.name)
		}
	}
	one := line{points: []point{{X: 10, Values: []float64{1}}}}
	if e, ok := one.exponent(fastest); ok {
		t.Errorf("one point has the exponent %v", e)
	}
}

// Each kind of curve has its own limit.
func TestSlopeGoals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		curve, who string
		exponent   float64
		goal, met  string
	}{
		{curveUnchanged, nameCLI, 1.2, "as the walk", "yes"}, // the walk grows by 1.1
		{curveUnchanged, nameCLI, 1.3, "as the walk", "no"},
		{curveOne, nameLibrary, 1.2, "as the walk", "yes"},
		{curveOne, nameWatching, 0.1, "flat", "yes"},
		{curveOne, nameWatching, 0.2, "flat", "no"},
		{curveFirst, nameWatching, 1.1, "linear", "yes"},
		{curveTrack, nameCLI, 1.2, "linear", "no"},
		{curveKeptTrack, nameCLI, 0.5, "flat", "no"},
		{curveKeptClean, nameCLI, 0.9, "linear", "yes"},
		{curveTrack, nameSpec, 2, "", ""},
	} {
		all := &curves{}
		for _, x := range []int{100, 1000} {
			all.add(where{curveUnchanged, x, x}, nameFloor, math.Pow(float64(x), 1.1))
		}
		k := curveNamed(c.curve)
		l := line{curve: k, who: c.who, points: []point{
			{X: 100, Values: []float64{1}}, {X: 1000, Values: []float64{math.Pow(10, c.exponent)}},
		}}
		row := all.slopeRow(&l)
		if goal, met := row[len(row)-2], row[len(row)-1]; goal != c.goal || met != c.met {
			t.Errorf("%s of %s, exponent %v: %q, %q; want %q, %q", c.curve, c.who, c.exponent, goal, met, c.goal, c.met)
		}
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"1 s": seconds.text(1), "10 ms": seconds.text(0.01), "12.3 µs": seconds.text(12.34e-6), "1 ms": seconds.text(0.9999e-3), "0.4 ns": seconds.text(0.4e-9), "-2 ms": seconds.text(-2e-3),
		"1.5 GB": octets.text(1.5e9), "100 kB": octets.text(1e5), "0 B": octets.text(0),
		"7": count.text(7), "10k": count.text(1e4), "4871": count.text(4871), "0.01": count.text(0.01),
		"999": short(999), "1k": short(1000), "1.5M": short(1_500_000), "1234": short(1234),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
