package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/session"
)

// undoSeat is a seat in which undo and redo are called, perhaps inside an agent, perhaps on a
// terminal.
type undoSeat struct {
	*seat
	inside bool // an agent that lives is above the caller
	asks   bool
	typed  string // the answer to a question
	files  int    // turns that began
	back   int    // restores
}

// agent is the process of the agents that live. It is this one.
func (s *undoSeat) agent() session.Process {
	self, ok := session.ProcessOf(os.Getpid())
	if !ok {
		s.Skip("this system does not tell which process this is")
	}
	return self
}

// owner is the owner of a session's step. Sessions with a capital letter have an agent that lives,
// the others one that cannot be seen.
func (s *undoSeat) owner(verb, id string) *session.Owner {
	agent := s.agent()
	switch {
	case verb == "died":
		agent.Start += "-dead" // the number was given to another process
	case strings.ToUpper(id) != id:
		return &session.Owner{}
	}
	return &session.Owner{Processes: []session.Process{agent}}
}

// call runs undo or redo.
func (s *undoSeat) call(args ...string) (stdout, stderr string, status int) {
	s.Helper()
	var out, errs bytes.Buffer
	c := newProgram(strings.NewReader(s.typed), &out, &errs, func(name string) string { return s.variables[name] }, s.project)
	c.CanAsk = s.asks
	c.Ancestors = func() []process.Relative {
		if !s.inside {
			return nil
		}
		return []process.Relative{{ID: process.ID(s.agent())}}
	}
	status = c.Run(s.Context(), args)
	return out.String(), errs.String(), status
}

// in calls f with the sessions of the project.
func (s *undoSeat) in(f func(*session.Sessions)) {
	s.Helper()
	c := newProgram(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, func(name string) string { return s.variables[name] }, s.project)
	c.Running = "session begin"
	if err := c.WithRepo(func(repo *cairn.Repo) error { f(session.New(repo)); return nil }); err != nil {
		s.Fatal(err)
	}
}

// do carries out what happens before the call: "turn S", "idle S" (a turn without a change),
// "open S" (a turn that is running), "begun S" (one that has changed nothing yet), "died S" (one whose
// agent is gone), "sub S" (the work of a sub-agent), "restore", "undo", "redo" and other commands.
func (s *undoSeat) do(event string) {
	s.Helper()
	verb, id, _ := strings.Cut(event, " ")
	switch verb {
	case "turn", "idle", "open", "begun", "died":
		s.in(func(all *session.Sessions) { s.step(all, verb, id) })
	case "sub":
		s.in(func(all *session.Sessions) {
			if _, err := all.Begin(s.Context(), session.SessionBegin{ID: id + "/child", Parent: id}); err != nil {
				s.Fatal(err)
			}
			s.step(all, "turn", id+"/child")
		})
	case "restore":
		hash := strings.TrimSpace(s.must("track"))
		s.back++
		s.write("new", strings.Repeat("x", s.back))
		s.must("restore", hash)
	default:
		if _, errs, status := s.call(strings.Fields(event)...); status != cli.ExitDone {
			s.Fatalf("%s: %s", event, errs)
		}
	}
}

func (s *undoSeat) step(all *session.Sessions, verb, id string) {
	s.Helper()
	s.files++
	number := strings.Repeat("i", s.files)
	_, err := all.BeginStep(s.Context(), session.StepBegin{
		Session: id, Message: "m" + number, Step: "s" + number, Role: session.RoleUser, Prompt: verb + " " + number,
		Owner: s.owner(verb, id),
	})
	if err != nil {
		s.Fatal(err)
	}
	if verb != "idle" && verb != "begun" {
		s.write("f-"+number, number)
	}
	if verb == "open" || verb == "begun" || verb == "died" {
		return
	}
	if _, err := all.EndStep(s.Context(), session.StepEnd{Session: id}); err != nil {
		s.Fatal(err)
	}
}

// TestOneUndo is the table of what undo and redo take, event by event. The nth event that begins a
// turn has n letters i in its prompt. Sessions with a capital letter have an agent that lives.
func TestOneUndo(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	const nothing = "nothing to "
	for _, c := range []struct {
		name   string
		events string // separated by commas
		call   string // "undo" unless given
		inside bool
		want   string // "turn PROMPT", "operation KIND", or part of the error
		also   string // what the line about a second choice names, "" for no line
	}{
		{name: "no session, no operation", want: nothing + "undo"},
		{name: "no session", events: "restore", want: "operation restore"},
		{name: "one session", events: "turn a", want: "turn turn i"},
		{name: "a turn without a change is passed over", events: "turn a,idle a", want: "turn turn i"},
		{name: "an open step is not passed over", events: "turn A,open A", want: "session is busy"},
		{name: "an open step is ended on demand", events: "turn A,open A", call: "undo --end-open", want: "turn open ii"},
		{name: "an open step without a change is passed over then", events: "turn A,begun A", call: "undo --end-open", want: "turn turn i"},
		{name: "an open step without a change", events: "turn A,begun A", want: "session is busy"},
		{name: "an agent that died in the middle", events: "turn a,died a", want: "turn turn i"},
		{name: "turn newer than the operation", events: "restore,turn a", want: "turn turn i"},
		{name: "operation newer than the turn", events: "turn a,restore", want: "operation restore", also: `--session a names another one: the turn "turn i"`},
		{name: "operation newer, and nothing to take of the turn", events: "idle a,restore", want: "operation restore"},
		{name: "the turn on demand", events: "turn a,restore", call: "undo --turn", want: "turn turn i"},
		{name: "the session on demand", events: "turn a,turn b", call: "undo --session a", want: "turn turn i"},
		{name: "the operation on demand", events: "restore,turn a", call: "undo --operation", want: "operation restore"},
		{name: "no operation on demand", events: "turn a", call: "undo --operation", want: nothing + "undo"},
		{name: "no turn on demand", events: "restore", call: "undo --turn", want: nothing + "undo"},

		{name: "two sessions, both gone", events: "turn a,turn b", want: "turn turn ii"},
		{name: "two sessions, the older at work", events: "turn A,turn b", want: "turn turn ii", also: `--session A names another one: the turn "turn i"`},
		{name: "two sessions at work", events: "turn A,turn B", want: "turn turn ii", also: `--session A`},
		{name: "two sessions, the newer without a change", events: "turn A,idle B", want: "turn turn i"},
		{name: "three at work, and an operation", events: "turn A,turn B,turn C,restore", want: "operation restore", also: "the newest of 4 counts; --session C"},
		{name: "inside the older agent", events: "turn A,turn b", inside: true, want: "turn turn i"},
		{name: "inside an agent, operation newer", events: "turn A,turn b,restore", inside: true, want: "operation restore", also: `--session A`},
		{name: "inside an agent that runs a tool", events: "turn b,open A", inside: true, want: "session is busy"},
		{name: "inside a program that made no step", events: "turn b", inside: true, want: "turn turn i"},
		{name: "inside an agent that changed nothing", events: "turn b,idle A", inside: true, want: nothing + "undo"},
		{name: "inside an agent that changed nothing, an operation", events: "restore,turn b,idle A", inside: true, want: "operation restore"},

		{name: "a sub-agent's work is its caller's", events: "turn b,idle a,sub a", want: "turn idle ii"},
		{name: "again after a sub-agent's work", events: "turn b,idle a,sub a,undo", want: "turn turn i"},
		{name: "redo of a sub-agent's work", events: "turn b,idle a,sub a,undo", call: "redo", want: "turn idle ii"},

		{name: "again: the turn before", events: "turn a,turn a,undo", want: "turn turn i"},
		{name: "again: the other session", events: "turn a,turn b,undo", want: "turn turn i"},
		{name: "again: the operation before", events: "restore,turn a,undo", want: "operation restore"},
		{name: "again: the turn before the operation", events: "turn a,restore,undo", want: "turn turn i"},
		{name: "again: nothing", events: "turn a,undo", want: nothing + "undo"},
		{name: "an operation that was undone is none", events: "restore,undo", want: nothing + "undo"},
		{name: "a redo brings the operation back for an undo", events: "restore,undo,redo", want: "operation redo"},
		{name: "a redo brings the turn back for an undo", events: "turn a,undo,redo", want: "turn turn i"},
		{name: "the way back of a session on demand", events: "turn a,undo", call: "undo --operation", want: "operation revert"},
		{name: "a session's way back is no operation", events: "turn a,turn a,undo,turn a,undo", want: "turn turn i"},
		{name: "unless it has gone on, and there is nothing else", events: "turn a,undo,session commit a", want: "operation revert"},
		{name: "an old operation after a turn's way back", events: "turn a,restore,undo --turn", want: "operation restore"},

		{name: "redo: nothing", events: "turn a", call: "redo", want: nothing + "redo"},
		{name: "redo of a turn", events: "turn a,undo", call: "redo", want: "turn turn i"},
		{name: "redo of the turn that was taken back last", events: "turn a,turn a,undo,undo", call: "redo", want: "turn turn i"},
		{name: "redo passes over a turn without a change", events: "turn a,idle a,turn a,undo,undo,redo", call: "redo", want: "turn turn iii"},
		{name: "redo: a turn without a change comes along", events: "turn a,idle a,undo,redo", call: "redo", want: nothing + "redo"},
		{name: "redo of an operation", events: "restore,undo", call: "redo", want: "operation undo"},
		{name: "redo of the newest: a turn", events: "turn a,restore,undo,undo", call: "redo", want: "turn turn i"},
		{name: "redo of the newest: an operation", events: "restore,turn a,undo,undo", call: "redo", want: "operation undo", also: "--session a"},
		{name: "redo again: the operation", events: "turn a,restore,undo,undo,redo", call: "redo", want: "operation undo"},
		{name: "redo after the session went on", events: "turn a,undo,turn a", call: "redo", want: nothing + "redo"},
		{name: "redo after another restore", events: "restore,undo,restore", call: "redo", want: nothing + "redo"},
		{name: "redo in two sessions at work", events: "turn A,turn B,undo,undo --session A", call: "redo", want: "turn turn i", also: `--session B`},
		{name: "redo inside an agent", events: "turn A,turn b,undo --session A,undo --session b", call: "redo", inside: true, want: "turn turn i"},
		{name: "redo inside an agent that has nothing to bring back", events: "turn b,idle A,undo", call: "redo", inside: true, want: nothing + "redo"},
		{name: "redo of a way back that was undone", events: "turn a,undo,session commit a,undo", call: "redo", want: "operation undo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &undoSeat{seat: newSeat(t)}
			s.must("track")
			for event := range strings.SplitSeq(c.events, ",") {
				if event != "" {
					s.do(event)
				}
			}
			s.inside = c.inside
			if c.call == "" {
				c.call = "undo"
			}
			out, errs, _ := s.call(append(strings.Fields(c.call), "--json")...)
			var got struct{ Did, Prompt, Kind string }
			if out != "" {
				if err := json.Unmarshal([]byte(out), &got); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			answer := got.Did + " " + got.Prompt + got.Kind
			if out == "" {
				answer = errs
			}
			if out != "" && answer != c.want || !strings.Contains(answer, c.want) {
				t.Errorf("took %q, want %q; %s", answer, c.want, errs)
			}
			if line := strings.Contains(errs, "names another one"); out != "" && (line != (c.also != "") || !strings.Contains(errs, c.also)) {
				t.Errorf("said %q, want %q", errs, c.also)
			}
		})
	}
}

// TestOneUndo_Asks: on a terminal an ambiguous undo asks, and takes what was chosen or nothing.
func TestOneUndo_Asks(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"1\n":          "took back: the restore, just now (1 path: new)",
		"2\n":          `took back: the turn "turn i" of session a, just now (1 file: f-i)`,
		"x\n\n3\n 2\n": `took back: the turn "turn i"`,
		"q\n":          "nothing was chosen, and nothing was done",
		"":             "nothing was chosen, and nothing was done",
	} {
		s := &undoSeat{seat: newSeat(t), asks: true, typed: typed}
		s.must("track")
		s.do("turn a")
		s.do("restore")
		_, errs, status := s.call("undo")
		question := "cairn can take back:\n  1  the restore, just now (1 path: new)\n  2  the turn \"turn i\" of session a, just now (1 file: f-i)\nWhich one [1-2, q]? "
		if !strings.HasPrefix(errs, question) || !strings.Contains(errs, want) || (status == cli.ExitDone) != strings.HasPrefix(want, "took") {
			t.Errorf("%q: status %d, said %s", typed, status, errs)
		}
	}
}

// TestOneUndo_Plan: the plan of a dry run is carried out for the turn that was chosen, also when a
// newer one has come.
func TestOneUndo_Plan(t *testing.T) {
	t.Parallel()
	s := &undoSeat{seat: newSeat(t)}
	s.must("track")
	s.do("turn a")
	_, errs, _ := s.call("undo", "--dry-run")
	_, line, _ := strings.Cut(errs, "): cairn ")
	s.do("turn b")
	out, errs, status := s.call(strings.Fields(line)...)
	if status != cli.ExitDone || out != "deleted f-i\n" || !strings.Contains(errs, `took back: the turn "turn i"`) {
		t.Errorf("%q: status %d, %s%s", line, status, out, errs)
	}
}
