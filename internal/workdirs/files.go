package workdirs

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// maxSettings bounds a file of settings, and recordEnd the end of a record that is read, in bytes.
const (
	maxSettings = 1 << 20
	recordHead  = 256 << 10
	recordEnd   = 1 << 20
)

// inSettings lists the directories of the agent's settings. A file that cannot be read lists none.
func (s *Sources) inSettings() (dirs []string) {
	for _, path := range s.Settings {
		data, err := readPart(path, 0, maxSettings)
		if err != nil || known.TooDeep(data) {
			continue
		}
		if data, err = hujson.Standardize(data); err != nil {
			continue
		}
		var file struct {
			Permissions struct {
				Directories []string `json:"additionalDirectories"`
			} `json:"permissions"`
			Context struct {
				Directories []string `json:"includeDirectories"`
			} `json:"context"`
		}
		json.Unmarshal(data, &file) // a value of another kind is none
		switch s.Agent {
		case known.Claude:
			dirs = append(dirs, file.Permissions.Directories...)
		case known.Gemini, known.Qwen:
			dirs = append(dirs, file.Context.Directories...)
		}
	}
	return dirs
}

// inRecord lists the directories that Codex noted last in its record of the session. The first line has those
// of the session's beginning, and each turn those of its own. The form of the record is private to Codex: where
// nothing is found in it, nothing is known.
func (s *Sources) inRecord() []string {
	if s.Agent != known.Codex || s.Record == "" {
		return nil
	}
	if dirs := lastRoots(readEnd(s.Record)); dirs != nil {
		return dirs
	}
	head, err := readPart(s.Record, 0, recordHead)
	if err != nil {
		return nil
	}
	return lastRoots(head)
}

// lastRoots reads the last line that has the roots of the workspace. A tool's output that quotes such a line is
// part of a JSON string.
func lastRoots(data []byte) []string {
	lines := slices.Collect(bytes.Lines(data))
	for _, line := range slices.Backward(lines) {
		if !bytes.Contains(line, []byte(`"runtime_workspace_roots":[`)) {
			continue
		}
		var entry struct {
			Type    string `json:"type"`
			Payload struct {
				Roots []string `json:"runtime_workspace_roots"`
			} `json:"payload"`
		}
		if json.Unmarshal(line, &entry) == nil && (entry.Type == "session_meta" || entry.Type == "turn_context") {
			return entry.Payload.Roots
		}
	}
	return nil
}

func readEnd(path string) []byte {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	data, _ := readPart(path, max(0, info.Size()-recordEnd), recordEnd)
	return data
}

func readPart(path string, from, bound int64) ([]byte, error) {
	f, err := atomicfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, from, bound))
}
