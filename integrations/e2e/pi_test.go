//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// piVersion is one of the versions that are tested.
type piVersion struct {
	name     string
	codemode bool // has a tool whose scripts call the others
	install  func(t *testing.T) (modules string)
}

var piVersions = []piVersion{
	{"newest", true, func(t *testing.T) string {
		return unpack(t, "pi", piPackage, piPackageOf("ai"), piPackageOf("agent-core"), jitiPackage, quickjsPackage, typescriptPackage, nodeTypesPackage)
	}},
	{"older", false, func(t *testing.T) string { return install(t, "pi-older", piOlder, typescriptPackage, nodeTypesPackage) }},
}

// piPackageOf is a package that declares types for pi's own.
func piPackageOf(part string) string { return strings.Replace(piPackage, "coding-agent", part, 1) }

// withPi runs a test with each version.
func withPi(t *testing.T, f func(t *testing.T, v piVersion)) {
	needTier(t, 1)
	for _, v := range piVersions {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			f(t, v)
		})
	}
}

// program is the script that the package names as its program.
func (v piVersion) program(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(v.install(t), "@earendil-works", "pi-coding-agent")
	var about struct{ Bin map[string]string }
	data, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err == nil {
		err = json.Unmarshal(data, &about)
	}
	if err != nil || about.Bin["pi"] == "" {
		t.Fatalf("no program in %s: %v", dir, err)
	}
	return filepath.Join(dir, about.Bin["pi"])
}

// pi is one run of pi that is driven over its protocol, and a user who answers what
// the extension asks.
type pi struct {
	*sandbox
	cmd   *exec.Cmd
	stdin io.Writer
	lines chan map[string]any

	mu     sync.Mutex
	answer bool     // to questions
	asked  []string // what was asked
	told   []string // what was notified
	id     int
}

// piArgs is the command line of pi with a made-up provider.
func (s *sandbox) piArgs(v piVersion, args ...string) []string {
	s.t.Helper()
	cli := v.program(s.t)
	s.jsonFile(".pi/agent/models.json", object{"providers": object{"fake": object{
		"baseUrl": s.model + "/v1", "api": "openai-completions", "apiKey": "made-up",
		"models": []object{{"id": "fake", "name": "Fake", "reasoning": false, "input": []string{"text"}, "contextWindow": 100000, "maxTokens": 8000,
			"cost": object{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}},
	}}})
	s.env = append(s.env, "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0", "PI_CODING_AGENT_DIR="+filepath.Join(s.home, ".pi/agent"))
	s.cairn("setup", "pi")
	return append([]string{filepath.Join(nodeDir(), "node"), cli, "--provider", "fake", "--model", "fake"}, args...)
}

func startPi(t *testing.T, v piVersion, args ...string) *pi {
	t.Helper()
	s := newSandbox(t)
	return s.startsPi(s.piArgs(v, append([]string{"--mode", "rpc"}, args...)...))
}

func (s *sandbox) startsPi(argv []string) *pi {
	t := s.t
	t.Helper()
	p := &pi{sandbox: s, lines: make(chan map[string]any, 1000), answer: true}
	p.cmd = p.command(argv...)
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.net.start(p.cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(p.cmd); p.cmd.Wait() })
	go p.listen(stdout)
	return p
}

// listen answers questions at once and passes everything else on.
func (p *pi) listen(r io.Reader) {
	defer close(p.lines)
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m map[string]any
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		if m["type"] != "extension_ui_request" {
			p.lines <- m
			continue
		}
		text, _ := m["message"].(string)
		p.mu.Lock()
		answer := p.answer
		switch m["method"] {
		case "confirm":
			p.asked = append(p.asked, text)
			p.send(object{"type": "extension_ui_response", "id": m["id"], "confirmed": answer})
		case "notify":
			p.told = append(p.told, text)
		}
		p.mu.Unlock()
	}
}

func (p *pi) send(v object) {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = p.stdin.Write(append(data, '\n'))
	}
	if err != nil {
		p.t.Errorf("pi does not listen: %v", err)
	}
}

// wait returns the next message that f accepts.
func (p *pi) wait(what string, f func(map[string]any) bool) map[string]any {
	p.t.Helper()
	bound := time.After(agentBound)
	for {
		select {
		case m, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("pi ended before %s", what)
			}
			if f(m) {
				return m
			}
		case <-bound:
			p.t.Fatalf("pi hung before %s; told %q", what, p.told)
		}
	}
}

// do sends a command and returns its answer's data.
func (p *pi) do(v object) map[string]any {
	p.t.Helper()
	p.id++
	id := "r" + string(rune('0'+p.id/10)) + string(rune('0'+p.id%10))
	v["id"] = id
	p.send(v)
	m := p.wait("the answer to "+v["type"].(string), func(m map[string]any) bool { return m["type"] == "response" && m["id"] == id })
	if m["success"] != true {
		p.t.Fatalf("%v: %v", v, m)
	}
	data, _ := m["data"].(map[string]any)
	return data
}

func (p *pi) play(s script) gittest.Listing {
	p.t.Helper()
	return p.turn(s.prompt(p.t))
}

// turn sends what begins a turn, waits until its last note is in the session, and returns
// the state then.
func (p *pi) turn(message string) gittest.Listing {
	p.t.Helper()
	p.do(object{"type": "prompt", "message": message})
	p.wait("the end of the turn", func(m map[string]any) bool { return m["type"] == "agent_settled" || m["type"] == "agent_end" })
	p.idle()
	return p.state()
}

// idle waits until pi says that it does nothing; handlers of agent_end are awaited
// before it does.
func (p *pi) idle() {
	p.t.Helper()
	deadline := time.Now().Add(agentBound)
	for p.do(object{"type": "get_state"})["isStreaming"] != false && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
}

func (p *pi) prompts() (ids []string) {
	p.t.Helper()
	list, _ := p.do(object{"type": "get_fork_messages"})["messages"].([]any)
	for _, m := range list {
		ids = append(ids, m.(map[string]any)["entryId"].(string))
	}
	return ids
}

func (p *pi) questions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// TestPiFork: forking to a prompt brings the files along, created ones go, deleted
// ones come back (R08, R19, R24, R29, R38 of the failure table), if the user says so.
func TestPiFork(t *testing.T) { withPi(t, piForks) }

func piForks(t *testing.T, v piVersion) {
	p := startPi(t, v)
	before := p.state()
	one := p.play(p.firstTurn(false))
	two := p.play(p.secondTurn(false))
	prompts := p.prompts()
	if len(prompts) != 2 {
		t.Fatalf("prompts %q", prompts)
	}
	file := p.do(object{"type": "get_state"})["sessionFile"]

	p.do(object{"type": "fork", "entryId": prompts[1]})
	p.is("forked to the second prompt", one)
	prompts = p.prompts()
	p.do(object{"type": "fork", "entryId": prompts[0]})
	p.is("forked to the first prompt", before)
	asked := p.questions()
	if len(asked) != 2 || !strings.Contains(asked[1], "create gone.txt") || !strings.Contains(asked[1], "delete new.txt") {
		t.Errorf("asked %q", asked)
	}

	// Back in the first session its files are offered, too.
	p.do(object{"type": "switch_session", "sessionPath": file})
	p.idle()
	p.is("switched back", two)

	// A user who says no keeps the files, and the fork goes on.
	p.mu.Lock()
	p.answer = false
	p.mu.Unlock()
	p.do(object{"type": "fork", "entryId": p.prompts()[0]})
	p.is("forked without the files", two)
	p.cairn("undo")
}

// TestPiExpired: a checkpoint that was cleaned away is a warning; the fork goes on.
func TestPiExpired(t *testing.T) { withPi(t, piExpires) }

func piExpires(t *testing.T, v piVersion) {
	p := startPi(t, v)
	one := p.play(p.firstTurn(false))
	p.must("rm", "-rf", filepath.Join(p.home, ".local/share/cairn/snapshot"))
	p.do(object{"type": "fork", "entryId": p.prompts()[0]})
	p.is("forked after the store was removed", one)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.ContainsFunc(p.told, func(s string) bool { return strings.Contains(s, "expired") }) || len(p.asked) > 0 {
		t.Errorf("told %q, asked %q", p.told, p.asked)
	}
}

// TestPiUndo types cairn's commands as prompts; the model is not asked.
func TestPiUndo(t *testing.T) { withPi(t, piUndoes) }

func piUndoes(t *testing.T, v piVersion) {
	p := startPi(t, v)
	before := p.state()
	one := p.play(p.firstTurn(false))
	two := p.play(p.secondTurn(false))
	p.workedWith("fake")
	for _, step := range []struct {
		typed string
		want  gittest.Listing
	}{{"cairn undo", one}, {"/cairn-undo", before}, {"cairn redo", one}, {"/cairn-redo", two}, {"cairn undo 2", before}} {
		p.do(object{"type": "prompt", "message": step.typed})
		p.becomes(step.typed, step.want)
	}
	if n := len(p.prompts()); n != 2 {
		t.Errorf("%d prompts reached the model", n)
	}
}

// TestPiTree: moving in the session's tree brings the files along.
func TestPiTree(t *testing.T) { withPi(t, piMovesInTree) }

func piMovesInTree(t *testing.T, v piVersion) {
	// The protocol has no command for it.
	p := startPi(t, v, "-e", extension(t, `pi.registerCommand("move", { handler: async (id, ctx) => void (await ctx.navigateTree(id)) })`))
	before := p.state()
	one := p.play(p.firstTurn(false))
	p.play(p.secondTurn(false))
	prompts := p.prompts()
	for i, want := range []gittest.Listing{before, one} {
		p.do(object{"type": "prompt", "message": "/move " + prompts[i]})
		p.becomes("moved before prompt "+prompts[i], want)
	}
	p.cairn("undo")
	p.cairn("undo")
}

// extension makes one of pi's extensions.
func extension(t *testing.T, body string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "extension.js")
	if err := os.WriteFile(path, []byte("export default (pi) => "+body), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPiWithoutPrompt: a run that an extension has started is a turn, too.
func TestPiWithoutPrompt(t *testing.T) {
	withPi(t, func(t *testing.T, v piVersion) {
		p := startPi(t, v, "-e", extension(t, `pi.registerCommand("go", { handler: async (content) =>
			pi.sendMessage({ customType: "test", content, display: true }, { triggerTurn: true }) })`))
		before := p.state()
		one := p.play(p.firstTurn(false))
		two := p.turn("/go " + p.secondTurn(false).prompt(t))
		if gittest.Diff(one, two) == "" {
			t.Fatal("the run changed nothing")
		}
		for _, want := range []gittest.Listing{one, before} {
			p.do(object{"type": "prompt", "message": "cairn undo"})
			p.becomes("after the undo", want)
		}
	})
}

// TestPiScripts: what the tools do that a script of the model calls, several at a time,
// goes back with its turn.
func TestPiScripts(t *testing.T) {
	withPi(t, func(t *testing.T, v piVersion) {
		if !v.codemode {
			t.Skip("this version has no scripts")
		}
		p := startPi(t, v, "--tools", "+codemode")
		before := p.state()
		after := p.play(script{op{Code: `await Promise.all([
			tools.write({ path: "new.txt", content: "new\n" }),
			tools.bash({ command: "rm gone.txt; mv move.txt moved.txt" }),
			tools.edit({ path: "edit.txt", edits: [{ oldText: "old", newText: "NEW" }] }),
		])`}, "the script has run"})
		if diff := gittest.Diff(before, after); !strings.Contains(diff, "new.txt") || !strings.Contains(diff, "moved.txt") || !strings.Contains(diff, "edit.txt") {
			t.Fatalf("the script did not run:\n%s", diff)
		}
		p.do(object{"type": "prompt", "message": "cairn undo"})
		p.becomes("after the undo", before)
		p.do(object{"type": "prompt", "message": "cairn redo"})
		p.becomes("after the redo", after)
	})
}

// TestPiWithoutUI: without a user interface pi cannot ask and works as ever, and the session has
// the checkpoints.
func TestPiWithoutUI(t *testing.T) { withPi(t, piPrints) }

func piPrints(t *testing.T, v piVersion) {
	s := newSandbox(t)
	args := s.piArgs(v, "-p")
	before := s.state()
	out := s.must(append(args, s.firstTurn(false).prompt(t))...)
	if !strings.Contains(out.stdout, "the first turn is done") {
		t.Errorf("stdout %q, stderr %q", out.stdout, out.stderr)
	}
	var list []struct{ ID string }
	if err := json.Unmarshal([]byte(s.cairn("--json", "session", "list").stdout), &list); err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	s.cairn("session", "undo", list[0].ID)
	s.is("undone from a shell", before)
}
