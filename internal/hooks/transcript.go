package hooks

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// Claude Code's terminal calls no hook when Esc ends a tool. Its transcript then holds a
// result of the call. The transcript's format is private to Claude Code: where nothing is
// found in it, the call counts as running, and the same command has to be typed again.

// transcriptTail bounds what is read of a transcript, in bytes. The results of the calls
// that ran last stand at its end.
const transcriptTail = 4 << 20

// hasResults reports whether a transcript holds a result of every call.
func hasResults(path string, calls []string) bool {
	tail, err := readTail(path, transcriptTail)
	if err != nil {
		return false
	}
	for _, call := range calls {
		if !hasResult(tail, call) {
			return false
		}
	}
	return len(calls) > 0
}

// hasResult looks for a line whose message has a result of the call. A text that quotes
// such a line is part of a JSON string and has its quotes escaped.
func hasResult(tail []byte, call string) bool {
	id, err := json.Marshal(call)
	if err != nil {
		return false
	}
	want := append([]byte(`"tool_use_id":`), id...)
	for line := range bytes.Lines(tail) {
		if bytes.Contains(line, want) && bytes.Contains(line, []byte(`"type":"tool_result"`)) {
			return true
		}
	}
	return false
}

func readTail(path string, bound int64) ([]byte, error) {
	f, err := atomicfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-bound), bound))
}
