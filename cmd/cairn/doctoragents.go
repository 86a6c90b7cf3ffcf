package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/hooks"
	"github.com/seed-fb9cbc17/cairn/internal/setup"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// agentCheck is what doctor knows about the agents that are there: one line for each,
// and what is wrong.
type agentCheck struct {
	log   string
	lines []string
	found []cairn.Finding
}

// checkConnections is the part of doctor about agents. Healthy connections are remarks
// on stderr.
func (c *cli) checkConnections(context.Context, doctorFlags) ([]cairn.Finding, error) {
	check, err := c.checkAgents()
	if err != nil {
		return nil, err
	}
	for _, line := range check.lines {
		c.console.remark("%s", line)
	}
	return check.found, nil
}

// checkAgents finds out whether the agents are set up and trusted, and whether their
// hooks have been called. An agent that is not set up is no fault.
func (c *cli) checkAgents() (*agentCheck, error) {
	dir, err := c.hooksDir()
	if err != nil {
		return nil, err
	}
	list, err := hooks.Records(dir)
	if err != nil {
		return nil, err
	}
	records := make(map[string]hooks.Record)
	for _, r := range list {
		records[r.Agent] = r
	}
	check := &agentCheck{log: hooks.LogPath(dir)}
	for _, s := range setup.Look(c.agentPlaces()) {
		check.add(s, records[s.Agent], c.console.now(), "")
	}
	if root, err := c.projectDir(); err == nil {
		places := c.agentPlaces()
		places.Project = root
		for _, s := range setup.Look(places) {
			if s.SetUp {
				check.add(s, records[s.Agent], c.console.now(), " in this project")
			}
		}
	}
	return check, nil
}

func (a *agentCheck) add(s setup.Status, r hooks.Record, now time.Time, where string) {
	again := "cairn setup " + s.Agent
	if where != "" {
		again += " --project"
	}
	switch {
	case !s.Found:
		return
	case s.Err != nil:
		a.wrong(s.File, fmt.Sprintf("%s: %v", placeText(s.File), s.Err), "mend the file by hand; "+s.Title+" may not be able to read it either")
		return
	case !s.SetUp:
		a.lines = append(a.lines, fmt.Sprintf("%s: not set up (%s)", s.Title, again))
		return
	}
	a.lines = append(a.lines, s.Title+": set up"+where+", "+heard(r, now))
	switch {
	case s.Gone:
		a.wrong(s.File, fmt.Sprintf("%s is told to run %s, which is not there", s.Title, placeText(s.Program[0])), again)
	case !s.Complete:
		a.wrong(s.File, fmt.Sprintf("some of what cairn needs is missing in %s", placeText(s.File)), again)
	case len(s.Unreviewed) > 0 && !heardSince(r, s.File):
		a.wrong(s.File, fmt.Sprintf("as far as its configuration tells, %s does not run cairn's hooks, because you have not reviewed them: %s; its terminal asks at the next start, codex exec skips them without a word", s.Title, strings.Join(s.Unreviewed, ", ")),
			"start codex and trust the entries that run cairn when it asks, or type /hooks")
	}
	if r.Missed > 0 {
		a.wrong("", fmt.Sprintf("%s: %s could not be captured since the last one that was, the latest %s: %s", s.Title, wording.Count(r.Missed, "step"), ageText(now.Sub(r.Failed)), r.Failure),
			"what was changed in them cannot be undone; "+placeText(a.log)+" has the details")
	}
}

func (a *agentCheck) wrong(path, text, repair string) {
	a.found = append(a.found, cairn.Finding{Kind: "agent", Path: cairn.Path(path), Text: text, Repair: repair})
}

// heard tells when an agent's hooks were last called, and what came of it.
func heard(r hooks.Record, now time.Time) string {
	switch {
	case r.Event.IsZero():
		return "never heard of yet: has it been restarted?"
	case r.Step.IsZero():
		return "last heard of " + ageText(now.Sub(r.Event)) + ", no step captured yet"
	}
	return "last step captured " + ageText(now.Sub(r.Step))
}

// heardSince reports whether hooks were called after the file with them was written,
// which proves that they are trusted.
func heardSince(r hooks.Record, file string) bool {
	info, err := os.Stat(file)
	return err == nil && !r.Event.Before(info.ModTime().Truncate(time.Second)) && !r.Event.IsZero()
}
