// Package agents tells how the coding agents of this machine fare with cairn: whether they are
// set up and their hooks run, and which steps they left open.
package agents

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/hooks"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/setup"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Report is what a check of the agents has found out.
type Report struct {
	Lines    []string // one for each agent that is there, healthy or not
	Findings []cairn.Fault

	log string
}

// Sources are the places of a check, and its time.
type Sources struct {
	HooksDir string       // log and records of the hooks
	User     setup.Places // settings of the user
	Project  string       // root whose own settings are checked, too; "" for none
	Now      time.Time
}

// Check finds out whether the agents are set up and trusted, and whether their hooks have
// been called. An agent that is not set up is no fault.
func Check(from Sources) (*Report, error) {
	list, err := hooks.Records(from.HooksDir)
	if err != nil {
		return nil, err
	}
	records := make(map[string]hooks.Record)
	for _, r := range list {
		records[r.Agent] = r
	}
	report := &Report{log: hooks.LogPath(from.HooksDir)}
	connected := make(map[string]bool)
	for _, s := range setup.Statuses(from.User) {
		connected[s.Agent] = s.SetUp
		report.add(s, records[s.Agent], from.Now, "")
	}
	if from.Project == "" {
		return report, nil
	}
	places := from.User
	places.Project = from.Project
	for _, s := range setup.Statuses(places) {
		switch {
		case s.SetUp, s.Err != nil && s.Named:
			where := " in this project"
			if connected[s.Agent] && s.SetUp && !s.Tools {
				where += ", too (its hooks may run twice for each event: one of the two is enough)"
			}
			report.add(s, records[s.Agent], from.Now, where)
		case connected[s.Agent]:
			report.switchedOff(s, records[s.Agent])
		}
	}
	return report, nil
}

func (a *Report) add(s setup.Status, r hooks.Record, now time.Time, where string) {
	again := "cairn setup " + s.Agent
	if where != "" {
		again += " --project"
	}
	switch {
	case !s.Found:
		return
	case s.Err != nil:
		a.wrong(s.File, fmt.Sprintf("%s: %v", pathtext.Place(s.File), s.Err), "mend the file by hand; "+s.Title+" may not be able to read it either")
		return
	case !s.SetUp:
		a.Lines = append(a.Lines, fmt.Sprintf("%s: not set up (%s)", s.Title, again))
		return
	}
	known := heard(r, now)
	if s.Tools {
		known = "for cairn's tools; nothing is recorded by itself"
	}
	a.Lines = append(a.Lines, s.Title+": set up"+where+", "+known)
	switch {
	case s.Unfit != "":
		a.wrong(s.File, fmt.Sprintf("%s is told to run %s, which %s", s.Title, pathtext.Place(s.Program[0]), s.Unfit), again)
	case !s.Complete:
		a.wrong(s.File, fmt.Sprintf("some of what cairn needs is missing in %s", pathtext.Place(s.File)), again)
	case len(s.Unreviewed) > 0 && !heardSince(r, s.File):
		a.wrong(s.File, fmt.Sprintf("as far as its configuration tells, %s does not run cairn's hooks, because you have not reviewed them, or have switched them off: %s; its terminal asks at the next start, codex exec skips them without a word", s.Title, strings.Join(s.Unreviewed, ", ")),
			"start codex and trust the entries that run cairn when it asks, or type /hooks")
	}
	a.switchedOff(s, r)
	if r.Missed > 0 {
		a.wrong("", fmt.Sprintf("%s: %s could not be captured since the last one that was, the latest %s: %s", s.Title, wording.Count(r.Missed, "step"), wording.Ago(now.Sub(r.Failed)), r.Failure),
			"what was changed in them cannot be undone; "+pathtext.Place(a.log)+" has the details")
	}
}

// switchedOff tells of a setting by which an agent runs no hooks. Hooks that were called since it was written prove the
// opposite: another file has the last word.
func (a *Report) switchedOff(s setup.Status, r hooks.Record) {
	if s.Off != "" && !heardSince(r, s.OffFile) {
		a.wrong(s.OffFile, fmt.Sprintf("%s does not run cairn's hooks, because of %s in %s", s.Title, s.Off, pathtext.Place(s.OffFile)), "take it out there, and restart "+s.Title)
	}
}

func (a *Report) wrong(path, text, repair string) {
	a.Findings = append(a.Findings, cairn.Fault{Kind: "agent", Path: cairn.Path(path), Text: text, Repair: repair})
}

// heard tells when an agent's hooks were last called, and when they last captured a step.
func heard(r hooks.Record, now time.Time) string {
	switch {
	case r.Event.IsZero():
		return "never heard of yet: has it been restarted?"
	case r.Step.IsZero():
		return "last heard of " + wording.Ago(now.Sub(r.Event)) + ", no step captured yet"
	}
	return "last step captured " + wording.Ago(now.Sub(r.Step))
}

// heardSince reports whether hooks were called after the file with them was written,
// which proves that they are trusted.
func heardSince(r hooks.Record, file string) bool {
	info, err := os.Stat(file)
	return err == nil && !r.Event.Before(info.ModTime().Truncate(time.Second)) && !r.Event.IsZero()
}
