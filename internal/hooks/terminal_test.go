package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/session"
)

// turnOf is a whole turn of one shell command.
func (w *world) turnOf(id, turn, prompt, command string) {
	w.Helper()
	w.prompt(id, turn, prompt)
	w.use("PreToolUse", id, "Bash", "call-"+turn, map[string]string{"command": command})
	w.shell(command)
	if w.agent == Claude {
		w.tell("PostToolBatch", id, map[string]any{"tool_calls": []any{map[string]any{"tool_name": "Bash", "tool_use_id": "call-" + turn, "tool_input": map[string]string{"command": command}}}})
	} else {
		w.use("PostToolUse", id, "Bash", "call-"+turn, map[string]string{"command": command})
	}
	w.tell("Stop", id, nil)
}

// TestV51_TheQuietestAnswer: an answer to a command is the one form with which each agent
// keeps the prompt from the model and says least around the text. Nothing else is in it.
func TestV51_TheQuietestAnswer(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		Claude: `{"continue":false,"stopReason":"TEXT"}`, Codex: `{"decision":"block","reason":"TEXT"}`,
		Qwen: `{"decision":"block","reason":"TEXT"}`, Gemini: `{"decision":"deny","reason":"TEXT"}`,
	} {
		w := newWorld(t, agent, aTree())
		event := map[bool]string{true: "BeforeAgent", false: "UserPromptSubmit"}[agent == Gemini]
		got := w.tell(event, "s", map[string]any{"prompt": "cairn undo"})
		if want = strings.Replace(want, "TEXT", "cairn: "+nothingToUndo, 1) + "\n"; got != want {
			t.Errorf("%s: %s, not %s", agent, got, want)
		}
	}
}

// TestV40_AnswerLeavesTheInputBoxEmpty: prompted checks the form of each answer.
func TestV40_AnswerLeavesTheInputBoxEmpty(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{Claude, Codex, Qwen, Gemini} {
		w := newWorld(t, agent, aTree())
		if got := w.prompted("s", "cairn help"); !strings.Contains(got, "cairn undo [N]") {
			t.Errorf("%s: %s", agent, got)
		}
	}
}

// TestV49_EveryCommandIsAnswered: none of these prompts begins a turn.
func TestV49_EveryCommandIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	before := w.manifest()
	w.turnOf("s", "1", "make new", "echo x > new")
	after := w.manifest()
	for text, want := range map[string]string{
		"cairn redoo": "did you mean cairn redo?", "cairn status": `cairn undo takes back: the turn "make new" (1 file`, "cairn undo 2 --dry-run": "would take back 1 turn (not yet: this is a preview): 1 deleted\ndeleted new",
		"cairn gc": "in a shell", "cairn undo everything": "nothing was done",
	} {
		if got := w.prompted("s", text); !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
		w.isAs(after, "after "+text)
	}
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestV49_TypedInAnAdapter: adapters pass on what was typed, and are told whether it was
// a command.
func TestV49_TypedInAnAdapter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, known.Pi, aTree())
	for text, want := range map[string]string{
		"cairn redoo": `"text":"cairn: there is no cairn redoo; did you mean cairn redo?`, "cairn is slow, why?": `{"ok":true,"session":"s"}`, "cairn undo": `"text":"cairn: nothing to take back`,
	} {
		payload, _ := json.Marshal(map[string]string{"event": "typed", "session": "s", "cwd": w.root, "prompt": text})
		got := w.send(string(payload))
		if !strings.Contains(got, want) || strings.Contains(got, `"handled":true`) == strings.Contains(text, "why") {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// broken are sessions of a store that fails in one way.
type broken struct {
	service.Sessions
	err error
}

func (b broken) Begin(context.Context, session.SessionBegin) (*session.Session, error) {
	return nil, b.err
}
func (b broken) History(context.Context, string) ([]session.Message, error) {
	return nil, cairn.ErrNotFound
}
func (b broken) BeginStep(context.Context, session.StepBegin) (*session.Step, error) {
	return nil, b.err
}
func (b broken) AddMessage(context.Context, session.MessageBegin) (*session.Message, error) {
	return nil, b.err
}
func (b broken) UndoTurn(context.Context, string, session.MoveOptions) (*session.Session, *cairn.Result, error) {
	return nil, nil, cairn.ErrNotFound
}

func (b broken) send(t *testing.T, agent, payload string) string {
	t.Helper()
	var out bytes.Buffer
	opt := Options{Dir: filepath.Join(t.TempDir(), "hooks"), Open: func(context.Context, string) (*Project, error) {
		return &Project{Root: "/x", Sessions: b, Close: func() error { return nil }}, nil
	}}
	Handle(t.Context(), agent, strings.NewReader(payload), &out, opt)
	return out.String()
}

// TestV43_AStoreThatCannotBeWritten: the cause is told where the user asks, and once
// when the session begins.
func TestV43_AStoreThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want []string
	}{
		{fmt.Errorf("write /x/pack: %w", syscall.ENOSPC), []string{"no space left", "cairn gc"}},
		{fmt.Errorf("%w: create store /x: %w", cairn.ErrStore, syscall.ENOSPC), []string{"no space left", "cairn gc"}},
		{fmt.Errorf("%w: 3 MB are free", cairn.ErrNoSpace), []string{"3 MB are free", "cairn gc"}},
		{fmt.Errorf("write /x/pack: %w", syscall.EROFS), []string{"read-only", "CAIRN_DATA_DIR"}},
		{fmt.Errorf("open /x/pack: %w", syscall.EACCES), []string{"permission", "CAIRN_DATA_DIR"}},
	} {
		for _, agent := range []string{Claude, Codex, Qwen, Gemini} {
			event := map[bool]string{true: "BeforeAgent", false: "UserPromptSubmit"}[agent == Gemini]
			begin := map[bool]string{true: `"Stop"`, false: `"SessionStart","source":"startup"`}[agent == Qwen] // Qwen shows no message at the start
			answers := []string{broken{err: c.err}.send(t, agent, `{"hook_event_name":`+begin+`,"session_id":"s","cwd":"/x"}`)}
			if !strings.HasPrefix(answers[0], `{"systemMessage":"cairn cannot protect`) {
				t.Errorf("%s: %s", agent, answers[0])
			}
			for _, verb := range []string{"undo", "log", "diff", "status"} {
				answers = append(answers, broken{err: c.err}.send(t, agent, `{"hook_event_name":"`+event+`","prompt":"cairn `+verb+`","session_id":"s","cwd":"/x"}`))
			}
			for _, got := range answers {
				for _, want := range c.want {
					if !strings.Contains(got, want) || strings.Contains(got, "nothing to take back") || strings.Contains(got, "damaged") || strings.Contains(got, "changed no files yet") {
						t.Errorf("%s: %s", agent, got)
					}
				}
			}
		}
	}
}

// TestV43_AStepThatWasNotCaptured: the disk was full for a while only. A command that asks for the
// step reports that it is missing.
func TestV43_AStepThatWasNotCaptured(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	w.prompt("s", "1", "go")
	var out bytes.Buffer
	Handle(t.Context(), Codex, strings.NewReader(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/x","tool_name":"Bash"}`), &out, Options{
		Dir: filepath.Join(w.data, "hooks"), Open: func(context.Context, string) (*Project, error) {
			return &Project{Root: w.root, Sessions: broken{err: fmt.Errorf("write /x/pack: %w", syscall.ENOSPC)}, Close: func() error { return nil }}, nil
		},
	})
	for _, verb := range []string{"undo", "log", "diff", "status"} {
		if got := w.prompted("s", "cairn "+verb); !strings.Contains(got, "1 step of this session could not be captured") || !strings.Contains(got, "no space left") {
			t.Errorf("%s: %s", verb, got)
		}
	}
}

// TestV44_ADamagedStore: one line, and the next step.
func TestV44_ADamagedStore(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{cairn.ErrCorrupt, cairn.ErrStore} {
		damaged := broken{err: fmt.Errorf("%w: object 1234", cause)}
		for _, verb := range []string{"undo", "log", "status"} {
			var out bytes.Buffer
			Handle(t.Context(), Codex, strings.NewReader(`{"hook_event_name":"UserPromptSubmit","prompt":"cairn `+verb+`","session_id":"s","cwd":"/x"}`), &out, Options{
				Dir: t.TempDir(), Open: func(context.Context, string) (*Project, error) { return nil, damaged.err },
			})
			var answer struct{ Reason string }
			if err := json.Unmarshal(out.Bytes(), &answer); err != nil || strings.Count(answer.Reason, "\n") > 0 ||
				!strings.Contains(answer.Reason, "cairn doctor --fix") || strings.Contains(answer.Reason, "nothing to") {
				t.Errorf("%v: %q", err, out.String())
			}
		}
	}
}

// TestUndoWithoutARoot: a tool has removed the project, and the answer names the next step.
func TestUndoWithoutARoot(t *testing.T) {
	t.Parallel()
	gone := fmt.Errorf("%w: %w", cairn.ErrRoot, &fs.PathError{Op: "lstat", Path: "/x", Err: fs.ErrNotExist})
	h := &hook{agent: Codex, event: &event{session: "s", said: true, do: &request{verb: "undo"}}}
	if got := h.answerText(gone); !strings.Contains(got, "make that directory again (mkdir), then type it again") {
		t.Error(got)
	}
}

// corrupt fails when it takes something back.
type corrupt struct{ service.Sessions }

func (corrupt) History(context.Context, string) ([]session.Message, error) { return nil, nil }

func (corrupt) UndoTurn(context.Context, string, session.MoveOptions) (*session.Session, *cairn.Result, error) {
	return nil, nil, fmt.Errorf("%w: object 1234", cairn.ErrCorrupt)
}

// TestV44_UndoMeetsDamage: that there is nothing to take back is not known then.
func TestV44_UndoMeetsDamage(t *testing.T) {
	t.Parallel()
	h := &hook{agent: Codex, event: &event{session: "s", said: true, do: &request{verb: "undo", count: 2}}, turn: new(turn), sessions: corrupt{}}
	err := h.command(t.Context())
	if got := h.answerText(err); !errors.Is(err, cairn.ErrCorrupt) || strings.Contains(got, "\n") || !strings.Contains(got, "cairn doctor --fix") {
		t.Errorf("%v: %q", err, got)
	}
}

// TestV48_NothingToBringBackSaysTheWay: cairn undo in a shell brings back turns that a
// later turn has made final.
func TestV48_NothingToBringBackSaysTheWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, gittest.Tree{"a": gittest.File("a\n")})
	w.turnOf("s", "1", "one", "echo x > one")
	w.prompted("s", "cairn undo")
	w.turnOf("s", "2", "two", "echo x > two")
	if got := w.prompted("s", "cairn redo"); !strings.Contains(got, "nothing to bring back") || !strings.Contains(got, "in a shell: cairn undo") {
		t.Error(got)
	}
}

// TestV48_AQuestionLeavesRedo: a turn without a tool changes nothing, so what was taken back
// still comes back. The prompt of a turn with tools is recorded with the first of them.
func TestV48_AQuestionLeavesRedo(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{Claude, Codex} {
		w := newWorld(t, agent, gittest.Tree{"a": gittest.File("a\n")})
		w.turnOf("s", "1", "one", "echo x > one")
		after := w.manifest()
		w.prompted("s", "cairn undo")
		for _, turn := range []string{"2", "3"} {
			w.prompt("s", turn, "what is it?")
			w.tell("Stop", "s", nil)
		}
		if got := w.prompted("s", "cairn redo"); !strings.Contains(got, "brought back 1 turn") {
			t.Errorf("%s: %s", agent, got)
		}
		w.isAs(after, "after a question and redo")
		w.prompted("s", "cairn undo")
		w.turnOf("s", "4", "four", "echo x > four")
		if got := w.prompted("s", "cairn log"); !strings.Contains(got, "four") {
			t.Errorf("%s: %s", agent, got)
		}
		if got := w.prompted("s", "cairn redo"); !strings.Contains(got, "nothing to bring back") {
			t.Errorf("%s: %s", agent, got)
		}
		w.noFailures()
	}
}

// TestV45_WhatGitDidIsTold: undo brings the files back and names what git keeps, with
// commands that take it back and touch no file.
func TestV45_WhatGitDidIsTold(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	const git = "git -c user.name=dev -c user.email=dev@example.com "
	for name, c := range map[string]struct{ turn, want string }{
		"commit":   {"echo x > a; " + git + "commit -qam x", "git reset"},
		"checkout": {"echo x > a; git checkout -q -b other", "git symbolic-ref HEAD refs/heads/main"},
		"stash":    {"echo x > a; " + git + "stash -q; echo y > c", "git stash drop"},
	} {
		w := newWorld(t, Codex, aTree())
		w.sh("git init -q -b main . && git add -A && " + git + "commit -qm begin")
		w.prompt("s", "1", "go")
		w.use("PreToolUse", "s", "Bash", "c1", map[string]string{"command": c.turn})
		w.sh(c.turn)
		w.use("PostToolUse", "s", "Bash", "c1", map[string]string{"command": c.turn})
		w.tell("Stop", "s", nil)
		got := w.prompted("s", "cairn undo")
		_, way, ok := strings.Cut(got, "this takes it back: ")
		if !ok || !strings.Contains(way, c.want) {
			t.Errorf("%s: %s", name, got)
			continue
		}
		w.sh(way)
		w.sh(`git status --porcelain; test -z "$(git status --porcelain)" && test "$(git symbolic-ref --short HEAD)" = main && test -z "$(git stash list)" && test "$(git log --format=%s)" = begin`)
		w.noFailures()
	}
}

// TestWayBackToAQuotedBranch: the name of a branch may hold a quote and what a shell works out.
func TestWayBackToAQuotedBranch(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	w := newWorld(t, Codex, aTree())
	w.sh(`git init -q -b "it's\$(>ran)" . && git add -A && git -c user.name=dev -c user.email=dev@example.com commit -qm begin`)
	w.prompt("s", "1", "go")
	const turn = "echo x > a; git checkout -q -b other"
	w.use("PreToolUse", "s", "Bash", "c1", map[string]string{"command": turn})
	w.sh(turn)
	w.use("PostToolUse", "s", "Bash", "c1", map[string]string{"command": turn})
	w.tell("Stop", "s", nil)
	got := w.prompted("s", "cairn undo")
	_, way, ok := strings.Cut(got, "this takes it back: ")
	if !ok {
		t.Fatal(got)
	}
	w.sh(way)
	w.sh(`test "$(git symbolic-ref --short HEAD)" = "it's\$(>ran)" && test ! -e ran`)
}

// sh runs a real command in the project.
func (w *world) sh(line string) {
	w.Helper()
	cmd := exec.Command("sh", "-ec", line)
	cmd.Dir = w.root
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("%s: %v\n%s", line, err, out)
	}
}
