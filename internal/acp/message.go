package acp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// message is one message of JSON-RPC, as far as it is looked at.
type message struct {
	ID     json.RawMessage `json:"id"` // null counts, nil = none
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`

	whole []byte // the line, nil if it is longer than what is kept
}

func (m *message) request() bool  { return m.Method != "" && m.ID != nil }
func (m *message) response() bool { return m.Method == "" && m.ID != nil }

// key names a request until its response comes.
func (m *message) key() string { return string(bytes.TrimSpace(m.ID)) }

// decode reads the messages of a digest: one, or those of a batch. Other lines have none.
func decode(d *digest, whole []byte) []*message {
	text := bytes.TrimSpace(d.data)
	if d.lost || len(text) == 0 {
		return nil
	}
	if text[0] == '[' {
		var batch []*message
		if json.Unmarshal(text, &batch) != nil {
			return nil
		}
		return slices.DeleteFunc(batch, func(m *message) bool { return m == nil })
	}
	m := &message{whole: whole}
	if json.Unmarshal(text, m) != nil {
		return nil
	}
	return []*message{m}
}

// params are the parameters of all methods that are looked at.
type params struct {
	Session string `json:"sessionId"`
	Dir     string `json:"cwd"`
	Path    string `json:"path"`

	Directories []string `json:"additionalDirectories"`

	Prompt json.RawMessage `json:"prompt"` // of session/prompt: a list of blocks
	Update *update         `json:"update"`

	ToolCall *update  `json:"toolCall"` // of session/request_permission
	Options  []option `json:"options"`

	Command  string   `json:"command"` // of terminal/create
	Args     []string `json:"args"`
	Terminal string   `json:"terminalId"`

	Request json.RawMessage `json:"requestId"` // of $/cancel_request
}

// update tells of a tool call, or lists the slash commands.
type update struct {
	Kind      string          `json:"sessionUpdate"`
	Call      string          `json:"toolCallId"`
	Tool      string          `json:"kind"`
	Title     string          `json:"title"`
	Status    string          `json:"status"`
	Input     json.RawMessage `json:"rawInput"`
	Locations []place         `json:"locations"`
	Content   json.RawMessage `json:"content"`

	Commands json.RawMessage `json:"availableCommands"`
}

type place struct {
	Path string `json:"path"`
}

type option struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// block is a part of a prompt or of the content of a tool call.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Path string `json:"path,omitempty"` // of a diff
}

// promptText joins the texts of a prompt.
func promptText(prompt json.RawMessage) string {
	var blocks []block
	if json.Unmarshal(prompt, &blocks) != nil {
		return ""
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// paths lists the paths that a tool call names.
func (u *update) paths() []string {
	var paths []string
	var blocks []block
	if json.Unmarshal(u.Content, &blocks) == nil {
		for _, b := range blocks {
			if b.Type == "diff" && b.Path != "" {
				paths = append(paths, b.Path)
			}
		}
	}
	for _, at := range u.Locations {
		if at.Path != "" {
			paths = append(paths, at.Path)
		}
	}
	return paths
}

// results are the results of all methods that are looked at.
type results struct {
	Session  string `json:"sessionId"`
	Version  int    `json:"protocolVersion"`
	Terminal string `json:"terminalId"`
	Agent    struct {
		Name string `json:"name"`
	} `json:"agentInfo"`
	Outcome struct {
		Outcome string `json:"outcome"`
		Option  string `json:"optionId"`
	} `json:"outcome"`
}

// read decodes as much as it can: a field that has another type than expected stays empty.
func read(data json.RawMessage, into any) {
	if len(data) > 0 {
		_ = json.Unmarshal(data, into)
	}
}
