package hooks

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/session"
)

// Codex and Qwen Code name the model in what they send, adapters too. Claude Code and Gemini CLI write
// it into their own records of a session, with each answer of the model. The form of the records is
// private to them: where nothing is found, the model is not known.

const (
	modelTail = 256 << 10 // of a record, in bytes: the answer that called a tool stands at its end
	maxModel  = 100       // bytes of a name
)

// nameModel adds the model to the metadata of a session or of a step. A sub-agent may have another one
// than its parent, whose record does not tell.
func (h *hook) nameModel(meta map[string]string) {
	model := h.model
	if h.parent == "" {
		if model == "" && h.dialogue != "" {
			model = modelIn(h.dialogue)
		}
		if model == "" {
			model = h.turn.Model
		}
		h.turn.Model = model
	}
	if model != "" {
		meta[session.MetaModel] = cutText(model, maxModel)
	}
}

// modelIn is the model of the last answer in a record of one JSON object a line, "" for none.
func modelIn(path string) string {
	tail, err := readTail(path, modelTail)
	if err != nil {
		return ""
	}
	lines := slices.Collect(bytes.Lines(tail))
	for _, line := range slices.Backward(lines) {
		if !bytes.Contains(line, []byte(`"model"`)) {
			continue
		}
		var entry struct {
			Model   string `json:"model"` // Gemini CLI
			Message struct {
				Model string `json:"model"` // Claude Code
			} `json:"message"`
		}
		if json.Unmarshal(line, &entry) != nil {
			continue
		}
		for _, model := range []string{entry.Message.Model, entry.Model} {
			if model != "" && !strings.HasPrefix(model, "<") { // <synthetic> answers are Claude Code's own
				return model
			}
		}
	}
	return ""
}
