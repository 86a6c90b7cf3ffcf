//go:build linux

package e2e

import (
	"encoding/json"
	"strings"
)

// content is a text or a list of parts.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content(text)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return nil // something without a text
	}
	for _, p := range parts {
		*c += content(p.Text + "\n")
	}
	return nil
}

func arguments(c call) string {
	data, err := json.Marshal(c.args)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// chat is OpenAI's older protocol; pi, OpenCode and Qwen speak it here.
var chat = protocol{read: readChat, write: writeChat}

func readChat(body []byte) (messages []message, tools []tool, stream bool, err error) {
	var b struct {
		Stream   bool
		Messages []struct {
			Role    string
			Content content
		}
		Tools []struct {
			Function struct {
				Name       string
				Parameters schema
			}
		}
	}
	err = json.Unmarshal(body, &b)
	for _, m := range b.Messages {
		messages = append(messages, message{m.Role, string(m.Content)})
	}
	for _, t := range b.Tools {
		tools = append(tools, tool{name: t.Function.Name, schema: t.Function.Parameters})
	}
	return messages, tools, b.Stream, err
}

func writeChat(e *events, r reply, stream bool) {
	calls := []object{}
	for i, c := range r.calls {
		calls = append(calls, object{
			"index": i, "id": c.id, "type": "function", "function": object{"name": c.name, "arguments": arguments(c)},
		})
	}
	usage := object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	reason := "stop"
	if len(calls) > 0 {
		reason = "tool_calls"
	}
	base := func(choices ...object) object {
		return object{"id": newID("chat"), "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": choices}
	}
	if !stream {
		m := object{"role": "assistant", "content": r.text}
		if len(calls) > 0 {
			m["tool_calls"] = calls
		}
		out := base(object{"index": 0, "message": m, "finish_reason": reason})
		out["object"], out["usage"] = "chat.completion", usage
		e.whole(out)
		return
	}
	delta := func(d object, reason any) { e.send("", base(object{"index": 0, "delta": d, "finish_reason": reason})) }
	delta(object{"role": "assistant", "content": r.text}, nil)
	for _, c := range calls {
		delta(object{"tool_calls": []object{c}}, nil)
	}
	delta(object{}, reason)
	last := base()
	last["choices"], last["usage"] = []object{}, usage
	e.send("", last)
	e.w.Write([]byte("data: [DONE]\n\n"))
}

// responses is OpenAI's newer protocol; Codex speaks it.
var responses = protocol{read: readResponses, write: writeResponses}

func readResponses(body []byte) (messages []message, tools []tool, stream bool, err error) {
	var b struct {
		Stream bool
		Input  []struct {
			Type, Role string
			Content    content
		}
		Tools []struct {
			Type, Name string
			Parameters schema
		}
	}
	err = json.Unmarshal(body, &b)
	for _, item := range b.Input {
		role := item.Role
		switch {
		case strings.HasSuffix(item.Type, "_call_output"):
			role = "tool"
		case strings.HasSuffix(item.Type, "_call"):
			role = "assistant"
		case item.Type == "reasoning":
			continue
		}
		// A text and the calls that follow it are one answer.
		if n := len(messages); role == "assistant" && n > 0 && messages[n-1].role == role {
			continue
		}
		messages = append(messages, message{role, string(item.Content)})
	}
	for _, t := range b.Tools {
		tools = append(tools, tool{name: t.Name, kind: t.Type, schema: t.Parameters})
	}
	return messages, tools, b.Stream, err
}

func writeResponses(e *events, r reply, stream bool) {
	items := []object{}
	if r.text != "" {
		items = append(items, object{"type": "message", "id": newID("msg"), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": r.text, "annotations": []any{}}}})
	}
	for _, c := range r.calls {
		item := object{"type": "function_call", "id": newID("fc"), "call_id": c.id, "name": c.name, "arguments": arguments(c), "status": "completed"}
		if c.raw != "" {
			item = object{"type": "custom_tool_call", "id": newID("ctc"), "call_id": c.id, "name": c.name, "input": c.raw, "status": "completed"}
		}
		items = append(items, item)
	}
	id := newID("resp")
	response := func(status string, output []object) object {
		return object{"id": id, "object": "response", "created_at": 1, "status": status, "model": "fake", "output": output, "usage": object{
			"input_tokens": 10, "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens": 5, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 15,
		}}
	}
	if !stream {
		e.whole(response("completed", items))
		return
	}
	e.typed("response.created", object{"response": response("in_progress", []object{})})
	for i, item := range items {
		e.typed("response.output_item.added", object{"output_index": i, "item": item})
		if item["type"] == "message" {
			e.typed("response.output_text.delta", object{"item_id": item["id"], "output_index": i, "content_index": 0, "delta": r.text})
		}
		e.typed("response.output_item.done", object{"output_index": i, "item": item})
	}
	e.typed("response.completed", object{"response": response("completed", items)})
}

// anthropic is the protocol of Claude Code.
var anthropic = protocol{read: readAnthropic, write: writeAnthropic}

func readAnthropic(body []byte) (messages []message, tools []tool, stream bool, err error) {
	var b struct {
		Stream   bool
		Messages []struct {
			Role    string
			Content content
		}
		Tools []struct {
			Name   string
			Schema schema `json:"input_schema"`
		}
	}
	err = json.Unmarshal(body, &b)
	for _, m := range b.Messages {
		messages = append(messages, message{m.Role, string(m.Content)})
	}
	for _, t := range b.Tools {
		tools = append(tools, tool{name: t.Name, schema: t.Schema})
	}
	return messages, tools, b.Stream, err
}

func writeAnthropic(e *events, r reply, stream bool) {
	stop, blocks := "end_turn", []object{}
	if r.text != "" {
		blocks = append(blocks, object{"type": "text", "text": r.text})
	}
	for _, c := range r.calls {
		stop = "tool_use"
		blocks = append(blocks, object{"type": "tool_use", "id": c.id, "name": c.name, "input": c.args})
	}
	usage := object{"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	m := object{"id": newID("msg"), "type": "message", "role": "assistant", "model": "fake", "content": blocks,
		"stop_reason": stop, "stop_sequence": nil, "usage": usage}
	if !stream {
		e.whole(m)
		return
	}
	m["content"], m["stop_reason"] = []object{}, nil
	e.typed("message_start", object{"message": m})
	for i, block := range blocks {
		begin, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": r.text}
		if block["type"] == "tool_use" {
			input, err := json.Marshal(block["input"])
			if err != nil {
				panic(err)
			}
			begin = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
			delta = object{"type": "input_json_delta", "partial_json": string(input)}
		}
		e.typed("content_block_start", object{"index": i, "content_block": begin})
		e.typed("content_block_delta", object{"index": i, "delta": delta})
		e.typed("content_block_stop", object{"index": i})
	}
	e.typed("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 5}})
	e.typed("message_stop", object{})
}

// gemini is the protocol of Gemini CLI.
var gemini = protocol{read: readGemini, write: writeGemini}

func readGemini(body []byte) (messages []message, tools []tool, stream bool, err error) {
	var b struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text             string
				FunctionResponse any
			}
		}
		Tools []struct {
			FunctionDeclarations []struct {
				Name                 string
				Parameters           schema
				ParametersJsonSchema schema
			}
		}
	}
	err = json.Unmarshal(body, &b)
	for _, c := range b.Contents {
		m := message{role: "user"}
		if c.Role == "model" {
			m.role = "assistant"
		}
		for _, p := range c.Parts {
			m.text += p.Text + "\n"
			if p.FunctionResponse != nil {
				m.role = "tool"
			}
		}
		messages = append(messages, m)
	}
	for _, group := range b.Tools {
		for _, f := range group.FunctionDeclarations {
			s := f.Parameters
			if s.Properties == nil {
				s = f.ParametersJsonSchema
			}
			tools = append(tools, tool{name: f.Name, schema: s})
		}
	}
	return messages, tools, false, err
}

func writeGemini(e *events, r reply, stream bool) {
	parts := []object{}
	if r.text != "" {
		parts = append(parts, object{"text": r.text})
	}
	for _, c := range r.calls {
		parts = append(parts, object{"functionCall": object{"id": c.id, "name": c.name, "args": c.args}})
	}
	out := object{
		"responseId": newID("resp"), "modelVersion": "fake",
		"candidates":    []object{{"index": 0, "content": object{"role": "model", "parts": parts}, "finishReason": "STOP"}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
	}
	if stream {
		e.send("", out)
	} else {
		e.whole(out)
	}
}
