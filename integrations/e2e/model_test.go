//go:build linux

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A script is what the model is going to do, one element for each of its turns: a
// text, an op, or several ops at once. It travels in the prompt, so that the server
// keeps no state and one serves all tests.
type script []any

// op is one thing that the model does with whatever tools the agent has declared.
type op struct {
	Write string `json:"write,omitempty"` // path
	Edit  string `json:"edit,omitempty"`  // path
	Read  string `json:"read,omitempty"`  // path
	Shell string `json:"shell,omitempty"` // command line
	Task  string `json:"task,omitempty"`  // prompt for a sub-agent
	Code  string `json:"code,omitempty"`  // script that calls other tools
	After bool   `json:"after,omitempty"` // of a shell command: the agent leaves it running

	Text string `json:"text,omitempty"` // to write
	Old  string `json:"old,omitempty"`  // to replace
	New  string `json:"new,omitempty"`
}

func write(path, text string) op            { return op{Write: path, Text: text} }
func edit(path, old, replacement string) op { return op{Edit: path, Old: old, New: replacement} }
func read(path string) op                   { return op{Read: path} }
func shell(line string) op                  { return op{Shell: line} }

// prompt is a text that no agent rewrites: words, and one without any special
// character.
func (s script) prompt(t testing.TB) string {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return "please play SCRIPT-" + base64.RawURLEncoding.EncodeToString(data) + "-END now"
}

// named are the scripts that a prompt only names: a person types little.
var named sync.Map

// short is a prompt that is typed.
func (s script) short(t testing.TB) string {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	name := newID("ACT")
	named.Store(name, data)
	return "please play " + name + " now"
}

// scriptName matches a prompt as it was typed, on a line of its own. The answers of cairn quote
// prompts, and Claude Code passes them on in the user's name: a quoted prompt is no wish. An undo of
// OpenCode puts its prompt into the input box, where the next one is appended to it.
var scriptName = regexp.MustCompile(`(?m)^\s*(?:please play ACT_\d{8} now)*please play (ACT_\d{8}) now\s*$`)

var scriptText = regexp.MustCompile(`SCRIPT-([A-Za-z0-9_-]*)-END`)

// readScript finds the last script in a text.
func readScript(text string) []json.RawMessage {
	if names := scriptName.FindAllStringSubmatch(text, -1); names != nil {
		var turns []json.RawMessage
		if data, ok := named.Load(names[len(names)-1][1]); ok && json.Unmarshal(data.([]byte), &turns) == nil {
			return turns
		}
	}
	found := scriptText.FindAllStringSubmatch(text, -1)
	if found == nil {
		return nil
	}
	var turns []json.RawMessage
	data, err := base64.RawURLEncoding.DecodeString(found[len(found)-1][1])
	if err != nil || json.Unmarshal(data, &turns) != nil {
		return nil
	}
	return turns
}

// message is one of a request, in the terms of no protocol.
type message struct{ role, text string }

// tool is one that the agent has declared.
type tool struct {
	name, kind string
	schema     schema
}

type schema struct {
	Properties map[string]struct {
		Type any   `json:"type"`
		Enum []any `json:"enum"`
	} `json:"properties"`
	Required []string `json:"required"`
}

// call is a tool call of the model's answer; raw is for tools that take plain text.
type call struct {
	id, name string
	args     map[string]any
	raw      string
}

// reply is the model's answer.
type reply struct {
	text  string
	calls []call
}

var lastID atomic.Int64

func newID(prefix string) string { return fmt.Sprintf("%s_%08d", prefix, lastID.Add(1)) }

// answer plays the script of the newest prompt that has one: its next turn is told by
// how often the model has answered since. Requests without tools want a title or the
// like.
func answer(messages []message, tools []tool) (reply, error) {
	var turns []json.RawMessage
	said := 0
	for i := len(messages) - 1; i >= 0 && turns == nil; i-- {
		switch messages[i].role {
		case "assistant":
			said++
		case "user":
			turns = readScript(messages[i].text)
		}
	}
	if turns == nil || len(tools) == 0 {
		return reply{text: "A title"}, nil
	}
	if said >= len(turns) {
		return reply{text: "the script is over"}, nil
	}
	return playTurn(turns[said], tools)
}

func playTurn(turn json.RawMessage, tools []tool) (reply, error) {
	var text string
	if json.Unmarshal(turn, &text) == nil {
		return reply{text: text}, nil
	}
	var ops []op
	if json.Unmarshal(turn, &ops) != nil {
		var one op
		if err := json.Unmarshal(turn, &one); err != nil {
			return reply{}, err
		}
		ops = []op{one}
	}
	var r reply
	for _, o := range ops {
		c, err := o.call(tools)
		if err != nil {
			return reply{}, err
		}
		c.id = newID("call")
		r.calls = append(r.calls, c)
	}
	return r, nil
}

// protocol is one way of speaking to a model.
type protocol struct {
	read  func(body []byte) (messages []message, tools []tool, stream bool, err error)
	write func(w *events, r reply, stream bool)
}

// startModel starts the model's server on loopback and returns its address. It counts the
// commands that are passed on to it.
func startModel(t testing.TB, n *network, asks *requests) string {
	t.Helper()
	var listener net.Listener
	err := n.do(func() (err error) {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: modelHandler(asks)}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return "http://" + listener.Addr().String()
}

func modelHandler(asks *requests) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		switch {
		case strings.HasSuffix(path, "/chat/completions"):
			serve(w, r, chat, false, asks)
		case strings.HasSuffix(path, "/responses"):
			serve(w, r, responses, false, asks)
		case strings.HasSuffix(path, "/messages"):
			serve(w, r, anthropic, false, asks)
		case strings.HasSuffix(path, ":generateContent"):
			serve(w, r, gemini, false, asks)
		case strings.HasSuffix(path, ":streamGenerateContent"):
			serve(w, r, gemini, true, asks)
		case strings.HasSuffix(path, "/count_tokens"), strings.HasSuffix(path, ":countTokens"):
			io.WriteString(w, `{"input_tokens":100,"totalTokens":100}`)
		case strings.HasSuffix(path, "/models"):
			io.WriteString(w, `{"object":"list","data":[{"id":"fake","object":"model","created":1,"owned_by":"fake"}],"models":[]}`)
		default:
			http.Error(w, `{"error":{"type":"not_found_error","message":"unknown"}}`, http.StatusNotFound)
		}
	})
}

func serve(w http.ResponseWriter, req *http.Request, p protocol, stream bool, asks *requests) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	messages, tools, wanted, err := p.read(body)
	if len(tools) > 0 {
		asks.note(messages)
	}
	if len(tools) > 0 && isCommand(messages) {
		asks.Add(1)
	}
	var r reply
	if err == nil {
		r, err = answer(messages, tools)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.write(&events{w: w}, r, stream || wanted)
}

var commandText = regexp.MustCompile(`(?m)^\s*/?cairn[ -]\w`)

// isCommand reports whether the newest prompt is one of cairn's commands. Agents repeat
// older prompts, and make requests of their own.
func isCommand(messages []message) bool {
	if len(messages) == 0 {
		return false
	}
	m := messages[len(messages)-1]
	return m.role == "user" && readScript(m.text) == nil && commandText.MatchString(m.text)
}

// events writes an answer, whole or as server-sent events.
type events struct {
	w     http.ResponseWriter
	begun bool
	n     int
}

type object = map[string]any

func (e *events) whole(v any) {
	e.w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(e.w).Encode(v)
}

// send sends one event; an empty name sends the data alone.
func (e *events) send(name string, v any) {
	if !e.begun {
		e.begun = true
		e.w.Header().Set("Content-Type", "text/event-stream")
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if name != "" {
		fmt.Fprintf(e.w, "event: %s\n", name)
	}
	fmt.Fprintf(e.w, "data: %s\n\n", data)
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}

// typed sends an event whose data repeat its name, numbered.
func (e *events) typed(name string, v object) {
	v["type"], v["sequence_number"] = name, e.n
	e.n++
	e.send(name, v)
}
