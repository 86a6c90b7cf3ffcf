package webui

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// spell lists a history: prompts, messages of checkpoints and kinds of operations.
func (f *fixture) spell() (out []string) {
	f.t.Helper()
	p := &Project{Root: f.root, Repo: f.repo, Sessions: f.sessions}
	for e, err := range p.history(f.t.Context(), func(...session.Unread) {}) {
		switch {
		case err != nil:
			f.t.Fatal(err)
		case e.Turn != nil:
			out = append(out, e.Turn.Prompt)
		case e.Track != nil:
			out = append(out, e.Track.Message)
		default:
			out = append(out, e.Operation.Kind)
		}
	}
	return out
}

// Each thing is told once: a step's own checkpoints are no entries, what others did
// between two turns is one, and an operation's states are not.
func TestHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1\n")
	turn := func(message string) session.StepBegin {
		return session.StepBegin{Session: "s", Message: message, Step: message, Prompt: "prompt " + message}
	}
	f.stepOf(turn("m1"), func() { f.write("a", "2\n") })
	f.write("b", "by hand\n") // only the next step takes a checkpoint of it
	f.stepOf(turn("m2"), func() { f.write("a", "3\n") })
	f.stepOf(turn("m3"), func() { f.write("a", "4\n") })
	if _, _, err := f.sessions.Revert(t.Context(), "s", session.Target{Message: "m3"}, session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.repo.Undo(t.Context(), cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	got := f.spell()
	slices.Sort(got) // all of it happens within one second, which is what commits keep
	if diff := cmp.Diff([]string{"before step m1", "before step m2", "prompt m1", "prompt m2", "prompt m3", "revert", "undo"}, got); diff != "" {
		t.Error(diff)
	}
}

// Operations alone are listed without opening a session: there may be hundreds.
func TestOperationsAlone(t *testing.T) {
	t.Parallel()
	f := story(t)
	f.write("ledger/more.go", "package ledger\n")
	f.confirm(f.get(f.at("plan", "do", "restore", "to", f.checkpointOf("before the agent"))).want(http.StatusOK)).want(http.StatusSeeOther)
	f.confirm(f.get(f.at("plan", "do", "undo")).want(http.StatusOK)).want(http.StatusSeeOther)
	p := &Project{Root: f.root, Repo: f.repo, Sessions: oneDamaged{f.sessions, "ses_4f1c"}}
	var kinds []string
	for e, err := range p.entries(t.Context(), showOperations, func(list ...session.Unread) { t.Errorf("opened %v", list) }) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, e.Operation.Kind)
	}
	if diff := cmp.Diff([]string{"undo", "restore"}, kinds); diff != "" {
		t.Error(diff)
	}
	f.get(f.at("", "show", showOperations)).want(http.StatusOK, "Undo", "Restore")
}

// A user's message and what answers it are one turn; without users each session is.
func TestTurns(t *testing.T) {
	t.Parallel()
	message := func(id, role, prompt string, steps ...string) session.Message {
		m := session.Message{ID: id, Role: role, Prompt: prompt, Reverted: id > "m2"}
		for _, s := range steps {
			m.Steps = append(m.Steps, session.Step{ID: s})
		}
		return m
	}
	turns := turnsOf(&session.Session{}, []session.Message{
		message("m0", "assistant", "", "s0"), message("m1", "user", "one"), message("m2", "assistant", "", "s1", "s2"), message("m3", "user", "two"), message("m4", "assistant", "", "s3"),
	})
	var got [][]string
	for _, turn := range turns {
		line := []string{turn.Message, turn.Prompt}
		for _, s := range turn.Steps {
			line = append(line, s.ID)
		}
		if turn.Reverted {
			line = append(line, "reverted")
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([][]string{{"m0", "", "s0"}, {"m1", "one", "s1", "s2"}, {"m3", "two", "s3", "reverted"}}, got); diff != "" {
		t.Error(diff)
	}
}

// What others changed between two steps of a turn stands between them.
func TestOtherHandsBetweenSteps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1\n")
	step := session.StepBegin{Session: "s", Message: "m", Step: "s1", Prompt: "prompt"}
	f.stepOf(step, func() { f.write("a", "2\n") })
	f.write("by-hand.txt", "x\n")
	step.Step = "s2"
	f.stepOf(step, func() { f.write("a", "3\n") })
	f.get(f.at("")).want(200, "in between, by other hands", "by-hand.txt")
	f.get(f.at("step", "session", "s", "step", "s2")).want(200, "Step 2 of 2").lacks("by-hand.txt")
}

// Pages of a session show every step once, also where prompts have no steps.
func TestSessionPages(t *testing.T) {
	t.Parallel()
	const steps, empty = sessionSteps + 20, sessionSteps
	var turns []*turn
	s := &session.Session{ID: "s"}
	for i := range empty {
		turns = append(turns, &turn{Session: s, Message: "empty" + grouped(i)})
	}
	long := &turn{Session: s, Message: "long"}
	for i := range steps {
		long.Steps = append(long.Steps, session.Step{ID: grouped(i), Session: "s"})
	}
	turns = append(turns, long, &turn{Session: s, Message: "last"})
	seenTurns, seenSteps, pages := make(map[string]bool), make(map[string]bool), 0
	v := &visit{h: &handler{counts: newPairCache[*counts]()}, project: &Project{ID: "p"}, query: map[string][]string{}}
	for {
		pages++
		all := slices.Clone(turns)
		whole := *long
		all[empty] = &whole
		page := &sessionPage{Session: s}
		if err := page.fill(v, all); err != nil {
			t.Fatal(err)
		}
		for _, view := range page.Turns {
			seenTurns[view.Turn.Message] = true
			for _, step := range view.Steps {
				if seenSteps[step.Step.ID] {
					t.Fatalf("step %s is on two pages", step.Step.ID)
				}
				seenSteps[step.Step.ID] = true
			}
		}
		if page.Older == "" {
			break
		}
		v.query = queryOf(t, page.Older)
	}
	if len(seenTurns) != len(turns) || len(seenSteps) != steps || pages != 3 {
		t.Errorf("%d of %d turns, %d of %d steps, %d pages", len(seenTurns), len(turns), len(seenSteps), steps, pages)
	}
}
