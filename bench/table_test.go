package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// told is a report with one value per operation and contender, in milliseconds.
func told(values map[string]map[string]float64) *report {
	r := &report{Rounds: 1, Machine: machine{Processors: 1}, Edited: manyFiles}
	for op, byWho := range values {
		for who, ms := range byWho {
			r.Samples = append(r.Samples, sample{Operation: op, Who: who, Seconds: ms / 1e3})
		}
	}
	return r
}

func TestTable(t *testing.T) {
	t.Parallel()
	r := told(map[string]map[string]float64{
		opUnchanged:   {nameSpec: 200, nameCLI: 100, nameLibrary: 90.25},
		opOne:         {nameSpec: 220, nameCLI: 105.1},
		opDiffMany:    {nameSpec: 400, nameCLI: 20},
		opRestoreMany: {nameSpec: 20000, nameCLI: 1001},
		floorWalk:     {nameFloor: 80},
		floorSpawn:    {nameFloor: 1.5},
	})
	r.Samples = append(r.Samples, sample{Operation: opFirst, Who: nameCLI, Seconds: 4, PeakBytes: 249_000_000})
	r.Stores = []storeInfo{{nameSpec, "end", treeSize{Files: 1000, Allocated: 5e6}}, {nameCLI, "end", treeSize{Files: 10, Allocated: 2_500_000}}}
	var text strings.Builder
	if err := r.table().write(&text); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantTable, strings.TrimSuffix(text.String(), "\n")); diff != "" {
		t.Errorf("the table differs (-want +got):\n%s", diff)
	}
}

// wantTable has all kinds of rows: without a contender, with a floor, with goals that
// are met, missed and unknown, in other units.
const wantTable = `| operation                      | spec ms | cairn ms | library ms | cairn/spec |   floor ms | cairn/floor | goal                       | met      |
|--------------------------------|--------:|---------:|-----------:|-----------:|-----------:|------------:|----------------------------|----------|
| first track                    |       - |     4000 |          - |          - |          - |           - | <= 0.25 spec               | -        |
| track, unchanged               |     200 |      100 |       90.2 |       0.50 |    80 walk |        1.25 | <= 0.55 spec; <= 1.3 floor | yes; yes |
| track, 1 file changed          |     220 |      105 |          - |       0.48 |    80 walk |        1.31 | <= unchanged + 5 ms        | no       |
| diff full, 100 files           |     400 |       20 |          - |      0.050 | 1.50 spawn |       13.33 | <= 0.15 spec               | yes      |
| restore, 100 files             |   20000 |     1001 |          - |      0.050 |    80 walk |       12.51 | <= 0.05 spec               | no       |
| peak memory of first track, MB |       - |      249 |          - |          - |            |             | < 250                      | yes      |
| store at the end, MB on disk   |       5 |     2.50 |          - |       0.50 |            |             |                            |          |
| store at the end, files        |    1000 |       10 |          - |      0.010 |            |             |                            |          |`

func TestGoals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, op string
		values   map[string]map[string]float64
		want     string
	}{
		{"first met", opFirst, map[string]map[string]float64{opFirst: {nameSpec: 100, nameCLI: 25}}, "yes"},
		{"first missed", opFirst, map[string]map[string]float64{opFirst: {nameSpec: 100, nameCLI: 25.1}}, "no"},
		{"one of two", opUnchanged, map[string]map[string]float64{opUnchanged: {nameSpec: 100, nameCLI: 54}, floorWalk: {nameFloor: 40}}, "yes; no"},
		{"no floor", opUnchanged, map[string]map[string]float64{opUnchanged: {nameSpec: 100, nameCLI: 56}}, "no; -"},
		{"one changed met", opOne, map[string]map[string]float64{opUnchanged: {nameCLI: 50}, opOne: {nameCLI: 54.9}}, "yes"},
		{"one changed missed", opOne, map[string]map[string]float64{opUnchanged: {nameCLI: 50}, opOne: {nameCLI: 55.1}}, "no"},
		{"one changed alone", opOne, map[string]map[string]float64{opOne: {nameCLI: 55.1}}, "-"},
		{"diff met", opDiffMany, map[string]map[string]float64{opDiffMany: {nameSpec: 100, nameCLI: 14}}, "yes"},
		{"restore missed", opRestoreMany, map[string]map[string]float64{opRestoreMany: {nameSpec: 100, nameCLI: 6}}, "no"},
		{"no goal", opMany, map[string]map[string]float64{opMany: {nameSpec: 100, nameCLI: 600}}, ""},
	} {
		if got := verdict(timeGoals(c.op), told(c.values))[1]; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	r := &report{Samples: []sample{{Operation: opFirst, Who: nameCLI, PeakBytes: 251e6}}}
	if got := verdict(memoryGoals(opFirst), r)[1]; got != "no" {
		t.Errorf("251 MB: %q", got)
	}
}

func TestMedianAndQuantile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list []float64
		want float64
	}{{[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 2, 3}, 2.5}, {[]float64{7}, 7}} {
		if got, ok := median(c.list); got != c.want || !ok {
			t.Errorf("median of %v: %v", c.list, got)
		}
	}
	if _, ok := median(nil); ok {
		t.Error("nothing has a median")
	}
	var hundred []float64
	for i := range 100 {
		hundred = append(hundred, float64(100-i))
	}
	if got, _ := quantile(hundred, 0.99); got != 99 {
		t.Errorf("p99 of 1 to 100: %v", got)
	}
	if got, _ := quantile([]float64{2, 5, 3}, 0.99); got != 5 {
		t.Errorf("p99 of three: %v", got)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{0: "0", 0.123: "0.12", 9.876: "9.88", 98.76: "98.8", 987.6: "988", 7: "7", 83033: "83033"} {
		if got := number(x, true); got != want {
			t.Errorf("%v is printed as %q, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]string{0.0084: "0.008", 0.25: "0.25", 12.345: "12.35"} {
		if got := ratio(x, true); got != want {
			t.Errorf("ratio %v is printed as %q, want %q", x, got, want)
		}
	}
	if number(1, false) != "-" || ratio(1, false) != "-" {
		t.Error("an unknown value is printed")
	}
}
