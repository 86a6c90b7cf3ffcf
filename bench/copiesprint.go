package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// copyRow is the table's row of one contender.
type copyRow struct {
	fileSystem, kind, who        string
	command, durable, least, cpu float64
}

// rows lists each contender after cairn, by file system and kind.
func (r *copiesReport) rows() (rows []copyRow) {
	for _, of := range imageKinds {
		for _, kind := range []string{copyTree, copyDeps} {
			for _, w := range copyWays[kind] {
				if row, ok := r.row(of.name, kind, w.who); ok {
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}

func (r *copiesReport) row(fileSystem, kind, who string) (row copyRow, ok bool) {
	var command, durable, cpu []float64
	for _, s := range r.Samples {
		if s.FileSystem == fileSystem && s.Kind == kind && s.Who == who {
			command, durable, cpu = append(command, s.Seconds), append(durable, s.Durable), append(cpu, s.CPUSeconds)
		}
	}
	if len(durable) == 0 {
		return row, false
	}
	row = copyRow{fileSystem: fileSystem, kind: kind, who: who, least: slices.Min(durable)}
	row.command, _ = system.Median(command)
	row.durable, _ = system.Median(durable)
	row.cpu, _ = system.Median(cpu)
	return row, true
}

// print writes a table in Markdown.
func (b *copiesBench) print(out io.Writer) error {
	r := &b.report
	var text strings.Builder
	fmt.Fprintf(&text, "%s; load average at the beginning %.1f\n\n", r.Machine, r.Machine.Load)
	fmt.Fprintf(&text, "A tree of %d files, %.1f GB, and node_modules of %d files, %.1f GB; %d rounds, seconds:\n\n",
		r.Files, float64(r.Bytes)/1e9, r.Ignored, float64(r.IgnoredSize)/1e9, r.Rounds)
	text.WriteString("| on | copy of | command | on the disk, median | least | to cairn | alone, median | to cairn | processor |\n")
	text.WriteString("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	var cairn copyRow
	first := true
	for _, row := range r.rows() {
		if row.who == whoCheckout {
			cairn = row
		}
		first = first && row.durable >= cairn.durable
		fmt.Fprintf(&text, "| %s | %s | `%s` | %.1f | %.1f | %.2f | %.1f | %.2f | %.1f |\n", row.fileSystem, row.kind, row.who,
			row.durable, row.least, row.durable/cairn.durable, row.command, row.command/cairn.command, row.cpu)
	}
	word := "met"
	if !first || cairn.who == "" {
		word = "missed"
	}
	fmt.Fprintf(&text, "\n%s: cairn is first in every row until the copy is on the disk\n", word)
	for _, note := range r.Notes {
		fmt.Fprintf(&text, "note: %s\n", note)
	}
	_, err := io.WriteString(out, text.String())
	return err
}
