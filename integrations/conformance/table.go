package conformance

import (
	"fmt"
	"strings"
)

// Table writes reports as a table in Markdown: a row for each scenario, a column for each driver.
func Table(list []Scenario, reports []Report) string {
	var b strings.Builder
	b.WriteString("| work |")
	for _, r := range reports {
		b.WriteString(" " + r.Driver + " |")
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(reports)+1) + "\n")
	for _, s := range list {
		fmt.Fprintf(&b, "| `%s`: %s |", s.Name, s.About)
		for i := range reports {
			b.WriteString(" " + mark(reports[i].result(s.Name)) + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("| **kept of those played** |")
	for i := range reports {
		kept, played := reports[i].count()
		fmt.Fprintf(&b, " %d of %d |", kept, played)
	}
	b.WriteString("\n")
	for _, r := range reports {
		fmt.Fprintf(&b, "\n## %s\n\n", r.Driver)
		if r.About != "" {
			b.WriteString(r.About + "\n\n")
		}
		if n := len(r.Results); n < len(list) {
			fmt.Fprintf(&b, "The run ended early: %d of %d scenarios have a result.\n\n", n, len(list))
		}
		for _, res := range r.Results {
			if res.Outcome != Keeps {
				fmt.Fprintf(&b, "- `%s`: %s: %s\n", res.Scenario, res.Outcome, strings.ReplaceAll(res.Detail, "\n", " "))
			}
		}
	}
	return b.String()
}

func mark(r Result) string {
	switch r.Outcome {
	case Keeps:
		if r.Detail != "" {
			return "kept; " + r.Detail
		}
		return "kept"
	case Loses:
		return "**lost**"
	case Error:
		return "error"
	}
	return "–"
}

func (r *Report) result(scenario string) Result {
	for _, res := range r.Results {
		if res.Scenario == scenario {
			return res
		}
	}
	return Result{Scenario: scenario, Outcome: Unsupported}
}

func (r *Report) count() (kept, played int) {
	for _, res := range r.Results {
		switch res.Outcome {
		case Keeps:
			kept++
			played++
		case Loses, Error:
			played++
		}
	}
	return kept, played
}
