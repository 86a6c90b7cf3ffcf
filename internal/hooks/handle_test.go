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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// tell sends an event of Claude Code, Codex or Qwen with further fields.
func (w *world) tell(name, id string, fields map[string]any) string {
	w.Helper()
	all := map[string]any{"hook_event_name": name, "session_id": id, "cwd": w.root}
	for key, value := range fields {
		all[key] = value
	}
	payload, err := json.Marshal(all)
	if err != nil {
		w.Fatal(err)
	}
	return w.send(string(payload))
}

func (w *world) prompt(id, turn, text string) {
	w.Helper()
	if out := w.tell("UserPromptSubmit", id, map[string]any{"prompt": text, "prompt_id": turn, "turn_id": turn}); out != "" {
		w.Errorf("prompt printed %q", out)
	}
}

func (w *world) use(when, id, tool, call string, input any) {
	w.Helper()
	if out := w.tell(when, id, map[string]any{"tool_name": tool, "tool_use_id": call, "tool_input": input}); out != "" {
		w.Errorf("%s printed %q", when, out)
	}
}

func aTree() gittest.Tree { return gittest.Tree{"a": gittest.File("a\n"), "b": gittest.File("b\n")} }

// TestR31_UsersEditsWhileTheAgentThinks: what changes between the tools is the user's.
// Undo takes back the agent's changes and keeps those.
func TestR31_UsersEditsWhileTheAgentThinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	w.prompt("s", "1", "go")
	w.write("mine-1", "mine\n")
	w.use("PreToolUse", "s", "Bash", "c1", map[string]string{"command": "echo x > theirs"})
	w.write("theirs", "x\n")
	w.use("PostToolUse", "s", "Bash", "c1", map[string]string{"command": "echo x > theirs"})
	w.write("a", "mine\n")
	w.use("PreToolUse", "s", "Bash", "c2", map[string]string{"command": "rm b"})
	w.shell("rm b")
	w.use("PostToolUse", "s", "Bash", "c2", map[string]string{"command": "rm b"})
	w.tell("Stop", "s", nil)
	w.write("mine-2", "mine\n")
	w.prompted("s", "cairn undo")
	want := gittest.Tree{"a": gittest.File("mine\n"), "b": gittest.File("b\n"), "mine-1": gittest.File("mine\n"), "mine-2": gittest.File("mine\n")}
	dir := t.TempDir()
	gittest.Create(t, dir, want)
	w.isAs(gittest.Manifest(t, dir), "after undo")
	w.noFailures()
}

// TestToolsAtTheSameTime: a step lasts until the last of them has come back, so that
// what the slower one writes is not lost.
func TestToolsAtTheSameTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	before := w.manifest()
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Bash", "c1", nil)
	w.use("PreToolUse", "s", "apply_patch", "c2", map[string]string{"command": "*** Begin Patch\n*** Add File: p\n+p\n*** End Patch"})
	w.write("p", "p\n")
	w.use("PostToolUse", "s", "apply_patch", "c2", nil)
	w.write("slow", "x\n")
	w.use("PostToolUse", "s", "Bash", "c1", nil)
	w.tell("Stop", "s", nil)
	w.history("s", []step{{"p slow", "p"}})
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestWhatAToolLeavesRunning: a command in the background goes on writing. Until the
// turn's end that is the agent's.
func TestWhatAToolLeavesRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	before := w.manifest()
	w.prompt("s", "1", "go")
	input := map[string]any{"command": "make &", "run_in_background": true}
	w.use("PreToolUse", "s", "Bash", "c1", input)
	w.write("early", "x\n")
	w.tell("PostToolBatch", "s", map[string]any{"tool_calls": []any{map[string]any{"tool_name": "Bash", "tool_use_id": "c1", "tool_input": input}}})
	w.write("late", "x\n")
	w.tell("Stop", "s", map[string]any{"background_tasks": []any{map[string]any{"id": "b1", "type": "shell", "status": "running"}}})
	w.write("mine", "mine\n")
	w.history("s", []step{{"early", ""}, {"late", ""}})
	w.prompted("s", "cairn undo")
	os.Remove(w.path("mine"))
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestInterruptedTurn: when the user stops the agent in a tool, nothing is reported.
// The next prompt ends the step, in the turn that it belongs to.
func TestInterruptedTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Write", "c1", map[string]string{"file_path": w.path("new")})
	w.write("new", "x\n")
	w.prompt("s", "2", "again")
	w.use("PreToolUse", "s", "Write", "c2", map[string]string{"file_path": w.path("a")})
	w.write("a", "x\n")
	w.tell("Stop", "s", nil)
	w.history("s", []step{{"new", "new"}}, []step{{"a", "a"}})
	w.noFailures()
}

// TestR114_RepeatedEvents: the same event twice is one.
func TestR114_RepeatedEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Qwen, aTree())
	for range 2 {
		w.tell("SessionStart", "s", map[string]any{"source": "startup"})
	}
	for range 2 {
		w.prompt("s", "s########0", "go")
	}
	w.prompt("s", "s########0", "")
	for range 2 {
		w.use("PreToolUse", "s", "edit", "c1", map[string]string{"file_path": "a"})
	}
	w.write("a", "x\n")
	for range 2 {
		w.use("PostToolUse", "s", "edit", "c1", map[string]string{"file_path": "a"})
	}
	w.prompt("s", "s########0", "")
	for range 2 {
		w.tell("Stop", "s", nil)
	}
	w.history("s", []step{{"a", "a"}})
	w.noFailures()
}

// TestR113_IDsAreOpaque: whatever an id holds, it names no file.
func TestR113_IDsAreOpaque(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"../../x", "a/b\\c", ".", "..", "nul\x00", "ünï ", strings.Repeat("x", 5000), "########0", "-rf", "con"} {
		w := newWorld(t, Claude, aTree())
		before := w.manifest()
		w.prompt(id, id, "go")
		w.use("PreToolUse", id, "Bash", id, nil)
		w.write("new", "x\n")
		w.tell("Stop", id, nil)
		if got := w.prompted(id, "cairn undo"); !strings.Contains(got, "deleted new") {
			t.Errorf("%.20q: undo said %q", id, got)
		}
		w.isAs(before, fmt.Sprintf("%.20q: after undo", id))
		w.noFailures()
	}
}

// TestWithoutTurnState: what hooks remember between calls only makes steps finer. A
// session survives its loss.
func TestWithoutTurnState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	before := w.manifest()
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Bash", "c1", nil)
	w.write("one", "x\n")
	if err := os.RemoveAll(filepath.Join(w.data, "hooks")); err != nil {
		t.Fatal(err)
	}
	w.use("PostToolUse", "s", "Bash", "c1", nil)
	w.use("PreToolUse", "s", "Bash", "c2", nil)
	w.write("two", "x\n")
	w.use("PostToolUse", "s", "Bash", "c2", nil)
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestSetUpInTheMiddle: the first thing that is heard of a session is a tool.
func TestSetUpInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	before := w.manifest()
	w.use("PreToolUse", "s", "Bash", "c1", nil)
	w.write("one", "x\n")
	w.tell("PostToolBatch", "s", map[string]any{"prompt_id": "1"})
	w.use("PreToolUse", "s", "Bash", "c2", nil)
	w.write("two", "x\n")
	w.tell("SessionEnd", "s", nil)
	w.history("s", []step{{"one", ""}, {"two", ""}})
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestConcurrentHooks: ten agents work in one directory at once, each with its own
// files, and each undo takes back its own.
func TestConcurrentHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	before := w.manifest()
	var all sync.WaitGroup
	for n := range 10 {
		all.Go(func() {
			id := fmt.Sprintf("s%d", n)
			w := &world{T: w.T, agent: w.agent, root: w.root, data: w.data}
			w.prompt(id, "1", "go")
			for round := range 3 {
				name := fmt.Sprintf("f%d-%d", n, round)
				patch := map[string]string{"command": "*** Begin Patch\n*** Add File: " + name + "\n+x\n*** End Patch"}
				w.use("PreToolUse", id, "apply_patch", name, patch)
				w.write(name, "x\n")
				w.use("PostToolUse", id, "apply_patch", name, patch)
			}
			w.tell("Stop", id, nil)
		})
	}
	all.Wait()
	w.noFailures()
	for n := range 10 {
		if got := w.prompted(fmt.Sprintf("s%d", n), "cairn undo"); !strings.Contains(got, "3 deleted") {
			t.Errorf("session %d: %s", n, got)
		}
	}
	w.isAs(before, "after all undos")
}

// TestParallelHooksOfOneSession: an agent may run the hooks of several tools at once.
func TestParallelHooksOfOneSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	before := w.manifest()
	w.prompt("s", "1", "go")
	var all sync.WaitGroup
	for n := range 10 {
		all.Go(func() {
			w := &world{T: w.T, agent: w.agent, root: w.root, data: w.data}
			name := fmt.Sprintf("f%d", n)
			w.use("PreToolUse", "s", "Bash", name, nil)
			w.write(name, "x\n")
			w.use("PostToolUse", "s", "Bash", name, nil)
		})
	}
	all.Wait()
	w.tell("Stop", "s", nil)
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
	w.noFailures()
}

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
			case agent == Gemini && out == "{}\n", speaks[agent] && agent != Gemini && out == "":
			case !speaks[agent] && json.Valid([]byte(out)) && strings.Count(out, "\n") == 1 && !strings.Contains(out, secret):
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

// blocking are sessions whose store is held by somebody else.
type blocking struct{ Sessions }

func (blocking) BeginStep(ctx context.Context, _ session.StepBegin) (*session.Step, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", cairn.ErrLocked, ctx.Err())
}

// TestDeadline: a call ends in time, whoever holds the store, and the step counts as
// missed.
func TestDeadline(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opt := Options{Dir: dir, Deadline: time.Millisecond, Open: func(context.Context, string) (*Project, error) {
		return &Project{Root: "/x", Sessions: blocking{}, Close: func() error { return nil }}, nil
	}}
	var out bytes.Buffer
	Handle(t.Context(), Codex, strings.NewReader(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/x","tool_name":"Bash"}`), &out, opt)
	records, err := Records(dir)
	if err != nil || len(records) != 1 || records[0].Missed != 1 || !strings.HasPrefix(records[0].Failure, "not in time: ") || out.Len() != 0 {
		t.Errorf("%+v, %v, %q", records, err, out.String())
	}

	stdin, w := io.Pipe() // an agent that never closes it
	defer w.Close()
	Handle(t.Context(), Codex, stdin, &out, opt)
	if out.Len() != 0 {
		t.Errorf("%q", out.String())
	}
}

type panicking struct{ Sessions }

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

func TestWorkDir(t *testing.T) {
	t.Parallel()
	root, _ := filepath.Abs("/p")
	for _, c := range []struct{ project, dir, want string }{
		{"", "/p/x", "/p/x"}, {"/p", "/p", "/p"}, {"/p", "/p/x", "/p"}, {"/p", "/q", "/q"}, {"p", "/p/x", "/p/x"},
	} {
		abs := func(path string) string {
			if strings.HasPrefix(path, "/") {
				return filepath.Join(filepath.VolumeName(root), filepath.FromSlash(path))
			}
			return path
		}
		h := hook{event: &event{dir: abs(c.dir)}}
		if got := h.workDir(abs(c.project)); filepath.ToSlash(strings.TrimPrefix(got, filepath.VolumeName(root))) != c.want {
			t.Errorf("in %s, with the project %q: %s", c.dir, c.project, got)
		}
	}
}
