package hooks

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/session"
)

// editsOutside sends a transcript whose edit tool names a file in another directory, and writes there when
// the tool has been announced.
func (w *world) editsOutside(transcript, file string) {
	w.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(transcript)))
	if err != nil {
		w.Fatal(err)
	}
	quoted, _ := json.Marshal(file)
	text := bytes.Trim(quoted, `"`)
	data = bytes.ReplaceAll(data, []byte(recordedRoot+"/edit.txt"), text)
	data = bytes.ReplaceAll(data, []byte("Update File: edit.txt"), append([]byte("Update File: "), text...))
	data = bytes.ReplaceAll(data, []byte(`"path": "edit.txt"`), []byte(`"path": "`+string(text)+`"`))
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	written := false
	for lines.Scan() {
		var r struct{ Payload json.RawMessage }
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			w.Fatal(err)
		}
		w.send(string(w.here(r.Payload)))
		if !written && bytes.Contains(r.Payload, text) && bytes.Contains(r.Payload, []byte("NEW")) && !bytes.Contains(r.Payload, []byte(`"prompt":`)) {
			written = true
			w.writeAt(file, "NEW\n")
		}
	}
	if !written {
		w.Fatalf("no tool of %s names %s", transcript, file)
	}
}

// TestOutsideOfEveryAgent: the edit tool of each agent names a file outside the root before it runs, so the
// file is saved and goes back with Outside, by payloads that the agents sent, or say that they send.
func TestOutsideOfEveryAgent(t *testing.T) {
	t.Parallel()
	for agent, transcript := range map[string]string{
		Claude: "claude/basic.jsonl", Codex: "codex/gpt-5.5.jsonl", Gemini: "gemini/basic.jsonl", Qwen: "qwen/basic.jsonl",
		known.Copilot: "copilot/basic.jsonl", known.Droid: "droid/basic.jsonl", known.Cline: "cline/basic.jsonl",
		known.Cursor: "cursor/documented.jsonl", known.Goose: "goose/documented.jsonl", known.Crush: "crush/documented.jsonl",
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, agent, gittest.Tree{"del.txt": gittest.File("del\n"), "edit.txt": gittest.File("old\n"), "sub/deep": gittest.File("deep\n")})
			file := filepath.Join(w.outside(), "edit.txt")
			w.writeAt(file, "old\n")
			w.editsOutside(transcript, file)
			w.sessions(func(s *session.Sessions) { w.allBack(s, file) })
			if data, err := os.ReadFile(file); err != nil || string(data) != "old\n" {
				t.Errorf("the file is %q, %v", data, err)
			}
			w.noFailures()
		})
	}
}

// allBack takes all turns of the only session back, with what they changed outside.
func (w *world) allBack(s *session.Sessions, file string) {
	w.Helper()
	list, err := s.List(w.Context())
	if err != nil || len(list) != 1 {
		w.Fatalf("%+v, %v", list, err)
	}
	var changed []string
	messages, err := s.History(w.Context(), list[0].ID)
	if err != nil {
		w.Fatal(err)
	}
	for _, m := range messages {
		for _, st := range m.Steps {
			for _, c := range st.Outside {
				changed = append(changed, c.Change+" "+string(c.Path))
			}
		}
	}
	if strings.Join(changed, ", ") != "modified "+file {
		w.Errorf("the steps changed %q outside", changed)
	}
	for {
		_, _, err := s.UndoTurn(w.Context(), list[0].ID, session.MoveOptions{EndOpen: true, Outside: true})
		if errors.Is(err, cairn.ErrNotFound) {
			return
		}
		if err != nil {
			w.Fatal(err)
		}
	}
}

// TestOutsideOfTheShell: a command saves what its words name as written to, before it runs. What it reads is
// not saved, and neither is what it does not name.
func TestOutsideOfTheShell(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	dir := w.outside()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"into", "removed", "edited", "read", "unnamed"} {
		w.writeAt(at(name), "old\n")
	}
	command := "cat " + at("read") + " > " + at("into") + "; sed -i s/old/new/ " + at("edited") + " && rm " + at("removed") + "; cp a " + at("made")
	w.prompt("s", "1", "go")
	w.use("PreToolUse", "s", "Bash", "c", map[string]string{"command": command})
	for _, name := range []string{"into", "edited", "made", "unnamed"} {
		w.writeAt(at(name), "new one\n")
	}
	if err := os.Remove(at("removed")); err != nil {
		t.Fatal(err)
	}
	w.tell("PostToolUse", "s", map[string]any{"tool_name": "Bash", "tool_use_id": "c", "tool_input": map[string]string{"command": command}})
	w.tell("Stop", "s", nil)
	preview := w.prompted("s", "cairn undo --outside --dry-run")
	said := w.prompted("s", "cairn undo --outside")
	for _, text := range []string{preview, said} {
		if !strings.Contains(text, "restored "+at("into")) || !strings.Contains(text, "restored "+at("removed")) || !strings.Contains(text, "deleted "+at("made")) || strings.Contains(text, "read") {
			t.Errorf("said %q", text)
		}
	}
	for name, want := range map[string]string{"into": "old\n", "removed": "old\n", "edited": "old\n", "read": "old\n", "unnamed": "new one\n"} {
		if data, err := os.ReadFile(at(name)); err != nil || string(data) != want {
			t.Errorf("%s is %q, %v", name, data, err)
		}
	}
	if _, err := os.Lstat(at("made")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what the command made: %v", err)
	}
	if said := w.prompted("s", "cairn redo --outside"); !strings.Contains(said, "restored "+at("made")) {
		t.Errorf("redo said %q", said)
	}
}

// TestWritesOfCommands: which words of a command name files that it writes to.
func TestWritesOfCommands(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"cat a > b 2>> c < d":               "/r/b /r/c",
		"grep x y; mv a b && touch c":       "/r/a /r/b /r/c",
		"sed s/a/b/ x; sed -i.bak s/a/b/ y": "/r/s/a/b /r/y",
		"dd if=a of=/x/b":                   "/r/if=a /x/b",
		"cat /etc/hosts":                    "", "make > $OUT": "", "npm test": "",
	} {
		var got []string
		for _, m := range mentions("/r", "/home", line) {
			if m.writes {
				got = append(got, m.path)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q writes to %q, want %q", line, got, want)
		}
	}
}

// TestAPayloadThatIsNoJSON: the call ends without an answer and without a panic, and is logged.
func TestAPayloadThatIsNoJSON(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{Claude, Codex, Gemini, known.Cursor, "other"} {
		for _, payload := range []string{"no json", "", "null", "[]", `{"hook_event_name":7}`} {
			var out bytes.Buffer
			dir := t.TempDir()
			Handle(t.Context(), agent, strings.NewReader(payload), &out, Options{Dir: dir, Open: nil})
			log, _ := os.ReadFile(filepath.Join(dir, "hooks.log"))
			if bytes.Contains(log, []byte("panic")) || strings.Contains(out.String(), "panic") {
				t.Errorf("%s, %q: printed %q, log %s", agent, payload, out.String(), log)
			}
		}
	}
}

// TestOutsideOfTheNeutralProtocol: an adapter names paths outside in every way that the protocol has: in the input
// of a tool, absolute or from the current directory, in "paths", and among the words of a command. Each is saved
// before the tool runs and goes back, a credential is not saved, and a path that only "after" names stays.
func TestOutsideOfTheNeutralProtocol(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool, file string // FILE and REL stand for the file's path
		fields     string
		late       bool // only "after" has the fields
		stays      bool
	}{
		"input":              {tool: "write", fields: `"input":{"filePath":"FILE","content":"x"}`},
		"input from cwd":     {tool: "edit", fields: `"input":{"file_path":"REL"}`},
		"paths":              {tool: "mine", fields: `"paths":["FILE"]`},
		"paths from root":    {tool: "mine", fields: `"paths":["REL"]`},
		"paths and input":    {tool: "edit", fields: `"input":{"path":"a"},"paths":["a","FILE","FILE"]`},
		"patch":              {tool: "apply_patch", fields: `"input":"*** Begin Patch\n*** Update File: FILE\n*** End Patch"`},
		"command":            {tool: "bash", fields: `"input":{"command":"echo x > FILE"}`},
		"command from cwd":   {tool: "bash", fields: `"input":{"command":"cp a REL"}`},
		"command after a cd": {tool: "bash", fields: `"input":{"command":"cd REL/.. && rm -f edit.txt"}`},
		"command that reads": {tool: "bash", fields: `"input":{"command":"cat FILE"}`, stays: true},
		"reader":             {tool: "read", fields: `"input":{"filePath":"FILE"}`, stays: true},
		"credential":         {tool: "write", file: ".netrc", fields: `"input":{"filePath":"FILE"}`, stays: true},
		"after":              {tool: "write", fields: `"input":{"filePath":"FILE"}`, late: true, stays: true},
		"no path":            {tool: "write", fields: `"paths":["","/","..","../..",7,"a\u0000b"],"input":{"filePath":""}`, stays: true},
		"wrong types":        {tool: "write", fields: `"paths":"FILE","input":[["FILE"]]`, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "mine", aTree())
			file := filepath.Join(w.outside(), cmp.Or(c.file, "edit.txt"))
			w.writeAt(file, "old\n")
			rel, err := filepath.Rel(w.root, file)
			if err != nil {
				t.Fatal(err)
			}
			plain := func(path string) string { return strings.Trim(string(marshaled(t, filepath.ToSlash(path))), `"`) }
			fields := strings.NewReplacer("FILE", plain(file), "REL", plain(rel)).Replace(c.fields)
			event := func(name, more string) string {
				return w.send(`{"event":"` + name + `","session":"s","cwd":` + string(marshaled(t, w.root)) + `,"message":"m","call":"c","tool":"` + c.tool + `"` + more + `}`)
			}
			event("prompt", `,"prompt":"go"`)
			before := "," + fields
			if c.late {
				before = ""
			}
			event("before", before)
			w.write("a", "changed\n")
			w.writeAt(file, "new\n")
			event("after", ","+fields)
			event("stop", "")
			out := event("typed", `,"prompt":"cairn undo --outside"`)
			want := "old\n"
			if c.stays {
				want = "new\n"
			}
			if data, err := os.ReadFile(file); err != nil || string(data) != want || !strings.Contains(out, `"handled":true`) {
				t.Errorf("the file is %q, %v, want %q; undo said %s", data, err, want, out)
			}
			if want == "old\n" && !strings.Contains(out, plain(file)) {
				t.Errorf("undo does not name the file: %s", out)
			}
		})
	}
}

func marshaled(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestAnAdapterMovesWhatLiesOutside: the events that take back and bring back have the paths outside with "outside"
// alone, and a dry run lists them.
func TestAnAdapterMovesWhatLiesOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "mine", aTree())
	file := filepath.Join(w.outside(), "edit.txt")
	w.writeAt(file, "old\n")
	event := func(name string, more map[string]any) string {
		all := map[string]any{"event": name, "session": "s", "cwd": w.root, "message": "m"}
		for key, value := range more {
			all[key] = value
		}
		return w.send(string(marshaled(t, all)))
	}
	event("prompt", map[string]any{"prompt": "go"})
	event("before", map[string]any{"call": "c", "tool": "write", "paths": []string{file}})
	w.write("a", "changed\n")
	w.writeAt(file, "new\n")
	event("after", map[string]any{"call": "c", "tool": "write"})
	event("stop", nil)
	for _, move := range []struct {
		event   string
		outside bool
		want    string
	}{
		{"undo", false, "new\n"}, {"redo", false, "new\n"}, {"undo", true, "old\n"}, {"redo", true, "new\n"},
		{"revert", false, "new\n"}, {"unrevert", false, "new\n"}, {"revert", true, "old\n"}, {"unrevert", true, "new\n"},
	} {
		fields := map[string]any{"outside": move.outside, "dryRun": true}
		if out := event(move.event, fields); strings.Contains(out, `"outside":{`) != move.outside {
			t.Errorf("a dry run of %s, outside %v, says %s", move.event, move.outside, out)
		}
		delete(fields, "dryRun")
		out := event(move.event, fields)
		if data, err := os.ReadFile(file); err != nil || string(data) != move.want || !strings.Contains(out, `"ok":true`) {
			t.Errorf("after %s, outside %v: %q, %v, %s", move.event, move.outside, data, err, out)
		}
	}
}
