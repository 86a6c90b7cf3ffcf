package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// told is a report with one value per operation and contender, in milliseconds.
func told(values map[string]map[string]float64) *Report {
	r := &Report{Rounds: 1, Machine: system.Machine{Processors: 1}, Edited: names.ManyFiles}
	for op, byWho := range values {
		for who, ms := range byWho {
			r.Samples = append(r.Samples, Sample{Operation: op, Who: who, Seconds: ms / 1e3})
		}
	}
	return r
}

func TestTable(t *testing.T) {
	t.Parallel()
	r := told(map[string]map[string]float64{
		names.OpUnchanged:   {names.Spec: 200, names.CLI: 100, names.Library: 90.25},
		names.OpOne:         {names.Spec: 220, names.CLI: 105.1},
		names.OpDiffMany:    {names.Spec: 400, names.CLI: 20},
		names.OpRestoreMany: {names.Spec: 20000, names.CLI: 1001},
		names.FloorWalk:     {names.Floor: 80},
		names.FloorSpawn:    {names.Floor: 1.5},
	})
	r.Samples = append(r.Samples, Sample{Operation: names.OpFirst, Who: names.CLI, Seconds: 4, PeakBytes: 249_000_000})
	r.Stores = []StoreInfo{{names.Spec, "end", trees.TreeSize{Files: 1000, Allocated: 5e6}}, {names.CLI, "end", trees.TreeSize{Files: 10, Allocated: 2_500_000}}}
	var text strings.Builder
	if err := r.table().Write(&text); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantTable, strings.TrimSuffix(text.String(), "\n")); diff != "" {
		t.Errorf("the table differs (-want +got):\n%s", diff)
	}
}

// wantTable has all kinds of rows: without a contender, with a floor, in other units.
const wantTable = `| operation                      | spec ms | cairn ms | library ms | cairn/spec |   floor ms | cairn/floor |
|--------------------------------|--------:|---------:|-----------:|-----------:|-----------:|------------:|
| first track                    |       - |     4000 |          - |          - |          - |           - |
| track, unchanged               |     200 |      100 |       90.2 |       0.50 |    80 walk |        1.25 |
| track, 1 file changed          |     220 |      105 |          - |       0.48 |    80 walk |        1.31 |
| diff full, 100 files           |     400 |       20 |          - |      0.050 | 1.50 spawn |       13.33 |
| restore, 100 files             |   20000 |     1001 |          - |      0.050 |    80 walk |       12.51 |
| peak memory of first track, MB |       - |      249 |          - |          - |            |             |
| store at the end, MB on disk   |       5 |     2.50 |          - |       0.50 |            |             |
| store at the end, files        |    1000 |       10 |          - |      0.010 |            |             |`

func TestGoals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title  string
		values map[string]map[string]float64
		want   string // measured, limit, met
	}{
		{"first track, cairn / spec", map[string]map[string]float64{names.OpFirst: {names.Spec: 100, names.CLI: 25}}, "0.25 <= 0.25 yes"},
		{"first track, cairn / spec", map[string]map[string]float64{names.OpFirst: {names.Spec: 100, names.Library: 26}}, "0.26 <= 0.25 no"},
		{"first track, borrowed, cairn / spec without", map[string]map[string]float64{names.OpFirst: {names.Spec: 1000, names.Library: 200}, names.OpFirstBorrowed: {names.CLI: 20}}, "0.020 <= 0.030 yes"},
		{"track, unchanged, cairn / spec", map[string]map[string]float64{names.OpUnchanged: {names.Spec: 100, names.CLI: 56}}, "0.56 <= 0.55 no"},
		{"track, unchanged, cairn / walk", map[string]map[string]float64{names.OpUnchanged: {names.CLI: 46}, names.FloorWalk: {names.Floor: 40}}, "1.15 <= 1.15 yes"},
		{"track, unchanged, by 2 processors instead of 1", map[string]map[string]float64{names.OpOneProcessor: {names.Library: 160}, names.OpTwoProcessors: {names.Library: 100}}, "1.60 >= 1.70 no"},
		{"track, 1 changed, cairn, above unchanged", map[string]map[string]float64{names.OpAboveOne: {names.CLI: 0.5}}, "0.50 ms <= 0.51 ms yes"},
		{"track, 1 changed, library, above unchanged", map[string]map[string]float64{names.OpAboveOne: {names.Library: -1.5}}, "-1.50 ms <= 0.51 ms yes"},
		{"track, 100 changed, library, above unchanged", map[string]map[string]float64{names.OpAboveMany: {names.Library: 2.5}}, "2.50 ms <= 1.50 ms no"},
		{"restore, 100 files, cairn / spec", map[string]map[string]float64{names.OpRestoreMany: {names.Spec: 100, names.CLI: 6}}, "0.060 <= 0.010 no"},
		{"track after it, cairn / track, unchanged", map[string]map[string]float64{names.OpAfterRestore: {names.CLI: 11}, names.OpUnchanged: {names.CLI: 10}}, "1.10 <= 1.15 yes"},
		{"watching, 1 changed, p50", map[string]map[string]float64{names.OpOne: {names.Watching: 0.8}}, "0.80 ms <= 1 ms yes"},
		{"watching, set-up: opening and one track", map[string]map[string]float64{names.OpOpen: {names.Watching: 101, names.Library: 100}}, "101 ms <= 100 ms no"},
	} {
		r := told(c.values)
		r.Corpus.CapturedDirs = 10
		var got string
		for _, row := range r.goalTable() {
			if row[0] == c.title {
				got = strings.Join(row[1:], " ")
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.title, got, c.want)
		}
	}
	if rows := told(nil).goalTable(); len(rows) != 1 {
		t.Errorf("goals of nothing: %v", rows[1:])
	}
}

// Goals of memory are of what one process holds, in units of their own.
func TestMemoryGoals(t *testing.T) {
	t.Parallel()
	r := &Report{Samples: []Sample{{Operation: names.OpDiffLarge, Who: names.CLI, PeakBytes: 101e6}}, Corpus: corpusInfo{Captured: 1000}}
	r.Memory = []MemoryInfo{{names.Watching, names.MemoryStarted, 1e6, 10e6}, {names.Watching, names.MemoryWatching, 1.25e6, 12e6}}
	rows := r.goalTable()
	want := Table{rows[0], {"watching, memory of a file", "250 bytes", "<= 300 bytes", "yes"}, {"diff full, 1,000 files, memory of cairn", "101 MB", "<= 100 MB", "no"}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	r.Memory[0].HeapBytes, r.Memory[1].ResidentBytes, r.Corpus.Captured = 0, 20e6, manyToHold
	if got, _ := memoryPerFile(r); got != 200 {
		t.Errorf("of all of a large tree: %v bytes", got)
	}
}

// Figures that are timed in a row count one by one.
func TestInRow(t *testing.T) {
	t.Parallel()
	r := &Report{Samples: []Sample{{Operation: names.OpOne, Who: names.Watching, Seconds: 0.002, InRow: []float64{0.001, 0.002, 0.009}}}}
	if got, _ := r.Seconds(names.OpOne, names.Watching); got != 0.002 {
		t.Errorf("median %v", got)
	}
	if got, _ := watched(names.OpOne, 0.99)(r); got != 9 {
		t.Errorf("p99 %v ms", got)
	}
}

// The JSON form has a line for each measurement and reads back as it was.
func TestWriteJSON(t *testing.T) {
	t.Parallel()
	r := told(map[string]map[string]float64{names.OpOne: {names.CLI: 1}})
	r.Samples = append(r.Samples, Sample{Operation: "a \"quoted\" {name}, \\", InRow: []float64{1, 2.5}})
	var text strings.Builder
	if err := r.writeJSON(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n    {\"operation\": \"track-1-changed\", \"who\": \"cairn\", \"round\": 0, \"seconds\": 0.001},\n",
		"\"inRow\": [1, 2.5]}\n  ],\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
	var again Report
	if err := json.Unmarshal([]byte(text.String()), &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Samples, again.Samples); diff != "" {
		t.Error(diff)
	}
}

func TestMedianAndQuantile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list []float64
		want float64
	}{{[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 2, 3}, 2.5}, {[]float64{7}, 7}} {
		if got, ok := system.Median(c.list); got != c.want || !ok {
			t.Errorf("median of %v: %v", c.list, got)
		}
	}
	if _, ok := system.Median(nil); ok {
		t.Error("nothing has a median")
	}
	var hundred []float64
	for i := range 100 {
		hundred = append(hundred, float64(100-i))
	}
	if got, _ := system.Quantile(hundred, 0.99); got != 99 {
		t.Errorf("p99 of 1 to 100: %v", got)
	}
	if got, _ := system.Quantile([]float64{2, 5, 3}, 0.99); got != 5 {
		t.Errorf("p99 of three: %v", got)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{0: "0", 0.123: "0.12", 0.0123: "0.012", 0.00013: "0.00013", 9.876: "9.88", 98.76: "98.8", 987.6: "988", 7: "7", 83033: "83033"} {
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
