package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/hooks"
	recorded "github.com/seed-fb9cbc17/cairn/session"
)

func TestMain(m *testing.M) {
	gittest.Prepare()
	m.Run()
}

// stage has an editor and an agent, both played by the test, and the proxy between them.
type stage struct {
	*testing.T
	dir    string // the project
	data   string
	editor *end
	agent  *end
	ended  chan struct{}

	mu      sync.Mutex
	events  []map[string]any                 // that were recorded
	before  func(event map[string]any)       // called before an event is carried out
	fake    func(map[string]any) (any, bool) // answers instead of the hooks
	told    []string
	carried int        // events that have been carried out
	change  *sync.Cond // of carried
}

// end is an end of the proxy: what the test writes there, and the lines that arrive.
type end struct {
	t   *testing.T
	in  io.WriteCloser
	out chan string
}

func newStage(t *testing.T, tree gittest.Tree) *stage {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, dir: filepath.Join(top, "project"), data: filepath.Join(top, "data"), ended: make(chan struct{})}
	s.change = sync.NewCond(&s.mu)
	gittest.Create(t, s.dir, tree)
	return s
}

// later is a proxy that starts in the same project.
func (s *stage) later() *stage {
	later := newStage(s.T, nil)
	later.dir, later.data = s.dir, s.data
	return later.start()
}

// start lets the proxy run. The streams are pipes without a buffer.
func (s *stage) start() *stage {
	fromEditor, editorIn := io.Pipe()
	editorOut, toEditor := io.Pipe()
	agentIn, toAgent := io.Pipe()
	fromAgent, agentOut := io.Pipe()
	s.editor, s.agent = &end{s.T, editorIn, lines(editorOut)}, &end{s.T, agentOut, lines(agentIn)}
	go func() {
		defer close(s.ended)
		defer toEditor.Close()
		Run(context.WithoutCancel(s.Context()), Streams{fromEditor, toEditor, toAgent, fromAgent}, Options{Record: s.record, Name: "fake", Tell: s.tell})
	}()
	s.Cleanup(func() {
		agentOut.Close()
		<-s.ended
		editorIn.Close()
	})
	return s
}

func lines(r io.Reader) chan string {
	out := make(chan string, 1000)
	go func() {
		defer close(out)
		b := bufio.NewReader(r)
		for {
			text, err := b.ReadString('\n')
			if text != "" {
				out <- text
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

func (s *stage) tell(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, text)
}

func (s *stage) record(ctx context.Context, agent string, data []byte) []byte {
	defer func() {
		s.mu.Lock()
		s.carried++
		s.change.Broadcast()
		s.mu.Unlock()
	}()
	var e map[string]any
	if err := json.Unmarshal(data, &e); err != nil {
		s.Errorf("event %s: %v", data, err)
	}
	e["agent"] = agent
	s.mu.Lock()
	s.events = append(s.events, e)
	before, fake := s.before, s.fake
	s.mu.Unlock()
	if before != nil {
		before(e)
	}
	if fake != nil {
		if out, ok := fake(e); ok {
			return marshal(out)
		}
	}
	var out bytes.Buffer
	hooks.Handle(ctx, agent, bytes.NewReader(data), &out, hooks.Options{Dir: filepath.Join(s.data, "hooks"), Open: s.open})
	return out.Bytes()
}

func (s *stage) open(_ context.Context, dir string) (*hooks.Project, error) {
	repo, err := cairn.Open(cairn.Options{Root: dir, DataDir: s.data, NoSync: true})
	if err != nil {
		return nil, err
	}
	return &hooks.Project{Root: repo.Root(), Sessions: recorded.New(repo), Close: repo.Close}, nil
}

// carries waits until n events have been carried out.
func (s *stage) carries(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.carried < n {
		s.change.Wait()
	}
}

// names lists the names of the events so far.
func (s *stage) names() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, e := range s.events {
		names = append(names, e["event"].(string))
	}
	return strings.Join(names, " ")
}

// say writes a line.
func (e *end) say(text string) {
	e.t.Helper()
	if _, err := io.WriteString(e.in, text+"\n"); err != nil {
		e.t.Error(err)
	}
}

// hear returns the next line that arrives.
func (e *end) hear() string {
	e.t.Helper()
	text, ok := <-e.out
	if !ok {
		e.t.Fatal("the stream has ended")
	}
	return strings.TrimSuffix(text, "\n")
}

// hears wants the next line to be this one.
func (e *end) hears(want string) {
	e.t.Helper()
	if got := e.hear(); got != want {
		e.t.Fatalf("arrived: %.500s\nwanted:  %.500s", got, want)
	}
}

// pass wants a line to arrive as it was written.
func pass(from, to *end, text string) {
	from.t.Helper()
	from.say(text)
	to.hears(text)
}

// newSession opens a session in the project and takes the list of commands.
func (s *stage) newSession(id, dir string) {
	s.Helper()
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":"new `+id+`","method":"session/new","params":{"cwd":`+quote(dir)+`,"mcpServers":[]}}`)
	pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":"new `+id+`","result":{"sessionId":"`+id+`"}}`)
	if got := s.editor.hear(); !strings.Contains(got, "available_commands_update") || !strings.Contains(got, "cairn-undo") {
		s.Fatalf("after the session began: %s", got)
	}
}

func quote(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

func prompt(id, session, text string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"session/prompt","params":{"sessionId":"` + session + `","prompt":[{"type":"text","text":` + quote(text) + `}]}}`
}

func ends(id, reason string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"stopReason":"` + reason + `"}}`
}

func toolCall(session, call, kind, status string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + session + `","update":{"sessionUpdate":"tool_call","toolCallId":"` + call + `","title":"t","kind":"` + kind + `","status":"` + status + `"}}}`
}

func toolUpdate(session, call, status string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + session + `","update":{"sessionUpdate":"tool_call_update","toolCallId":"` + call + `","status":"` + status + `"}}}`
}

// turn opens the session s and plays a turn in which a tool writes a new file without asking.
func (s *stage) turn() {
	s.Helper()
	s.newSession("s", s.dir)
	pass(s.editor, s.agent, prompt("1", "s", "go"))
	s.write("new", "x\n")
	pass(s.agent, s.editor, toolCall("s", "c", "edit", "completed"))
	pass(s.agent, s.editor, ends("1", "end_turn"))
}

// command types a command and returns the text of its answer.
func (s *stage) command(id, session, text string) string {
	s.Helper()
	s.editor.say(prompt(id, session, text))
	said, reason := s.answer(id)
	if reason != "end_turn" {
		s.Errorf("%s ended with %q", text, reason)
	}
	return said
}

// undoElsewhere takes the newest turn back by another way than the proxy.
func (s *stage) undoElsewhere(session string) {
	s.Helper()
	repo, err := cairn.Open(cairn.Options{Root: s.dir, DataDir: s.data, NoSync: true})
	if err == nil {
		_, _, err = recorded.New(repo).UndoTurn(s.Context(), session, recorded.MoveOptions{})
		err = errors.Join(err, repo.Close())
	}
	if err != nil {
		s.Fatal(err)
	}
}

// answer takes the two lines of the answer to a command.
func (s *stage) answer(id string) (said, reason string) {
	s.Helper()
	var chunk struct {
		Params struct {
			Update struct {
				SessionUpdate string
				Content       struct{ Text string }
			}
		}
	}
	var end struct {
		ID     json.RawMessage
		Result struct{ StopReason string }
	}
	first, second := s.editor.hear(), s.editor.hear()
	if json.Unmarshal([]byte(first), &chunk) != nil || json.Unmarshal([]byte(second), &end) != nil || string(end.ID) != id ||
		chunk.Params.Update.SessionUpdate != "agent_message_chunk" {
		s.Fatalf("the answer to a command:\n%s\n%s", first, second)
	}
	return chunk.Params.Update.Content.Text, end.Result.StopReason
}

// write writes a file of the project, as a tool or the user does.
func (s *stage) write(path, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, path), []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) is(what string, want gittest.Listing) {
	s.Helper()
	if diff := gittest.Diff(want, gittest.Manifest(s.T, s.dir)); diff != "" {
		s.Errorf("%s:\n%s", what, diff)
	}
}

func (s *stage) event(name string) map[string]any {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.events, func(e map[string]any) bool { return e["event"] == name })
	if i < 0 {
		s.Fatalf("no event %s", name)
	}
	return s.events[i]
}
