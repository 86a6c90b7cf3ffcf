package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzDecode: whatever agents and adapters send, it is understood or refused.
func FuzzDecode(f *testing.F) {
	err := filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") {
			rel, _ := filepath.Rel("testdata", path)
			for _, r := range transcript(f, filepath.ToSlash(rel)) {
				f.Add(agentOf(path), []byte(r.Payload))
			}
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, payload := range []string{
		`{"event":"before","session":"s","cwd":"/p","call":"c","tool":"mcp__fs__write","input":{"path":"a","edits":[{"file_path":"b"}]}}`,
		`{"event":"undo","session":"s","cwd":"/p","count":-3}`,
		`{"event":"before","session":"s","cwd":"/p","tool":"apply_patch","input":"*** Begin Patch\n*** Move File: a -> b\n*** End Patch"}`,
	} {
		f.Add("opencode", []byte(payload))
	}
	f.Fuzz(func(t *testing.T, agent string, payload []byte) {
		e, err := decode(Agent(agent), payload)
		if err != nil {
			if e != nil || !errors.Is(err, errPayload) {
				t.Fatalf("%v, %v", e, err)
			}
			return
		}
		if e.kind != noise && (e.session == "" || len(e.session) > 1024 || !filepath.IsAbs(e.dir)) {
			t.Fatalf("%+v", e)
		}
		if e.said && e.kind != command {
			t.Fatalf("%+v", e)
		}
		for _, path := range e.paths {
			if e.kind != command && speaks(Agent(agent)) && !usablePath(path) {
				t.Fatalf("path %q", path)
			}
		}
		var out bytes.Buffer
		Handle(t.Context(), agent, bytes.NewReader(payload), &out, Options{Dir: t.TempDir(), Open: func(context.Context, string) (*Project, error) {
			return nil, os.ErrNotExist
		}})
		if out.Len() > 0 && !json.Valid(out.Bytes()) {
			t.Fatalf("printed %q", out.Bytes())
		}
	})
}

func agentOf(path string) string {
	agent := filepath.Base(filepath.Dir(path))
	return Agent(agent)
}
