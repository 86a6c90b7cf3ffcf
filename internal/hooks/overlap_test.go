package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/session"
)

// recordings are the background processes of a world.
type recordings struct {
	w      *world
	atOnce bool  // a process does its work before the next event; otherwise it was killed, and Wait does it
	fails  error // of the work
	begun  int
	ended  int
	step   *session.Step // that ended last
	waited int
	work   map[string]func(context.Context) error // not done yet, by ticket
}

func overlapping(w *world, atOnce bool) *recordings {
	r := &recordings{w: w, atOnce: atOnce, work: make(map[string]func(context.Context) error)}
	w.overlap = &Overlap{Begin: r.begin, Wait: r.wait, End: r.end, WaitEnd: r.waitEnd}
	return r
}

func (r *recordings) end(e session.StepEnd) (string, error) {
	r.ended++
	id := fmt.Sprint("end ", r.ended)
	r.work[id] = func(ctx context.Context) (err error) {
		if r.fails != nil {
			return r.fails
		}
		r.w.sessions(func(all *session.Sessions) { r.step, err = all.EndStep(ctx, e) })
		return err
	}
	if r.atOnce {
		return id, r.wait(r.w.Context(), id)
	}
	return id, nil
}

func (r *recordings) waitEnd(ctx context.Context, id string) (*session.Step, error) {
	if err := r.wait(ctx, id); err != nil {
		return nil, err
	}
	return r.step, nil
}

func (r *recordings) begin(ctx context.Context, b session.SessionBegin, m session.MessageBegin) (string, error) {
	r.begun++
	id := m.Message
	r.work[id] = func(ctx context.Context) (err error) {
		if r.fails != nil {
			return r.fails
		}
		r.w.sessions(func(all *session.Sessions) {
			if _, err = all.Begin(ctx, b); err == nil {
				_, err = all.AddMessage(ctx, m)
			}
		})
		return err
	}
	if r.atOnce {
		return id, r.wait(ctx, id)
	}
	return id, nil
}

func (r *recordings) wait(ctx context.Context, id string) error {
	r.waited++
	work := r.work[id]
	delete(r.work, id)
	if work == nil {
		return nil
	}
	return work(ctx)
}

// TestOverlapChangesNoHistory: whichever process records the prompts, and whenever, the turns of a
// transcript are the same, and so is what undo and redo do.
func TestOverlapChangesNoHistory(t *testing.T) {
	t.Parallel()
	for _, c := range goldenTurns {
		for name, atOnce := range map[string]bool{"alive": true, "killed": false} {
			t.Run(c.file+" "+name, func(t *testing.T) {
				t.Parallel()
				w, records := recorded(t, c.agent, c.file)
				r := overlapping(w, atOnce)
				w.play(records)
				if r.begun == 0 || r.ended == 0 {
					t.Fatalf("in the background %d prompts were recorded and %d steps ended", r.begun, r.ended)
				}
				id := w.only()
				w.history(id, c.want)
				w.sessions(func(all *session.Sessions) {
					s, err := all.Get(t.Context(), id)
					if err != nil || s.Meta[session.MetaAgent] != c.agent {
						t.Errorf("%+v, %v", s, err)
					}
				})
				after := w.manifest()
				w.prompted(id, "cairn undo")
				w.isAs(w.turns[0], "after undo")
				w.prompted(id, "cairn redo")
				w.isAs(after, "after redo")
				w.noFailures()
			})
		}
	}
}

// TestOverlapKeepsTheUsersEdits: what the user changes between a prompt and its first tool is the
// user's, whenever the prompt's capture ends. Two prompts in a row, the first without a tool, are
// two messages.
func TestOverlapKeepsTheUsersEdits(t *testing.T) {
	t.Parallel()
	for name, atOnce := range map[string]bool{"captured before": true, "captured after": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, Codex, aTree())
			r := overlapping(w, atOnce)
			w.prompt("s", "1", "a question")
			w.tell("Stop", "s", nil)
			w.prompt("s", "2", "go")
			w.write("a", "mine\n")
			w.use("PreToolUse", "s", "read_file", "c0", map[string]string{"path": "a"})
			if !atOnce && len(r.work) != 1 {
				t.Errorf("a tool that only reads, or a turn without a tool, waited: %d left", len(r.work))
			}
			w.use("PreToolUse", "s", "Bash", "c1", map[string]string{"command": "echo x > theirs"})
			w.write("theirs", "x\n")
			w.use("PostToolUse", "s", "Bash", "c1", map[string]string{"command": "echo x > theirs"})
			w.tell("Stop", "s", nil)
			w.sessions(func(all *session.Sessions) {
				history, err := all.History(t.Context(), "s")
				if err != nil || len(history) != 2 || history[0].Prompt != "a question" || history[1].Prompt != "go" || len(history[1].Steps) != 1 {
					t.Errorf("%+v, %v", history, err)
				}
			})
			w.prompted("s", "cairn undo")
			want := gittest.Tree{"a": gittest.File("mine\n"), "b": gittest.File("b\n")}
			dir := t.TempDir()
			gittest.Create(t, dir, want)
			w.isAs(gittest.Manifest(t, dir), "after undo")
			w.noFailures()
		})
	}
}

// TestOverlapOfSessions: sessions wait for their own prompts only, and a sub-agent for its parent's.
func TestOverlapOfSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	r := overlapping(w, false)
	w.prompt("one", "1", "go")
	w.prompt("two", "2", "go")
	w.use("PreToolUse", "two", "Bash", "c1", map[string]string{"command": "true"})
	if len(r.work) != 1 || r.work["1"] == nil {
		t.Errorf("left: %d", len(r.work))
	}
	w.tell("PreToolUse", "one", map[string]any{"agent_id": "sub", "tool_name": "Bash", "tool_use_id": "c2", "tool_input": map[string]string{"command": "true"}})
	if len(r.work) != 0 {
		t.Errorf("a sub-agent did not wait for its parent's prompt")
	}
	w.noFailures()
}

// TestOverlapThatFails: the next call records a prompt that could not be recorded.
func TestOverlapThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	overlapping(w, false).fails = errors.New("no space")
	w.prompt("s", "1", "a question")
	w.prompt("s", "2", "go")
	w.use("PreToolUse", "s", "Bash", "c1", map[string]string{"command": "rm a"})
	w.sessions(func(all *session.Sessions) {
		history, err := all.History(t.Context(), "s")
		if err != nil || len(history) != 2 || history[0].Prompt != "a question" || history[1].Prompt != "go" || len(history[1].Steps) != 1 {
			t.Errorf("%+v, %v", history, err)
		}
	})
}

// TestOverlapNotBegun: where no ticket can be made the prompt's hook records the prompt.
func TestOverlapNotBegun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	r := overlapping(w, false)
	w.overlap.Begin = func(context.Context, session.SessionBegin, session.MessageBegin) (string, error) {
		return "", errors.New("no")
	}
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Bash", "c1", map[string]string{"command": "rm a"})
	w.sessions(func(all *session.Sessions) {
		if history, err := all.History(t.Context(), "s"); err != nil || len(history) != 1 || history[0].Prompt != "go" {
			t.Errorf("%+v, %v", history, err)
		}
	})
	if r.waited != 0 {
		t.Errorf("waited %d times", r.waited)
	}
}

// TestOverlapOfUnannouncedTools: a tool that is told of when it has run waits for the prompt's capture.
// The prompt is one message.
func TestOverlapOfUnannouncedTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "adapter", aTree())
	r := overlapping(w, false)
	w.neutralEvent(map[string]any{"event": "prompt", "message": "m", "prompt": "go"})
	w.neutralEvent(map[string]any{"event": "did", "call": "c", "tool": "execute"})
	if r.begun != 1 || len(r.work) != 0 {
		t.Errorf("begun %d, left %d", r.begun, len(r.work))
	}
	w.sessions(func(all *session.Sessions) {
		if history, err := all.History(t.Context(), "s"); err != nil || len(history) != 1 || history[0].Prompt != "go" {
			t.Errorf("%+v, %v", history, err)
		}
	})
	w.noFailures()
}

// TestOverlapWithoutPrompts: where each tool is a turn of its own, nothing is recorded in the background.
func TestOverlapWithoutPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, known.Crush, gittest.Tree{"del.txt": gittest.File("del\n"), "edit.txt": gittest.File("old\n")})
	r := overlapping(w, false)
	w.enact("crush/documented.jsonl")
	if r.begun != 0 {
		t.Errorf("%d prompts were recorded in the background", r.begun)
	}
	w.noFailures()
}

// TestOverlapDeadline: a tool waits for the prompt's capture until the hook's deadline and no
// longer; the step counts as missed, and the next tool waits again.
func TestOverlapDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		waited := 0
		overlap := &Overlap{
			Begin: func(context.Context, session.SessionBegin, session.MessageBegin) (string, error) { return "t", nil },
			Wait: func(ctx context.Context, _ string) error {
				waited++
				<-ctx.Done()
				return ctx.Err()
			},
		}
		opt := Options{Dir: filepath.Join(dir, "hooks"), Open: func(context.Context, string) (*Project, error) {
			return &Project{Root: "/x", Sessions: unknown{}, Overlap: overlap, Close: func() error { return nil }}, nil
		}}
		var out bytes.Buffer
		for n, payload := range []string{
			`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/x","prompt":"go","turn_id":"1"}`,
			`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/x","tool_name":"Bash"}`,
			`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/x","tool_name":"Bash"}`,
		} {
			began := time.Now()
			Handle(t.Context(), Codex, strings.NewReader(payload), &out, opt)
			if took, want := time.Since(began), min(time.Duration(n), 1)*DefaultDeadline; took != want {
				t.Errorf("call %d took %v, want %v", n, took, want)
			}
		}
		records, err := Records(opt.Dir)
		if err != nil || len(records) != 1 || records[0].Missed != 2 || !strings.HasPrefix(records[0].Failure, "not in time: ") || waited != 2 || out.Len() != 0 {
			t.Errorf("%+v, %v, waited %d times, %q", records, err, waited, out.String())
		}
	})
}

// unknown are sessions without one.
type unknown struct{ blocking }

func (unknown) Brief(context.Context, string) (*session.Session, error) {
	return nil, session.ErrNotFound
}

func (unknown) TakeNews(context.Context, string) (*session.News, error) { return nil, nil }

// TestOverlapOfEnds: what a tool changed is its step's and goes back, what the user changed before the next tool is
// the user's, and each step ends before the next one begins.
func TestOverlapOfEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	r := overlapping(w, true)
	w.prompt("s", "1", "go")
	for n, file := range []string{"one", "two"} {
		call := fmt.Sprint("c", n)
		w.use("PreToolUse", "s", "Bash", call, map[string]string{"command": "echo x > " + file})
		w.write(file, "x\n")
		w.use("PostToolUse", "s", "Bash", call, map[string]string{"command": "echo x > " + file})
		w.write("mine "+file, "mine\n")
	}
	w.tell("Stop", "s", nil)
	w.sessions(func(all *session.Sessions) {
		history, err := all.History(t.Context(), "s")
		if err != nil || len(history) != 1 || len(history[0].Steps) != 2 {
			t.Fatalf("%+v, %v", history, err)
		}
		for n, file := range []string{"one", "two"} {
			if st := &history[0].Steps[n]; st.Open() || len(st.Patch.Files) != 1 || filepath.Base(st.Patch.Files[0]) != file || len(st.Parts) == 0 || st.Parts[0].ID != fmt.Sprint("c", n) {
				t.Errorf("%+v", st)
			}
		}
	})
	if r.ended != 2 {
		t.Errorf("%d steps were ended in the background", r.ended)
	}
	w.prompted("s", "cairn undo")
	dir, want := t.TempDir(), aTree()
	want["mine one"], want["mine two"] = gittest.File("mine\n"), gittest.File("mine\n")
	gittest.Create(t, dir, want)
	w.isAs(gittest.Manifest(t, dir), "after undo")
	w.noFailures()
}

// TestOverlapOfEndsWaits: every event of the session waits for the end of its step: a typed undo takes it back, too.
func TestOverlapOfEndsWaits(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(w *world){
		"undo":    func(w *world) { w.prompted("s", "cairn undo") },
		"prompt":  func(w *world) { w.prompt("s", "2", "on") },
		"stop":    func(w *world) { w.tell("Stop", "s", nil) },
		"end":     func(w *world) { w.tell("SessionEnd", "s", nil) },
		"resumed": func(w *world) { w.tell("SessionStart", "s", map[string]any{"source": "resume"}) },
		"tool":    func(w *world) { w.use("PreToolUse", "s", "Bash", "c2", map[string]string{"command": "true"}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, Codex, aTree())
			before := w.manifest()
			r := overlapping(w, false)
			w.prompt("s", "1", "go")
			w.use("PreToolUse", "s", "Bash", "c1", map[string]string{"command": "rm a"})
			w.shell("rm a")
			w.use("PostToolUse", "s", "Bash", "c1", map[string]string{"command": "rm a"})
			if len(r.work) != 1 {
				t.Fatalf("%d ends are under way", len(r.work))
			}
			next(w)
			for id := range r.work {
				if strings.HasPrefix(id, "end ") {
					t.Error("the step was not waited for")
				}
			}
			if name == "undo" {
				w.isAs(before, "after undo")
			}
			w.noFailures()
		})
	}
}

// TestOverlapOfEndsThatFail: a step whose end fails stays open and takes in what comes next, so that nothing is lost
// of what an undo can take back.
func TestOverlapOfEndsThatFail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	before := w.manifest()
	r := overlapping(w, false)
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Bash", "c1", map[string]string{"command": "rm a"})
	w.shell("rm a")
	w.use("PostToolUse", "s", "Bash", "c1", map[string]string{"command": "rm a"})
	r.fails = errors.New("no space")
	w.use("PreToolUse", "s", "Bash", "c2", map[string]string{"command": "rm b"})
	w.shell("rm b")
	r.fails = nil
	w.use("PostToolUse", "s", "Bash", "c2", map[string]string{"command": "rm b"})
	w.tell("Stop", "s", nil)
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
}

// TestOverlapOfEndsThatDoNotBegin: a hook ends a step itself where no ticket can be made, and for an adapter, which
// wants the step in the answer.
func TestOverlapOfEndsThatDoNotBegin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Codex, aTree())
	r := overlapping(w, false)
	w.overlap.End = func(session.StepEnd) (string, error) { return "", errors.New("no") }
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Bash", "c1", map[string]string{"command": "rm a"})
	w.shell("rm a")
	w.use("PostToolUse", "s", "Bash", "c1", map[string]string{"command": "rm a"})
	adapter := newWorld(t, "adapter", aTree())
	other := overlapping(adapter, false)
	adapter.neutralEvent(map[string]any{"event": "prompt", "message": "m", "prompt": "go"})
	adapter.neutralEvent(map[string]any{"event": "before", "call": "c", "tool": "bash"})
	if got := adapter.neutralEvent(map[string]any{"event": "after", "call": "c", "tool": "bash"}); got.After == "" {
		t.Errorf("%+v", got)
	}
	if len(r.work) != 0 || r.ended+other.ended != 0 {
		t.Errorf("left %d, ended %d", len(r.work), r.ended+other.ended)
	}
	w.sessions(func(all *session.Sessions) {
		if history, err := all.History(t.Context(), "s"); err != nil || len(history) != 1 || len(history[0].Steps) != 1 || history[0].Steps[0].Open() {
			t.Errorf("%+v, %v", history, err)
		}
	})
	w.noFailures()
	adapter.noFailures()
}

// TestOverlapOfALateEnd: the end of a turn's last step takes longer than the hooks of its stop and of the next prompt
// have. The next turn is one of its own: an undo takes back what it changed, and no more.
func TestOverlapOfALateEnd(t *testing.T) {
	t.Parallel()
	killed := func(context.Context, string) (*session.Step, error) { return nil, errors.New("killed") }
	for name, c := range map[string]struct {
		prompt, tool func(context.Context, string) (*session.Step, error) // what they hear of the end; nil = it ends
	}{
		"ended meanwhile": {outOfTime, nil},
		"killed":          {outOfTime, killed},
		"killed, and the prompt has no time to end it": {killed, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, Codex, aTree())
			r := overlapping(w, false)
			for _, wait := range []*func(context.Context, string) (*session.Step, error){&c.prompt, &c.tool} {
				if *wait == nil {
					*wait = r.waitEnd
				}
			}
			w.prompt("s", "1", "first")
			w.use("PreToolUse", "s", "Bash", "c1", map[string]string{"command": "echo x > one"})
			w.write("one", "x\n")
			w.use("PostToolUse", "s", "Bash", "c1", map[string]string{"command": "echo x > one"})
			w.overlap.WaitEnd = outOfTime
			w.late("Stop", nil)
			w.overlap.WaitEnd = c.prompt
			w.late("UserPromptSubmit", map[string]any{"prompt": "second", "turn_id": "2"})
			w.overlap.WaitEnd = c.tool
			w.use("PreToolUse", "s", "Bash", "c2", map[string]string{"command": "echo x > two"})
			w.overlap.WaitEnd = r.waitEnd
			w.write("two", "x\n")
			w.use("PostToolUse", "s", "Bash", "c2", map[string]string{"command": "echo x > two"})
			w.tell("Stop", "s", nil)
			w.sessions(func(all *session.Sessions) {
				history, err := all.History(t.Context(), "s")
				if err != nil || len(history) != 2 || history[0].Prompt != "first" || history[1].Prompt != "second" || len(history[0].Steps) != 1 || len(history[1].Steps) != 1 {
					t.Errorf("%+v, %v", history, err)
				}
			})
			for _, want := range []string{"two", "one"} {
				if out := w.tell("UserPromptSubmit", "s", map[string]any{"prompt": "cairn undo", "turn_id": "u-" + want}); !strings.Contains(out, "took back 1 turn: 1 deleted") || !strings.Contains(out, want) {
					t.Errorf("undo of %s: %s", want, out)
				}
			}
		})
	}
}

// late sends an event of Codex whose call is over before what it waits for.
func (w *world) late(name string, fields map[string]any) {
	w.Helper()
	payload := map[string]any{"hook_event_name": name, "session_id": "s", "cwd": w.root}
	maps.Copy(payload, fields)
	text, err := json.Marshal(payload)
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(w.Context())
	defer cancel(nil)
	open := func(ctx context.Context, dir string) (*Project, error) {
		p, err := w.open(ctx, dir)
		if err == nil {
			p.Sessions = endless{p.Sessions}
		}
		return p, err
	}
	Handle(context.WithValue(ctx, endCall{}, cancel), w.agent, bytes.NewReader(text), io.Discard, Options{Dir: filepath.Join(w.data, "hooks"), Open: open, Pause: w.pauses})
}

// endless are sessions in which the end of a step takes longer than a call has.
type endless struct{ service.Sessions }

func (endless) EndStep(ctx context.Context, _ session.StepEnd) (*session.Step, error) {
	return outOfTime(ctx, "")
}

// endCall is the key of what ends a call.
type endCall struct{}

// outOfTime is the wait for an end during which the call ends.
func outOfTime(ctx context.Context, _ string) (*session.Step, error) {
	ctx.Value(endCall{}).(context.CancelCauseFunc)(context.DeadlineExceeded)
	<-ctx.Done()
	return nil, ctx.Err()
}
