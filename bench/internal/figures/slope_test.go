package figures

import (
	"math"
	"testing"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
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
		l := Line{curve: curveNamed(CurveUnchanged)}
		for _, x := range []int{1, 10, 100, 1000, 2000, 10_000} {
			l.Points = append(l.Points, Point{X: x, Values: []float64{2 * c.y(float64(x)), c.y(float64(x))}})
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
	one := Line{Points: []Point{{X: 10, Values: []float64{1}}}}
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
		{CurveUnchanged, names.CLI, 1.2, "as the walk", "yes"}, // the walk grows by 1.1
		{CurveUnchanged, names.CLI, 1.3, "as the walk", "no"},
		{CurveOne, names.Library, 1.2, "as the walk", "yes"},
		{CurveOne, names.Watching, 0.1, "flat", "yes"},
		{CurveOne, names.Watching, 0.2, "flat", "no"},
		{CurveFirst, names.Watching, 1.1, "linear", "yes"},
		{CurveTrack, names.CLI, 1.2, "linear", "no"},
		{CurveKeptTrack, names.CLI, 0.5, "flat", "no"},
		{CurveKeptClean, names.CLI, 0.9, "linear", "yes"},
		{CurveTrack, names.Spec, 2, "", ""},
	} {
		all := &Curves{}
		for _, x := range []int{100, 1000} {
			all.Add(Where{CurveUnchanged, x, x}, names.Floor, math.Pow(float64(x), 1.1))
		}
		k := curveNamed(c.curve)
		l := Line{curve: k, who: c.who, Points: []Point{
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
		"1 s": report.Seconds.Text(1), "10 ms": report.Seconds.Text(0.01), "12.3 µs": report.Seconds.Text(12.34e-6), "1 ms": report.Seconds.Text(0.9999e-3), "0.4 ns": report.Seconds.Text(0.4e-9), "-2 ms": report.Seconds.Text(-2e-3),
		"1.5 GB": report.Octets.Text(1.5e9), "100 kB": report.Octets.Text(1e5), "0 B": report.Octets.Text(0),
		"7": report.Count.Text(7), "10k": report.Count.Text(1e4), "4871": report.Count.Text(4871), "0.01": report.Count.Text(0.01),
		"999": report.Short(999), "1k": report.Short(1000), "1.5M": report.Short(1_500_000), "1234": report.Short(1234),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
