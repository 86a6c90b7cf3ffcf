package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// spreadOf summarises samples.
func spreadOf(samples []agentSample) spreadOfCalls {
	if len(samples) == 0 {
		return spreadOfCalls{}
	}
	var walls, processors []time.Duration
	for _, s := range samples {
		walls, processors = append(walls, s.wall), append(processors, s.processor)
	}
	at := func(times []time.Duration, q float64) float64 {
		slices.Sort(times)
		return inMilliseconds(times[int(q*float64(len(times)-1)+0.5)])
	}
	return spreadOfCalls{len(samples), at(walls, 0.5), at(walls, 0.95), at(processors, 0.5)}
}

func (r *agentsReport) row(agent string, m moment, w string) spreadOfCalls {
	for _, row := range r.Rows {
		if row.Agent == agent && row.Moment == m && row.Way == w {
			return row.spreadOfCalls
		}
	}
	return spreadOfCalls{}
}

func (r *agentsReport) print(out io.Writer) {
	fmt.Fprintf(out, "%s\n\nWhat an agent waits for, %d files, %d sessions each, milliseconds:"+
		" p50 / p95 (processor time, p50)\n\n", r.Machine, r.Files, r.Rounds)
	fmt.Fprintf(out, "%-12s %-12s %28s %28s\n", "", "", "without a server", "with one")
	cell := func(s spreadOfCalls) string { return fmt.Sprintf("%.1f / %.1f (%.1f)", s.P50, s.P95, s.Processor) }
	fmt.Fprintf(out, "%-12s %-12s %28s %28s\n", "cairn", "track", cell(r.Track[0].spreadOfCalls), cell(r.Track[1].spreadOfCalls))
	fmt.Fprintf(out, "%-12s %-12s %28s\n%-12s %-12s %28s %28s\n", "floor", "bare walk", cell(r.Walk), "floor", "version", cell(r.Start), cell(r.Start))
	for _, agent := range agentKinds {
		for _, m := range moments {
			fmt.Fprintf(out, "%-12s %-12s %28s %28s\n", agent.name, m, cell(r.row(agent.name, m, "alone")), cell(r.row(agent.name, m, "served")))
		}
	}
	fmt.Fprintf(out, "\nThe server uses %.1f ms of a processor for a call. Load average after the run: %.1f\n\nGoals\n", r.ServerCPU, r.Load1)
	for _, goal := range r.goals() {
		fmt.Fprintln(out, goal)
	}
}

// goals compares each agent's tool calls with the goals.
func (r *agentsReport) goals() (lines []string) {
	line := func(agent, what string, is, goal float64, unit string) {
		word := "met"
		if is > goal {
			word = "missed"
		}
		lines = append(lines, fmt.Sprintf("%-7s %-12s %-34s %6.1f%s of at most %.1f%s", word, agent, what, is, unit, goal, unit))
	}
	for _, agent := range agentKinds {
		for _, m := range []moment{momentBefore, momentAfter} {
			line(agent.name, string(m)+", without a server", r.row(agent.name, m, "alone").P50, goalAlone, " ms")
			line(agent.name, string(m)+", with one", r.row(agent.name, m, "served").P50, goalServed, " ms")
		}
		if track := r.Track[0].P50; track > 0 {
			line(agent.name, "first tool / unchanged track", r.row(agent.name, momentFirst, "alone").P50/track, goalFirst, " x")
		}
	}
	return lines
}
