package agents

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/hooks"
	"github.com/seed-fb9cbc17/cairn/internal/setup"
)

// TestR124_DoctorOnAgents: the lines and the findings about an agent.
func TestR124_DoctorOnAgents(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "hooks.json")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	ready := setup.Status{Agent: "codex", Title: "Codex", Found: true, File: file, SetUp: true, Complete: true, Program: []string{"/bin/cairn"}}
	with := func(f func(*setup.Status)) setup.Status { s := ready; f(&s); return s }
	for name, c := range map[string]struct {
		status setup.Status
		record hooks.Record
		line   string
		wrong  string
	}{
		"not there":   {status: setup.Status{Title: "Codex"}},
		"not set up":  {status: with(func(s *setup.Status) { s.SetUp = false }), line: "Codex: not set up (cairn setup codex)"},
		"never heard": {status: ready, line: "never heard of yet"},
		"heard":       {status: ready, record: hooks.Record{Event: now.Add(-3 * time.Hour)}, line: "last heard of 3 hours ago, no step captured yet"},
		"working":     {status: ready, record: hooks.Record{Event: now, Step: now.Add(-2 * time.Minute)}, line: "set up, last step captured 2 minutes ago"},
		"tools":       {status: with(func(s *setup.Status) { s.Tools = true }), line: "Codex: set up, for cairn's tools; nothing is recorded by itself"},
		"moved":       {status: with(func(s *setup.Status) { s.Unfit = "is not there" }), line: "set up", wrong: "/bin/cairn, which is not there"},
		"incomplete":  {status: with(func(s *setup.Status) { s.Complete = false }), line: "set up", wrong: "some of what cairn needs is missing"},
		"broken":      {status: with(func(s *setup.Status) { s.Err = fmt.Errorf("line 1") }), wrong: "line 1"},
		"unreviewed":  {status: with(func(s *setup.Status) { s.Unreviewed = []string{"Stop"} }), line: "set up", wrong: "does not run cairn's hooks"},
		"reviewed":    {status: with(func(s *setup.Status) { s.Unreviewed = []string{"Stop"} }), record: hooks.Record{Event: now.Add(time.Minute)}, line: "set up"},
		"off":         {status: with(func(s *setup.Status) { s.Off, s.OffFile = "features.hooks", file }), line: "set up", wrong: "Codex does not run cairn's hooks, because of features.hooks in "},
		"off, not so": {status: with(func(s *setup.Status) { s.Off, s.OffFile = "features.hooks", file }), record: hooks.Record{Event: now.Add(time.Minute)}, line: "set up"},
		"missed":      {status: ready, record: hooks.Record{Event: now, Step: now, Missed: 2, Failed: now, Failure: "no luck"}, line: "set up", wrong: "2 steps could not be captured since the last one that was, the latest just now: no luck"},
	} {
		var check Report
		check.add(c.status, c.record, now, "")
		if got := strings.Join(check.Lines, "\n"); !strings.Contains(got, c.line) || c.line == "" && got != "" {
			t.Errorf("%s: says %q", name, got)
		}
		var wrong string
		for _, f := range check.Findings {
			wrong += f.Text
			if f.Kind != "agent" || f.Repair == "" {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if !strings.Contains(wrong, c.wrong) || c.wrong == "" && wrong != "" {
			t.Errorf("%s: wrong is %q", name, wrong)
		}
	}
}

// TestProjectSettings: settings of a project that keep hooks from running are found where cairn is set up for the user,
// and broken ones where they name cairn.
func TestProjectSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ user, file, text, want string }{
		{"claude-code", ".claude/settings.json", `{"disableAllHooks": true}`, "Claude Code does not run cairn's hooks, because of disableAllHooks in "},
		{"", ".claude/settings.json", `{"disableAllHooks": true}`, ""},
		{"", ".claude/settings.local.json", `{"hooks": {"Stop": [{"hooks": [{"command": "/bin/cairn hook claude-code"`, "settings.local.json: unexpected form"},
		{"", ".claude/settings.local.json", `{"mine": `, ""},
	} {
		home, project := t.TempDir(), t.TempDir()
		user := setup.Places{Dirs: map[string]string{"claude-code": filepath.Join(home, ".claude")}}
		program := filepath.Join(home, "cairn.exe")
		if err := os.WriteFile(program, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		if c.user != "" {
			plan, err := setup.New(c.user, setup.Options{Places: user, Program: []string{program}})
			if err != nil {
				t.Fatal(err)
			}
			if err := plan.Apply(); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(project, filepath.FromSlash(c.file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(c.text), 0o600)); err != nil {
			t.Fatal(err)
		}
		report, err := Check(Sources{HooksDir: t.TempDir(), User: user, Project: project, Now: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		var wrong string
		for _, f := range report.Findings {
			wrong += f.Text
		}
		if !strings.Contains(wrong, c.want) || c.want == "" && wrong != "" {
			t.Errorf("%s in %s: wrong is %q", c.text, c.file, wrong)
		}
	}
}
