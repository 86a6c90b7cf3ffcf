package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// fleetPoint is the median of the samples of one operation on a remote of one form: beside a fleet, and beside none in
// turns with that.
type fleetPoint struct {
	operation, form string
	refs            int
	seconds, cpu    float64
	alone           float64 // processor time beside none
}

func (b *fleetBench) points() (list []fleetPoint) {
	seconds, cpu, alone := make(map[fleetPoint][]float64), make(map[fleetPoint][]float64), make(map[fleetPoint][]float64)
	for _, s := range b.samples {
		key := fleetPoint{operation: s.Operation, form: s.Form, refs: s.Fleet}
		if s.Refs == 0 {
			alone[key] = append(alone[key], s.CPUSeconds)
			continue
		}
		seconds[key], cpu[key] = append(seconds[key], s.Seconds), append(cpu[key], s.CPUSeconds)
	}
	for key := range cpu {
		p := key
		p.seconds, p.cpu, p.alone = middle(seconds[key]), middle(cpu[key]), middle(alone[key])
		list = append(list, p)
	}
	slices.SortFunc(list, func(x, y fleetPoint) int {
		return cmp.Or(strings.Compare(x.operation, y.operation), strings.Compare(x.form, y.form), cmp.Compare(x.refs, y.refs))
	})
	return list
}

func middle(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// print prints the curve, and for each form what a ref beside costs.
func (b *fleetBench) print(out io.Writer) {
	fmt.Fprintln(out, "| operation | remote | refs beside | ms | CPU ms | beside none, CPU ms | ratio |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |")
	points := b.points()
	for _, p := range points {
		fmt.Fprintf(out, "| %s | %s | %d | %.0f | %.0f | %.0f | %.2f |\n", p.operation, p.form, p.refs, 1e3*p.seconds, 1e3*p.cpu, 1e3*p.alone, p.cpu/p.alone)
	}
	for _, text := range b.notes {
		fmt.Fprintf(out, "\n%s\n", text)
	}
	fmt.Fprintln(out, "\n| operation | remote | CPU µs a ref beside | twice an empty remote at |\n| --- | --- | ---: | ---: |")
	for _, p := range points {
		if perRef := (p.cpu - p.alone) / float64(p.refs); p.refs == b.opt.fleet && perRef > 0 {
			fmt.Fprintf(out, "| %s | %s | %.2f | %.0f |\n", p.operation, p.form, 1e6*perRef, p.alone/perRef)
		}
	}
}

// write writes the samples as JSON.
func (b *fleetBench) write(out io.Writer) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", " ")
	return enc.Encode(struct {
		Version int            `json:"version"`
		Time    time.Time      `json:"time"`
		Machine system.Machine `json:"machine"`
		Notes   []string       `json:"notes,omitempty"`
		Samples []fleetSample  `json:"samples"`
	}{1, time.Now().UTC(), system.DescribeMachine(b.dir, b.git), b.notes, b.samples})
}
