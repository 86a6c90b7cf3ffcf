package session

import (
	"maps"

	"github.com/seed-fb9cbc17/cairn/internal/secrets"
)

// said is a text of the user, or of an agent about it, as it is stored.
func (s *Sessions) said(text string) string {
	if s.lines.NoMask() {
		return shorten(text)
	}
	return secrets.MaskBeginning(text, MaxPrompt)
}

// maskCommands masks the secrets of the commands of an event.
func (s *Sessions) maskCommands(ev *event) {
	if s.lines.NoMask() {
		return
	}
	ev.Meta = maskCommand(ev.Meta)
	var parts []Part
	for _, p := range ev.Parts {
		p.Meta = maskCommand(p.Meta)
		parts = append(parts, p)
	}
	ev.Parts = parts
}

// maskCommand returns the metadata of a step or of a part without secrets in the command of a tool.
func maskCommand(meta map[string]string) map[string]string {
	masked := secrets.Mask(meta[MetaCommand])
	if masked == meta[MetaCommand] {
		return meta
	}
	out := maps.Clone(meta)
	out[MetaCommand] = masked
	return out
}
