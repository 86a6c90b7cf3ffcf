//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// editor is a client of the Agent Client Protocol. It grants what the agent asks for, writes and
// reads files for it and runs its commands in terminals.
type editor struct {
	*sandbox
	in      *json.Encoder
	log     bytes.Buffer // stderr of the agent
	session string
	last    int // id of the newest request

	mu        sync.Mutex
	answers   map[string]chan rpc
	said      strings.Builder // by the agent in this turn
	commands  []string        // slash commands
	asked     map[string]int  // requests of the agent, by method
	terminals map[string]*shellTerminal
}

type rpc struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

type shellTerminal struct {
	out  bytes.Buffer
	done chan struct{}
	code int
}

// openEditor starts an agent through cairn acp, as an editor does, and opens a session in the project.
func openEditor(t *testing.T, s *sandbox, capable bool, agent ...string) *editor {
	t.Helper()
	e := &editor{sandbox: s, answers: make(map[string]chan rpc), asked: make(map[string]int), terminals: make(map[string]*shellTerminal)}
	cmd := s.command(append([]string{cairnProgram, "acp", "--"}, agent...)...)
	cmd.Stderr = &e.log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = s.net.start(cmd)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); kill(cmd); cmd.Wait() })
	e.in = json.NewEncoder(in)
	go e.listen(bufio.NewReader(out))
	e.ask("initialize", object{"protocolVersion": 1, "clientCapabilities": object{
		"fs": object{"readTextFile": capable, "writeTextFile": capable}, "terminal": capable,
	}})
	e.session = e.newSession(s.project)
	return e
}

func (e *editor) newSession(dir string) string {
	e.t.Helper()
	made := e.ask("session/new", object{"cwd": dir, "mcpServers": []object{}})
	id, _ := made["sessionId"].(string)
	if id == "" {
		e.t.Fatalf("no session: %v", made)
	}
	return id
}

// ask sends a request and waits for the response.
func (e *editor) ask(method string, params object) object {
	e.t.Helper()
	data, err := json.Marshal(params)
	if err != nil {
		e.t.Fatal(err)
	}
	answer := make(chan rpc, 1)
	e.mu.Lock()
	e.last++
	id, _ := json.Marshal(e.last)
	e.answers[string(id)] = answer
	err = e.in.Encode(rpc{Version: "2.0", ID: id, Method: method, Params: data})
	e.mu.Unlock()
	if err != nil {
		e.t.Fatal(err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			e.t.Fatalf("%s: %s\nstderr: %s", method, m.Error, last(e.log.Bytes(), 3000))
		}
		result, _ := m.Result.(map[string]any)
		return result
	case <-time.After(agentBound):
		e.t.Fatalf("%s: no answer\nstderr: %s", method, last(e.log.Bytes(), 3000))
	}
	return nil
}

// say is a prompt and returns what the agent, or cairn, says.
func (e *editor) say(prompt string) output {
	e.t.Helper()
	e.mu.Lock()
	e.said.Reset()
	e.mu.Unlock()
	end := e.ask("session/prompt", object{"sessionId": e.session, "prompt": []object{{"type": "text", "text": prompt}}})
	e.mu.Lock()
	defer e.mu.Unlock()
	if end["stopReason"] != "end_turn" {
		e.t.Errorf("%s ended with %v", prompt, end)
	}
	return output{stdout: e.said.String(), stderr: e.log.String()}
}

func (e *editor) listen(r *bufio.Reader) {
	for {
		text, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var m rpc
		if json.Unmarshal(text, &m) != nil {
			continue
		}
		switch {
		case m.Method == "session/update":
			e.hear(m.Params)
		case m.Method != "" && m.ID != nil:
			go e.serve(m)
		case m.Method == "":
			e.mu.Lock()
			answer := e.answers[string(m.ID)]
			e.mu.Unlock()
			if answer != nil {
				answer <- m
			}
		}
	}
}

func (e *editor) hear(params json.RawMessage) {
	var p struct {
		Update struct {
			SessionUpdate     string
			Content           json.RawMessage
			AvailableCommands []struct{ Name string }
		}
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch p.Update.SessionUpdate {
	case "agent_message_chunk":
		var c struct{ Text string }
		if json.Unmarshal(p.Update.Content, &c) == nil {
			e.said.WriteString(c.Text)
		}
	case "available_commands_update":
		e.commands = nil
		for _, c := range p.Update.AvailableCommands {
			e.commands = append(e.commands, c.Name)
		}
	}
}

// serve answers a request of the agent.
func (e *editor) serve(m rpc) {
	var p struct {
		Path, Content, Command, Cwd, TerminalID string
		Args                                    []string
		Options                                 []struct{ OptionID, Kind string }
	}
	_ = json.Unmarshal(m.Params, &p)
	e.mu.Lock()
	e.asked[m.Method]++
	e.mu.Unlock()
	result := object{}
	switch m.Method {
	case "session/request_permission":
		result["outcome"] = object{"outcome": "cancelled"}
		for _, o := range p.Options {
			if strings.HasPrefix(o.Kind, "allow") {
				result["outcome"] = object{"outcome": "selected", "optionId": o.OptionID}
			}
		}
	case "fs/read_text_file":
		// A missing file is an empty one: after an error Gemini CLI 0.61.0 does not write it.
		data, _ := os.ReadFile(p.Path)
		result["content"] = string(data)
	case "fs/write_text_file":
		_ = os.MkdirAll(filepath.Dir(p.Path), 0o755)
		if err := os.WriteFile(p.Path, []byte(p.Content), 0o644); err != nil {
			e.t.Error(err)
		}
	case "terminal/create":
		result["terminalId"] = e.terminal(p.Command, p.Args, p.Cwd)
	case "terminal/wait_for_exit", "terminal/output":
		e.mu.Lock()
		term := e.terminals[p.TerminalID]
		e.mu.Unlock()
		<-term.done
		result = object{"exitCode": term.code, "output": term.out.String(), "truncated": false, "exitStatus": object{"exitCode": term.code}}
	case "terminal/release", "terminal/kill":
	default:
		e.reply(rpc{ID: m.ID, Error: json.RawMessage(`{"code":-32601,"message":"Method not found"}`)})
		return
	}
	e.reply(rpc{ID: m.ID, Result: result})
}

func (e *editor) reply(m rpc) {
	m.Version = "2.0"
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.in.Encode(m) // the agent may be gone
}

func (e *editor) terminal(command string, args []string, dir string) string {
	id := newID("term")
	term := &shellTerminal{done: make(chan struct{})}
	cmd := exec.Command(command, args...)
	if len(args) == 0 {
		cmd = exec.Command("bash", "-c", command)
	}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, e.env, &term.out, &term.out
	if dir == "" {
		cmd.Dir = e.project
	}
	e.mu.Lock()
	e.terminals[id] = term
	e.mu.Unlock()
	go func() {
		defer close(term.done)
		if cmd.Run() != nil {
			term.code = max(1, cmd.ProcessState.ExitCode())
		}
	}()
	return id
}

// offers wants cairn's commands among those of the agent.
func (e *editor) offers() {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if list := strings.Join(e.commands, " "); !strings.Contains(list, "cairn-undo cairn-redo") {
		e.t.Errorf("slash commands: %s", list)
	}
}

// goesBackAndForth plays two turns, undoes and redoes them with the session's own commands.
func (e *editor) goesBackAndForth() {
	e.t.Helper()
	a := &talker{sandbox: e.sandbox, abs: true, say: e.say}
	a.undoAndRedo()
	e.offers()
	one := e.state()
	if out := e.say("/cairn-undo"); !strings.Contains(out.stdout, "took back 1 turn") {
		e.t.Errorf("/cairn-undo says %q", out.stdout)
	}
	if out := e.say("/cairn-redo"); !strings.Contains(out.stdout, "brought back 1 turn") {
		e.t.Errorf("/cairn-redo says %q", out.stdout)
	}
	e.is("after /cairn-undo and /cairn-redo", one)
	if n := e.asks.Load(); n != 0 {
		e.t.Errorf("%d commands reached the model", n)
	}
	a.keepsTheUsers()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.t.Logf("requests of the agent: %v; slash commands: %v", e.asked, e.commands)
}

// TestGeminiACP: Gemini CLI as an editor starts it. By default it asks before each tool and has the
// editor write the files; in its mode yolo it does neither.
func TestGeminiACP(t *testing.T) {
	needTier(t, 3)
	for _, mode := range []string{"default", "yolo"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s, base := geminiAgent(t)
			base[len(base)-1] = mode
			openEditor(t, s, mode == "default", append(base, "--experimental-acp")...).goesBackAndForth()
		})
	}
}

// TestOpenCodeACP: OpenCode as an editor starts it. It runs its tools without asking.
func TestOpenCodeACP(t *testing.T) {
	needTier(t, 2)
	s, program := openCodeAgent(t, false)
	s.pretendInstalled(".config/opencode", "@opencode-ai/plugin", "1.18.33")
	openEditor(t, s, true, program, "acp").goesBackAndForth()
}

// TestQwenACP: Qwen Code as an editor starts it.
func TestQwenACP(t *testing.T) {
	needTier(t, 3)
	s, base := qwenAgent(t)
	openEditor(t, s, true, append(base, "--acp")...).goesBackAndForth()
}
