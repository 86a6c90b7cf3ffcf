package hooks

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/session"
)

// A transcript in testdata is what an agent's hooks were sent while it worked in
// /home/dev/project. A replay sends the same, and lets the tools of the transcript do
// their work in a real directory in between.

const recordedRoot = "/home/dev/project"

// record is one line of a transcript.
type record struct {
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
	Files   string          `json:"files"` // in the project at that time
}

// world is a project, a store, and the state of hooks.
type world struct {
	*testing.T
	agent      string
	root, data string
	opened     int // how often hooks opened the project
	retention  *cairn.Retention
	paused     func(pauses int) // what happens while a command waits, nil = nothing
	pauseCount int

	turns []gittest.Listing // the project when each prompt came

	overlap *Overlap
	asked   func(service.RequestKind)             // is told of the calls of sessions, nil = of none
	during  func(context.Context) context.Context // wraps the context of these calls, nil = not at all
	moved   map[string]bool                       // sessions with an undo or redo since their last prompt, which comes with a report
	report  string                                // that came with the last prompt
}

func newWorld(t *testing.T, agent string, tree gittest.Tree) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{T: t, agent: agent, root: filepath.Join(dir, "project"), data: filepath.Join(dir, "data")}
	gittest.Create(t, w.root, tree)
	real, err := filepath.EvalSymlinks(w.root)
	if err != nil {
		t.Fatal(err)
	}
	w.root = real
	return w
}

func (w *world) open(_ context.Context, dir string) (*Project, error) {
	w.opened++
	if dir != w.root {
		return nil, fmt.Errorf("opened %s", dir)
	}
	repo, err := cairn.Open(cairn.Options{Root: w.root, DataDir: w.data, NoSync: true, Retention: w.retention})
	if err != nil {
		return nil, err
	}
	p := &Project{Root: repo.Root(), Sessions: session.New(repo), Overlap: w.overlap, Close: repo.Close}
	if all := p.Sessions; w.asked != nil || w.during != nil {
		p.Sessions = service.Through(func(ctx context.Context, r service.Request, next service.Next) (any, error) {
			if w.asked != nil {
				w.asked(r.Kind)
			}
			if w.during != nil {
				ctx = w.during(ctx)
			}
			return next(ctx, all)
		})
	}
	return p, nil
}

// pauses takes no time.
func (w *world) pauses(context.Context, time.Duration) error {
	w.pauseCount++
	if w.paused != nil {
		w.paused(w.pauseCount)
	}
	return nil
}

// send is one call of the hook; it returns what went to stdout.
func (w *world) send(payload string) string {
	w.Helper()
	var out bytes.Buffer
	Handle(w.Context(), w.agent, strings.NewReader(payload), &out, Options{Dir: filepath.Join(w.data, "hooks"), Open: w.open, Pause: w.pauses})
	return out.String()
}

// sessions calls f with the sessions that the hooks have made.
func (w *world) sessions(f func(*session.Sessions)) {
	w.Helper()
	p, err := w.open(w.Context(), w.root)
	if err != nil {
		w.Fatal(err)
	}
	defer p.Close()
	f(p.Sessions.(*session.Sessions))
}

// noFailures checks that the log is empty.
func (w *world) noFailures() {
	w.Helper()
	if data, err := os.ReadFile(LogPath(filepath.Join(w.data, "hooks"))); err == nil {
		w.Errorf("hooks failed:\n%s", data)
	} else if !errors.Is(err, os.ErrNotExist) {
		w.Error(err)
	}
}

func (w *world) manifest() gittest.Listing { w.Helper(); return gittest.Manifest(w, w.root) }

func (w *world) isAs(want gittest.Listing, when string) {
	w.Helper()
	if diff := gittest.Diff(withoutTimes(want), withoutTimes(w.manifest())); diff != "" {
		w.Errorf("%s the project differs (- missing, + unexpected, ! changed):\n%s", when, diff)
	}
}

func withoutTimes(list gittest.Listing) gittest.Listing {
	out := make(gittest.Listing)
	for path, e := range list {
		e.MTime = 0
		out[path] = e
	}
	return out
}

// here puts the project's directory in the place of the recorded one.
func (w *world) here(text []byte) []byte {
	root, _ := json.Marshal(w.root)
	return bytes.ReplaceAll(text, []byte(recordedRoot), bytes.Trim(root, `"`))
}

func transcript(t testing.TB, path string) []record {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []record
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		list = append(list, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// replay sends a transcript of the agent. In some of them a session begins with files
// that an earlier transcript has left.
func replay(t *testing.T, agent, path string) *world {
	t.Helper()
	w, records := recorded(t, agent, path)
	w.play(records)
	return w
}

// recorded is the world in which a transcript begins.
func recorded(t *testing.T, agent, path string) (*world, []record) {
	t.Helper()
	records := transcript(t, path)
	tree := gittest.Tree{"del.txt": gittest.File("del\n"), "edit.txt": gittest.File("old\n"), "sub/deep": gittest.File("deep\n")}
	if files := strings.Fields(records[0].Files); len(files) > 0 {
		tree = gittest.Tree{}
		for _, name := range files {
			tree[name] = gittest.File(name + "\n")
		}
		tree["edit.txt"] = gittest.File("old\n")
		if slices.Contains(files, ".claude") {
			delete(tree, ".claude")
			tree[".claude/settings.json"] = gittest.File("{}\n")
		}
	}
	return newWorld(t, agent, tree), records
}

func (w *world) play(records []record) {
	w.Helper()
	for _, r := range records {
		if r.Event == "UserPromptSubmit" && !strings.Contains(string(r.Payload), `"prompt":""`) || r.Event == "BeforeAgent" {
			w.turns = append(w.turns, w.manifest())
		}
		want := ""
		if w.agent == Gemini {
			want = "{}\n"
		}
		if out := w.send(string(w.here(r.Payload))); out != want {
			w.Errorf("%s printed %q", r.Event, out)
		}
		if r.Event == "PreToolUse" || r.Event == "BeforeTool" {
			w.useTool(r.Payload)
		}
	}
}

// useTool does what a tool of the transcripts does.
func (w *world) useTool(payload json.RawMessage) {
	w.Helper()
	var call struct {
		Tool  string `json:"tool_name"`
		Input struct {
			Path    string `json:"file_path"`
			Content string `json:"content"`
			Old     string `json:"old_string"`
			New     string `json:"new_string"`
			Command string `json:"command"`
		} `json:"tool_input"`
	}
	if err := json.Unmarshal(w.here(payload), &call); err != nil {
		w.Fatal(err)
	}
	switch in := call.Input; call.Tool {
	case "Write", "write_file":
		w.write(in.Path, in.Content)
	case "Edit", "edit", "replace":
		w.edit(in.Path, in.Old, in.New)
	case "Bash", "run_shell_command":
		w.shell(in.Command)
	case "apply_patch":
		w.patch(in.Command)
	case "Read", "read_file", "Agent":
	default:
		w.Fatalf("what does %s do?", call.Tool)
	}
}

func (w *world) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.root, name)
}

func (w *world) write(name, content string) {
	w.Helper()
	if err := os.WriteFile(w.path(name), []byte(content), 0o644); err != nil {
		w.Fatal(err)
	}
}

func (w *world) edit(name, old, new string) {
	w.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		w.Fatal(err)
	}
	w.write(name, strings.Replace(string(data), old, new, 1))
}

// shell carries out the few commands of the transcripts. One that is killed in its
// sleep does nothing after it.
func (w *world) shell(line string) {
	w.Helper()
	if text, ok := strings.CutPrefix(line, "cat > 'new.txt' <<'FAKE_EOF'\n"); ok {
		w.write("new.txt", strings.TrimSuffix(text, "FAKE_EOF"))
		return
	}
	for command := range strings.SplitSeq(line, "; ") {
		words := strings.Fields(command)
		switch {
		case words[0] == "echo" && words[2] == ">":
			w.write(words[3], words[1]+"\n")
		case words[0] == "rm":
			if err := os.Remove(w.path(words[1])); err != nil {
				w.Fatal(err)
			}
		case words[0] == "sleep":
			return
		case words[0] == "exit":
		default:
			w.Fatalf("what does %s do?", command)
		}
	}
}

func (w *world) patch(text string) {
	w.Helper()
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if name, ok := strings.CutPrefix(line, "*** Add File: "); ok {
			w.write(name, lines[i+1][1:]+"\n")
		} else if name, ok := strings.CutPrefix(line, "*** Update File: "); ok {
			w.edit(name, lines[i+2][1:], lines[i+3][1:])
		}
	}
}

// step is what a test expects of one.
type step struct {
	changed string // names, in order
	hints   string
}

// history checks the turns of a session: for each the steps.
func (w *world) history(id string, want ...[]step) {
	w.Helper()
	w.sessions(func(s *session.Sessions) {
		list, err := s.History(w.Context(), id)
		if err != nil {
			w.Errorf("%s: %v", id, err)
			return
		}
		var got [][]step
		for _, m := range list {
			steps := []step{}
			for _, st := range m.Steps {
				if st.Open() {
					w.Errorf("step %s is open", st.ID)
				}
				steps = append(steps, step{w.names(st.Patch.Files), w.names(st.Paths)})
			}
			got = append(got, steps)
			if m.Role != session.RoleUser {
				w.Errorf("message %s has the role %q", m.ID, m.Role)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			w.Errorf("%s has the steps\n%q, not\n%q", id, got, want)
		}
	})
}

func (w *world) names(paths []string) string {
	var names []string
	for _, p := range paths {
		name, err := filepath.Rel(w.root, w.path(filepath.FromSlash(p)))
		if err != nil {
			w.Fatal(err)
		}
		names = append(names, filepath.ToSlash(name))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
