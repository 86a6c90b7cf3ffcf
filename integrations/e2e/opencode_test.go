//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// opencode is a server of OpenCode and a client of its HTTP API.
type opencode struct {
	*sandbox
	address string
	client  *http.Client
	log     *bytes.Buffer
	end     func() // of the server
}

// startOpenCode starts the server with the plugin, or without it to show what
// OpenCode does by itself.
func startOpenCode(t *testing.T, plugin bool) *opencode {
	t.Helper()
	s, program := openCodeAgent(t, plugin)
	return startServer(t, s, program)
}

// startServer starts the server of OpenCode or of a program made from it.
func startServer(t *testing.T, s *sandbox, program string) *opencode {
	t.Helper()
	o := &opencode{sandbox: s, log: new(bytes.Buffer)}
	cmd := o.command(program, "serve", "--port", "0", "--hostname", "127.0.0.1", "--print-logs")
	cmd.Stderr = o.log
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = o.net.start(cmd)
	}
	if err != nil {
		t.Fatal(err)
	}
	o.end = sync.OnceFunc(func() { kill(cmd); cmd.Wait() })
	t.Cleanup(o.end)
	o.client = &http.Client{Timeout: agentBound, Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		err = o.net.do(func() (err error) { conn, err = new(net.Dialer).DialContext(ctx, network, address); return err })
		return conn, err
	}}}
	o.address = listening(t, stdout)
	return o
}

// openCodeAgent returns a sandbox with OpenCode, and its program.
func openCodeAgent(t *testing.T, plugin bool) (*sandbox, string) {
	t.Helper()
	modules := install(t, "opencode", openPackage)
	s := newSandbox(t)
	s.env = append(s.env, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	s.openConfig(".config/opencode/opencode.json")
	if plugin {
		s.cairn("setup", "opencode")
		s.pretendInstalled(".config/opencode", "@opencode-ai/plugin", "1.18.33")
	}
	return s, filepath.Join(modules, "opencode-linux-x64", "bin", "opencode")
}

// openConfig makes the model known to OpenCode, or to a program made from it.
func (s *sandbox) openConfig(path string) {
	s.jsonFile(path, object{
		"autoupdate": false, "share": "disabled", "model": "fake/fake", "small_model": "fake/fake", "enabled_providers": []string{"fake"},
		"permission": object{"read": "allow", "edit": "allow", "bash": "allow", "webfetch": "deny"},
		"provider": object{"fake": object{"npm": "@ai-sdk/openai-compatible", "name": "Fake",
			"options": object{"baseURL": s.model + "/v1", "apiKey": "made-up"},
			"models":  object{"fake": object{"name": "Fake", "tool_call": true, "limit": object{"context": 100000, "output": 8000}}}}},
	})
}

// pretendInstalled spares OpenCode the install of the plugin's types, for which it would
// wait more than a minute without a network.
func (s *sandbox) pretendInstalled(dir, name, version string) {
	s.file(dir+"/package.json", `{"dependencies":{"`+name+`":"`+version+`"}}`)
	s.file(dir+"/node_modules/"+name+"/package.json", `{"name":"`+name+`","version":"`+version+`"}`)
	s.file(dir+"/package-lock.json", `{"lockfileVersion":3,"packages":{"":{"dependencies":{"`+name+`":"`+version+`"}},`+
		`"node_modules/`+name+`":{"version":"`+version+`"}}}`)
}

// listening reads where the server listens, and drains the rest of its output.
func listening(t *testing.T, r io.Reader) string {
	t.Helper()
	found := make(chan string, 1)
	go func() {
		defer close(found)
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			if i := strings.Index(lines.Text(), "http://"); i >= 0 {
				select {
				case found <- strings.TrimSpace(lines.Text()[i:]):
				default:
				}
			}
		}
		if lines.Err() != nil { // a line that is too long
			io.Copy(io.Discard, r)
		}
	}()
	select {
	case address, ok := <-found:
		if ok {
			return address
		}
		t.Fatal("the server ended at once")
	case <-time.After(agentBound):
		t.Fatal("the server does not start")
	}
	return ""
}

// call sends a request; the answer goes into out.
func (o *opencode) call(method, path string, body, out any) {
	o.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		o.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(o.t.Context(), method, o.address+path, bytes.NewReader(data))
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := o.client.Do(req)
	if err != nil {
		o.t.Fatalf("%s %s: %v\n%s", method, path, err, last(o.log.Bytes(), 3000))
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 == 2 && out != nil {
		err = json.Unmarshal(answer, out)
	}
	if err != nil || res.StatusCode/100 != 2 {
		o.t.Fatalf("%s %s: %s, %v: %s", method, path, res.Status, err, last(answer, 1000))
	}
}

// chatSession is a session of OpenCode.
type chatSession struct {
	*opencode
	id string
}

type openMessage struct {
	Info  struct{ ID, Role string }
	Parts []struct{ ID, Type, Text, Tool string }
}

func (o *opencode) begin() *chatSession {
	o.t.Helper()
	var made struct{ ID string }
	o.call("POST", "/session", object{"title": "test"}, &made)
	return &chatSession{o, made.ID}
}

// play sends a prompt and returns the id of the user's message and the state after.
func (s *chatSession) play(turns script) (string, gittest.Listing) {
	s.t.Helper()
	s.call("POST", "/session/"+s.id+"/message", object{
		"model": object{"providerID": "fake", "modelID": "fake"}, "parts": []object{{"type": "text", "text": turns.prompt(s.t)}},
	}, nil)
	prompt := ""
	for _, m := range s.messages() {
		if m.Info.Role == "user" {
			prompt = m.Info.ID
		}
	}
	return prompt, s.state()
}

func (s *chatSession) messages() (list []openMessage) {
	s.t.Helper()
	s.call("GET", "/session/"+s.id+"/message", nil, &list)
	return list
}

func (s *chatSession) revert(message, part string) {
	s.t.Helper()
	body := object{"messageID": message}
	if part != "" {
		body["partID"] = part
	}
	s.call("POST", "/session/"+s.id+"/revert", body, nil)
}

func (s *chatSession) unrevert() {
	s.t.Helper()
	s.call("POST", "/session/"+s.id+"/unrevert", object{}, nil)
}

// TestOpenCodeUndo: OpenCode's own undo and redo bring the files along, exactly, in
// the cases in which its own snapshots lose work: renames (R08), empty directories
// (R19), nested repositories (R01, R02), names that are not ASCII (R29), deletions on
// redo (R35), a file in the place of a directory (R47).
func TestOpenCodeUndo(t *testing.T) {
	needTier(t, 2)
	o := startOpenCode(t, true)
	s := o.begin()
	second, one := s.undoAndRedo()
	o.workedWith("fake")
	if snapshots, _ := filepath.Glob(filepath.Join(o.home, ".local/share/opencode/snapshot/*")); len(snapshots) > 0 {
		t.Errorf("OpenCode takes its own snapshots, too: %q", snapshots)
	}

	// A new prompt makes an undo final, and the next undo is the new turn's.
	s.revert(second, "")
	s.becomes("undo before a new prompt", one)
	third, _ := s.play(script{write("third.txt", "3\n"), "the third turn is done"})
	want := s.state()
	s.revert(third, "")
	delete(want, "third.txt")
	s.becomes("undo of the new turn", want)
	gittest.AssertEqual(t, "the undo that became final", one, want)
}

// undoAndRedo plays two turns, takes both back and brings them back. It returns the second
// prompt, and the project after the first turn.
func (s *chatSession) undoAndRedo() (second string, one gittest.Listing) {
	s.t.Helper()
	before := s.state()
	first, one := s.play(s.firstTurn(false))
	second, two := s.play(s.secondTurn(false))
	if gittest.Diff(before, one) == "" || gittest.Diff(one, two) == "" {
		s.t.Fatal("a turn changed nothing")
	}
	s.revert(second, "")
	s.becomes("undo", one)
	s.revert(first, "")
	s.becomes("undo again", before)
	s.revert(second, "")
	s.becomes("redo", one)
	s.unrevert()
	s.becomes("redo again", two)
	return second, one
}

// TestOpenCodeKeepsTheUsers: what the user wrote since stays (R31, R33, R34).
func TestOpenCodeKeepsTheUsers(t *testing.T) {
	needTier(t, 2)
	o := startOpenCode(t, true)
	s := o.begin()
	message, _ := s.play(script{write("agent.txt", "agent\n"), shell("rm gone.txt"), "done"})
	gittest.Create(t, o.project, gittest.Tree{"users.txt": gittest.File("mine\n")})
	all := o.state()
	undone := o.state()
	delete(undone, "agent.txt")
	undone["gone.txt"] = begin.Listing()["gone.txt"]
	s.revert(message, "")
	s.becomes("undo", undone)
	s.unrevert()
	s.becomes("redo", all)
}

// TestOpenCodePart goes back to the middle of a turn.
func TestOpenCodePart(t *testing.T) {
	needTier(t, 2)
	o := startOpenCode(t, true)
	s := o.begin()
	message, _ := s.play(script{write("one.txt", "1\n"), write("two.txt", "2\n"), "done"})
	want := o.state()
	delete(want, "two.txt")
	answer, part := "", ""
	for _, m := range s.messages() {
		for _, p := range m.Parts {
			if p.Type == "tool" {
				answer, part = m.Info.ID, p.ID
			}
		}
	}
	if part == "" {
		t.Fatal("no tool was called")
	}
	// OpenCode keeps the part only if something visible stands before it in its
	// message; otherwise it goes back to the prompt.
	s.revert(answer, part)
	var info struct {
		Revert struct{ MessageID, PartID string }
	}
	s.call("GET", "/session/"+s.id, nil, &info)
	if info.Revert.PartID == "" {
		delete(want, "one.txt")
		if info.Revert.MessageID != message {
			t.Fatalf("reverted to %+v", info.Revert)
		}
	}
	s.becomes("undo of a part", want)
}

// TestOpenCodeSubAgent: what a sub-agent has done goes back with the turn that called
// it (R25).
func TestOpenCodeSubAgent(t *testing.T) {
	needTier(t, 2)
	o := startOpenCode(t, true)
	before := o.state()
	s := o.begin()
	inner := script{write("inner.txt", "from the sub-agent\n"), shell("rm gone.txt; mv é1.txt é3.txt"), "the sub-agent is done"}
	message, after := s.play(script{write("outer.txt", "outer\n"), op{Task: inner.prompt(t)}, "done"})
	if diff := gittest.Diff(before, after); !strings.Contains(diff, "inner.txt") || !strings.Contains(diff, "é3.txt") {
		t.Fatalf("the sub-agent did not write:\n%s", diff)
	}
	s.revert(message, "")
	s.becomes("undo", before)
	s.unrevert()
	s.becomes("redo", after)
}

// TestOpenCodeSubTask: a command that runs as a sub-task (/review) goes back as a turn does.
// The plugin's hooks know its call by another name than the messages.
func TestOpenCodeSubTask(t *testing.T) {
	needTier(t, 2)
	o := startOpenCode(t, true)
	before := o.state()
	s := o.begin()
	inner := script{write("inner.txt", "from the sub-task\n"), "the sub-task is done"}
	s.call("POST", "/session/"+s.id+"/command", object{"command": "review", "arguments": inner.prompt(t), "model": "fake/fake"}, nil)
	after := s.state()
	if diff := gittest.Diff(before, after); !strings.Contains(diff, "inner.txt") {
		t.Fatalf("the sub-task did not write:\n%s", diff)
	}
	s.revert(s.messages()[0].Info.ID, "")
	s.becomes("undo", before)
	s.unrevert()
	s.becomes("redo", after)
}

// TestOpenCodeFork: a fork can take back what it has inherited.
func TestOpenCodeFork(t *testing.T) {
	needTier(t, 2)
	o := startOpenCode(t, true)
	before := o.state()
	s := o.begin()
	s.play(s.firstTurn(false))
	var made struct{ ID string }
	o.call("POST", "/session/"+s.id+"/fork", object{}, &made)
	fork := &chatSession{o, made.ID}
	_, two := fork.play(s.secondTurn(false))
	list := fork.messages()
	fork.revert(list[0].Info.ID, "")
	fork.becomes("the fork takes back everything", before)
	fork.unrevert()
	fork.becomes("and brings it back", two)
}

// TestOpenCodeWithoutCairn shows that the scenario is one in which OpenCode's own undo
// loses work; should it stop doing so, the plugin could do less.
func TestOpenCodeWithoutCairn(t *testing.T) {
	needTier(t, 2)
	startOpenCode(t, false).losesWork()
}

// losesWork plays a turn and takes it back without cairn.
func (o *opencode) losesWork() {
	o.t.Helper()
	before := o.state()
	s := o.begin()
	first, _ := s.play(s.firstTurn(false))
	s.revert(first, "")
	diff := gittest.Diff(before, o.state())
	if diff == "" {
		o.t.Error("its own undo has brought everything back")
	}
	o.t.Logf("what its own undo leaves wrong:\n%s", diff)
}
