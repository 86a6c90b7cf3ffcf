package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestNothingToDo: events that do not concern files cost no look at the project.
func TestNothingToDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	for _, name := range []string{"Notification", "PreCompact", "MessageDisplay", "PermissionRequest", "SomethingNew", ""} {
		w.tell(name, "s", nil)
	}
	w.tell("SessionStart", "s", map[string]any{"source": "compact"})
	w.tell("UserPromptSubmit", "s", map[string]any{"prompt": "  \n"})
	w.tell("UserPromptSubmit", "s", map[string]any{"prompt": "<task-notification>\n<task-id>x</task-id>"})
	w.use("PreToolUse", "s", "Read", "c", nil)
	w.tell("PostToolBatch", "s", map[string]any{"tool_calls": []any{map[string]any{"tool_name": "Grep"}}})
	w.tell("SubagentStop", "s", nil)
	if w.opened != 0 {
		t.Errorf("the project was opened %d times", w.opened)
	}
	w.noFailures()
}

// TestCommandOfWrongTypes: a command with a value of a wrong type is refused, because without that it would do more
// than it was asked for. Events that record are lenient.
func TestCommandOfWrongTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "somebody", aTree())
	for field, value := range map[string]string{"dryRun": `"true"`, "count": "1.5", "outside": "1"} {
		for _, verb := range []string{"undo", "redo", "revert", "unrevert"} {
			var answer neutralReply
			out := w.send(fmt.Sprintf(`{"event": %q, "session": "s", "message": "m", "cwd": %q, %q: %s}`, verb, filepath.ToSlash(w.root), field, value))
			if err := json.Unmarshal([]byte(out), &answer); err != nil || answer.OK || !strings.Contains(answer.Error, strconv.Quote(field)) {
				t.Errorf("%s with %s %s: %q", verb, field, value, out)
			}
		}
	}
	if w.opened != 0 {
		t.Errorf("the project was opened %d times", w.opened)
	}
}

// TestCountBelowNothing: a count of less than one turn is refused, and no turn is taken back for it.
func TestCountBelowNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "somebody", aTree())
	for _, verb := range []string{"undo", "redo", "diff"} {
		var answer neutralReply
		out := w.send(fmt.Sprintf(`{"event": %q, "session": "s", "cwd": %q, "count": -1}`, verb, filepath.ToSlash(w.root)))
		if err := json.Unmarshal([]byte(out), &answer); err != nil || answer.OK || !strings.Contains(answer.Error, "a count of -1") {
			t.Errorf("%s: %s %v", verb, out, err)
		}
	}
	if w.opened != 0 {
		t.Errorf("the project was opened %d times", w.opened)
	}
}

// TestMalformedPayloads: none of them prints anything, and none stops the agent.
func TestMalformedPayloads(t *testing.T) {
	t.Parallel()
	const secret = "sk-secret-0815"
	for _, agent := range []string{Claude, Codex, Qwen, Gemini, "somebody"} {
		w := newWorld(t, agent, aTree())
		for _, payload := range []string{
			"", " ", "{", "[]", "null", "7", `"` + secret + `"`, "{" + secret, `{"hook_event_name": "PreToolUse", "prompt": "` + secret,
			`{"hook_event_name": "Stop"}`, `{"hook_event_name": "Stop", "session_id": 7, "cwd": []}`,
			`{"hook_event_name": "Stop", "session_id": "s", "cwd": "relative/` + secret + `"}`,
			`{"event": "stop"}`, `{"event": "prompt", "session": "s", "cwd": "` + filepath.ToSlash(w.root) + `"}`,
			strings.Repeat("[", 100000), "\xff\xfe{}", `{"hook_event_name": "PreToolUse", "tool_input": ` + strings.Repeat(`{"a":`, 20000) + "1",
		} {
			out := w.send(payload)
			switch {
			case agent == Gemini && out == "{}\n", speaks(agent) && agent != Gemini && out == "":
			case !speaks(agent) && json.Valid([]byte(out)) && strings.Count(out, "\n") == 1 && !strings.Contains(out, secret):
			default:
				t.Errorf("%s: %.60q printed %q", agent, payload, out)
			}
		}
		log, err := os.ReadFile(LogPath(filepath.Join(w.data, "hooks")))
		if err != nil || bytes.Contains(log, []byte(secret)) {
			t.Errorf("%s: %v, log\n%s", agent, err, log)
		}
	}
}

// TestR112_NothingPrivateIsLogged: neither prompts nor what tools are to write.
func TestR112_NothingPrivateIsLogged(t *testing.T) {
	t.Parallel()
	const secret = "sk-secret-0815"
	w := newWorld(t, Claude, aTree())
	w.root = filepath.Join(w.root, "gone")
	opt := Options{Dir: filepath.Join(w.data, "hooks"), Open: func(context.Context, string) (*Project, error) { return nil, errors.New("no luck") }}
	for name, fields := range map[string]map[string]any{
		"UserPromptSubmit": {"prompt": secret},
		"PreToolUse":       {"tool_name": "Write", "tool_use_id": "c", "tool_input": map[string]string{"file_path": "a", "content": secret}},
		"PostToolBatch":    {"tool_calls": []any{map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": "export KEY=" + secret}}}},
	} {
		fields["hook_event_name"], fields["session_id"], fields["cwd"] = name, "s", w.root
		payload, _ := json.Marshal(fields)
		Handle(t.Context(), Claude, bytes.NewReader(payload), io.Discard, opt)
	}
	log, err := os.ReadFile(LogPath(opt.Dir))
	if err != nil || bytes.Count(log, []byte("no luck")) != 3 || bytes.Contains(log, []byte(secret)) {
		t.Errorf("%v, log\n%s", err, log)
	}
	records, err := Records(opt.Dir)
	if err != nil || len(records) != 1 || records[0].Missed != 2 || records[0].Failure != "no luck" {
		t.Errorf("%+v, %v", records, err)
	}
}

// TestRecordRecovers: a captured step says that everything is well again.
func TestRecordRecovers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	dir := filepath.Join(w.data, "hooks")
	w.prompt("s", "1", "go")
	fail := Options{Dir: dir, Open: func(context.Context, string) (*Project, error) { return nil, errors.New("no luck") }}
	Handle(t.Context(), Codex, strings.NewReader(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/x","tool_name":"Bash"}`), io.Discard, fail)
	w.use("PreToolUse", "s", "Bash", "c", nil)
	w.use("PostToolUse", "s", "Bash", "c", nil)
	records, err := Records(dir)
	if err != nil || len(records) != 1 {
		t.Fatalf("%+v, %v", records, err)
	}
	if r := records[0]; r.Agent != Codex || r.Missed != 0 || r.Step.IsZero() || r.Failed.IsZero() || r.Event.IsZero() {
		t.Errorf("%+v", r)
	}
}

// TestLogIsBounded: a failure at every call for months fills no disk.
func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := recorder{dir, Claude}
	failure := errors.New(strings.Repeat("x", 2*maxText))
	for range 200 {
		r.log(&hook{}, failure, time.Second)
	}
	var total int64
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s has mode %v", entry.Name(), info.Mode())
		}
		total += info.Size()
	}
	if len(list) != 2 || total > 3*maxLog {
		t.Errorf("%d files, %d bytes", len(list), total)
	}
}

// blocking are sessions whose store is locked by another process.
type blocking struct{ service.Sessions }

func (blocking) BeginStep(ctx context.Context, _ session.StepBegin) (*session.Step, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", cairn.ErrLocked, ctx.Err())
}

// TestDeadline: a call ends in time, whichever process holds the store, and the step counts as
// missed. The clock is that of a bubble: it moves on when every goroutine in it waits.
func TestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		opt := Options{Dir: dir, Open: func(context.Context, string) (*Project, error) {
			return &Project{Root: "/x", Sessions: blocking{}, Close: func() error { return nil }}, nil
		}}
		var out bytes.Buffer
		began := time.Now()
		Handle(t.Context(), Codex, strings.NewReader(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/x","tool_name":"Bash"}`), &out, opt)
		records, err := Records(dir)
		if err != nil || len(records) != 1 || records[0].Missed != 1 || !strings.HasPrefix(records[0].Failure, "not in time: ") || out.Len() != 0 {
			t.Errorf("%+v, %v, %q", records, err, out.String())
		}

		stdin, w := io.Pipe() // an agent that never closes it
		defer w.Close()
		Handle(t.Context(), Codex, stdin, &out, opt)
		if took := time.Since(began); took != 2*DefaultDeadline || out.Len() != 0 {
			t.Errorf("two calls took %v and printed %q", took, out.String())
		}
	})
}

// slow are sessions with a long way back.
type slow struct{ service.Sessions }

func (slow) UndoTurn(ctx context.Context, _ string, _ session.MoveOptions) (*session.Session, *cairn.Result, error) {
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

func (slow) History(context.Context, string) ([]session.Message, error) { return nil, nil }

// TestV47_ACommandHasTheTimeThatTheAgentWaits: and answers before that is over.
func TestV47_ACommandHasTheTimeThatTheAgentWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent, payload string
		waits          time.Duration
		want           time.Duration
	}{
		{Claude, `{"hook_event_name":"UserPromptSubmit","prompt":"cairn undo","session_id":"s","cwd":"/x"}`, 10 * time.Minute, 570 * time.Second},
		{Gemini, `{"hook_event_name":"BeforeAgent","prompt":"cairn undo","session_id":"s","cwd":"/x"}`, 30 * time.Second, 28 * time.Second},
		{Qwen, `{"hook_event_name":"UserPromptSubmit","prompt":"cairn undo","session_id":"s","cwd":"/x"}`, 0, DefaultDeadline},
		{known.Pi, `{"event":"typed","prompt":"cairn undo","session":"s","cwd":"/x","patience":600000}`, 0, 570 * time.Second},
		{known.Pi, `{"event":"undo","session":"s","cwd":"/x"}`, 0, DefaultDeadline},
	} {
		synctest.Test(t, func(t *testing.T) {
			opt := Options{Dir: t.TempDir(), Waits: func() time.Duration { return c.waits }, Open: func(context.Context, string) (*Project, error) {
				return &Project{Root: "/x", Sessions: slow{}, Close: func() error { return nil }}, nil
			}}
			var out bytes.Buffer
			began := time.Now()
			Handle(t.Context(), c.agent, strings.NewReader(c.payload), &out, opt)
			got := time.Since(began)
			if got > c.want || got < c.want*9/10 {
				t.Errorf("%s: after %v, not %v", c.payload, got, c.want)
			}
			if text := out.String(); !strings.Contains(text, "not in time") || strings.Contains(text, "nothing to take back") ||
				strings.Count(text, "\\n") > 0 || c.waits > 0 && !strings.Contains(text, "cairn session undo s") {
				t.Errorf("%s: %s", c.payload, text)
			}
		})
	}
}

type panicking struct{ service.Sessions }

func (panicking) BeginStep(context.Context, session.StepBegin) (*session.Step, error) {
	panic("at the wrong place")
}

func TestPanicIsAFailure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opt := Options{Dir: dir, Open: func(context.Context, string) (*Project, error) {
		return &Project{Root: "/x", Sessions: panicking{}, Close: func() error { return nil }}, nil
	}}
	Handle(t.Context(), Codex, strings.NewReader(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/x","tool_name":"Bash"}`), io.Discard, opt)
	records, err := Records(dir)
	if err != nil || len(records) != 1 || records[0].Failure != "panic: at the wrong place" {
		t.Errorf("%+v, %v", records, err)
	}
	Handle(t.Context(), Codex, strings.NewReader(`{"hook_event_name":"Stop","session_id":"s","cwd":"/x"}`), io.Discard, opt)
}

// TestLargePayload: a tool that writes a large file sends all of it.
func TestLargePayload(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	w := newWorld(t, Claude, aTree())
	w.prompt("s", "1", strings.Repeat("long ", 200_000))
	w.use("PreToolUse", "s", "Write", "c", map[string]string{"file_path": "big", "content": strings.Repeat("x\n", 5<<20)})
	w.write("big", "x\n")
	w.tell("Stop", "s", nil)
	w.history("s", []step{{"big", "big"}})
	w.noFailures()
}

// TestSwitchedOff: where nothing is to be captured nothing is, and nothing is amiss.
func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opt := Options{Dir: dir, Open: func(context.Context, string) (*Project, error) { return nil, cairn.ErrDisabled }}
	Handle(t.Context(), Codex, strings.NewReader(`{"hook_event_name":"Stop","session_id":"s","cwd":"/x"}`), io.Discard, opt)
	records, err := Records(dir)
	if err != nil || len(records) != 1 || records[0].Missed != 0 || records[0].Failure != "" {
		t.Errorf("%+v, %v", records, err)
	}
}

// TestMissedIsTold: the end of a turn tells the user of steps that could not be captured, once.
func TestMissedIsTold(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{Claude, Codex, Qwen} {
		w := newWorld(t, agent, aTree())
		end := func() string { return w.tell("Stop", "s", nil) }
		w.prompt("s", "1", "go")
		if out := end(); strings.Contains(out, "captured") {
			t.Errorf("%s: %s", agent, out)
		}
		w.retention = &cairn.Retention{MaxBytes: 1, MinFree: cairn.NoLimit}
		for n, turn := range []string{"2", "3"} {
			w.write("large", strings.Repeat("x"+turn, 100_000))
			w.prompt("s", turn, "go")
			w.use("PreToolUse", "s", "Bash", "c"+turn, nil)
			out := end()
			if !strings.Contains(out, wording.Count(n+1, "step")+" of this session could not be captured and cannot be taken back") {
				t.Errorf("%s, turn %s: %s", agent, turn, out)
			}
		}
		if out := end(); agent != Qwen && strings.Contains(out, "captured") {
			t.Errorf("%s: told again: %s", agent, out)
		}
	}
}
