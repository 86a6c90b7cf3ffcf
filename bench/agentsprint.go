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
	return spreadOfCalls{len(samples), at(walls, 0), at(walls, 0.5), at(walls, 0.95), at(processors, 0.5)}
}

func (r *agentsReport) row(agent string, m moment, w string) spreadOfCalls {
	for _, row := range r.Rows {
		if row.Agent == agent && row.Moment == m && row.Way == w {
			return row.spreadOfCalls
		}
	}
	return spreadOfCalls{}
}

// print writes a page of Markdown.
func (r *agentsReport) print(out io.Writer) {
	fmt.Fprintf(out, "# What an agent waits for\n\n%s\n\n%d files, %s of every agent, each way. Milliseconds: shortest / p50 / p95, and in brackets the"+
		" processor time of the call, p50.\n\n", r.Machine, r.Files, counted(r.Rounds, "session"))
	fmt.Fprint(out, "| agent | moment | without a server | with one |\n| --- | --- | ---: | ---: |\n")
	line := func(who string, what moment, alone, served spreadOfCalls) {
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", who, what, alone.cell(), served.cell())
	}
	line("cairn", "unchanged track", r.Track[0].spreadOfCalls, r.Track[1].spreadOfCalls)
	line("for comparison", "a bare walk that looks at every file", r.Walk, spreadOfCalls{})
	line("for comparison", "`cairn version`", r.Start, spreadOfCalls{})
	for _, agent := range agentKinds {
		for _, m := range moments {
			if alone := r.row(agent.name, m, "alone"); alone.Count > 0 {
				line(agent.name, m, alone, r.row(agent.name, m, "served"))
			}
		}
	}
	fmt.Fprintf(out, "\nThe server uses %.1f ms of a processor for a call. Load average after the run: %.1f\n\n## Goals\n\n", r.ServerCPU, r.Load1)
	for _, goal := range r.goals() {
		fmt.Fprintln(out, "    "+goal)
	}
}

func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

func (s spreadOfCalls) cell() string {
	if s.Count == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f / %.1f / %.1f (%.1f)", s.Min, s.P50, s.P95, s.Processor)
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
			if r.row(agent.name, m, "alone").Count == 0 {
				continue
			}
			line(agent.name, string(m)+", without a server", r.row(agent.name, m, "alone").P50, goalAlone, " ms")
			line(agent.name, string(m)+", with one", r.row(agent.name, m, "served").P50, goalServed, " ms")
		}
		if track := r.Track[0].P50; track > 0 {
			line(agent.name, "first tool / unchanged track", r.row(agent.name, momentFirst, "alone").P50/track, goalFirst, " x")
		}
	}
	return lines
}
