//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/integrations/conformance"
)

// TestConformance plays the scenarios of package conformance against the agents' own undo. It only
// reports: a loss is the agent's. CAIRN_CONFORMANCE_OUT names the directory for the results.
func TestConformance(t *testing.T) {
	t.Run("OpenCode", func(t *testing.T) {
		needTier(t, 2)
		o := startOpenCode(t, false)
		o.pretendInstalled(".config/opencode", "@opencode-ai/plugin", "1.18.33") // else each directory waits more than a minute
		reports(t, conformance.Report{Driver: "OpenCode", About: "OpenCode " + version(openPackage) + "; an undo is its own revert, over HTTP, as `/undo` does it."},
			func() conformance.Driver { return &openCodeDriver{opencode: o} })
	})
	t.Run("Claude Code", func(t *testing.T) {
		needTier(t, 1)
		a, _ := claude(t)
		a.env = append(a.env, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1")
		a.cairn("setup", "claude-code", "--remove")
		reports(t, conformance.Report{Driver: "Claude Code", About: "Claude Code " + version(claudePackage) + "; an undo is its own rewind of files (`rewind_files`, as `/rewind` does it). It has no redo."},
			func() conformance.Driver {
				return &claudeDriver{sandbox: a.sandbox, sessions: make(map[string]*claudeSession)}
			})
	})
}

// TestConformanceACP plays the scenarios against cairn acp, with an agent that asks before it writes
// and with the same agent when it does not ask. Its losses are cairn's.
func TestConformanceACP(t *testing.T) {
	for name, mode := range map[string]string{"asking": "default", "silent": "yolo"} {
		t.Run(name, func(t *testing.T) {
			needTier(t, 3)
			s, base := geminiAgent(t)
			base[len(base)-1] = mode
			e := openEditor(t, s, mode == "default", append(base, "--experimental-acp")...)
			about := "`cairn acp` with Gemini CLI " + version(geminiPackage) + " in its mode " + mode + "; an undo is `/cairn-undo`."
			reports(t, conformance.Report{Driver: "cairn acp, " + name, About: about},
				func() conformance.Driver { return &acpDriver{editor: e} })
		})
	}
}

// acpDriver drives sessions of an agent behind cairn acp.
type acpDriver struct {
	*editor
	dir      string
	sessions map[string]string // ids by the scenario's names
}

func (d *acpDriver) Start(dir string) error {
	d.dir, d.sessions = dir, make(map[string]string)
	return nil
}

// in lets prompts go to a session of the scenario.
func (d *acpDriver) in(name string) *editor {
	if d.sessions[name] == "" {
		d.sessions[name] = d.newSession(d.dir)
	}
	d.session = d.sessions[name]
	return d.editor
}

func (d *acpDriver) Turn(session string, ops []conformance.Op) error {
	if out := d.in(session).say(turnScript(d.dir, ops).prompt(d.t)); !strings.Contains(out.stdout, "the turn is over") {
		return fmt.Errorf("the script was not played to its end: %s", last([]byte(out.stdout), 300))
	}
	return nil
}

func (d *acpDriver) Undo(session string) error { d.in(session).say("/cairn-undo"); return nil }

func (d *acpDriver) Redo(session string) error { d.in(session).say("/cairn-redo"); return nil }

func (d *acpDriver) Stop() error { return nil }

func version(name string) string { return name[strings.LastIndexByte(name, '@')+1:] }

// reports plays all scenarios and writes the report. A driver that plays nothing proves nothing.
// CAIRN_CONFORMANCE_RUN selects scenarios, a regular expression; the report keeps its other results.
func reports(t *testing.T, r conformance.Report, driver func() conformance.Driver) {
	t.Helper()
	list, dir := conformance.Scenarios(), os.Getenv("CAIRN_CONFORMANCE_OUT")
	if run := os.Getenv("CAIRN_CONFORMANCE_RUN"); run != "" {
		was, err := conformance.Load(dir, r.Driver)
		if err != nil {
			t.Fatal(err)
		}
		r.Results = was.Results
		list = slices.DeleteFunc(list, func(s conformance.Scenario) bool { return !regexp.MustCompile(run).MatchString(s.Name) })
	} else if dir == "" {
		list = list[:3]
	}
	played := 0
	for i := range slices.Backward(list) { // a run that is ended early has the scenarios of which less is known
		res := conformance.Run(t.TempDir(), list[i:i+1], driver)[0]
		t.Log(res)
		if res.Outcome == conformance.Keeps || res.Outcome == conformance.Loses {
			played++
		}
		r.Add(res)
		if err := save(dir, r); err != nil {
			t.Fatal(err)
		}
	}
	if played == 0 {
		t.Error("no scenario was played")
	}
}

func save(dir string, r conformance.Report) error {
	if dir == "" {
		return nil
	}
	return errors.Join(conformance.Save(dir, []conformance.Report{r}), conformance.WriteTable(dir))
}

// turnScript is a turn of a scenario as a script of the model.
func turnScript(dir string, ops []conformance.Op) script {
	at := func(path string) string { return filepath.Join(dir, path) }
	var s script
	for _, op := range ops {
		switch {
		case op.Write != "":
			s = append(s, write(at(op.Write), op.Text))
		case op.Edit != "":
			s = append(s, read(at(op.Edit)), edit(at(op.Edit), op.Old, op.New))
		default:
			s = append(s, shell(op.Shell))
		}
	}
	return append(s, "the turn is over")
}

// openCodeDriver drives one directory of an OpenCode server.
type openCodeDriver struct {
	*opencode
	dir      string
	sessions map[string]*openTurns
}

// openTurns are the user's messages of a session; those from at on are taken back.
type openTurns struct {
	id       string
	messages []string
	at       int
}

func (d *openCodeDriver) Start(dir string) error {
	d.dir, d.sessions = dir, make(map[string]*openTurns)
	return nil
}

func (d *openCodeDriver) ask(method, path string, body, out any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.address+path+"?directory="+url.QueryEscape(d.dir), bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := d.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return err
	case res.StatusCode/100 != 2:
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, last(answer, 300))
	case out == nil:
		return nil
	}
	return json.Unmarshal(answer, out)
}

func (d *openCodeDriver) Turn(session string, ops []conformance.Op) error {
	s := d.sessions[session]
	if s == nil {
		var made struct{ ID string }
		if err := d.ask("POST", "/session", object{"title": session}, &made); err != nil {
			return err
		}
		s = &openTurns{id: made.ID}
		d.sessions[session] = s
	}
	err := d.ask("POST", "/session/"+s.id+"/message", object{
		"model": object{"providerID": "fake", "modelID": "fake"}, "parts": []object{{"type": "text", "text": turnScript(d.dir, ops).prompt(d.t)}},
	}, nil)
	if err != nil {
		return err
	}
	var list []openMessage
	if err := d.ask("GET", "/session/"+s.id+"/message", nil, &list); err != nil {
		return err
	}
	s.messages = nil
	for _, m := range list {
		if m.Info.Role == "user" {
			s.messages = append(s.messages, m.Info.ID)
		}
	}
	s.at = len(s.messages)
	return nil
}

func (d *openCodeDriver) Undo(session string) error {
	s := d.sessions[session]
	if s == nil || s.at == 0 {
		return errors.New("no turn")
	}
	s.at--
	return d.ask("POST", "/session/"+s.id+"/revert", object{"messageID": s.messages[s.at]}, nil)
}

func (d *openCodeDriver) Redo(session string) error {
	s := d.sessions[session]
	if s == nil || s.at == len(s.messages) {
		return errors.New("nothing is taken back")
	}
	s.at++
	if s.at == len(s.messages) {
		return d.ask("POST", "/session/"+s.id+"/unrevert", object{}, nil)
	}
	return d.ask("POST", "/session/"+s.id+"/revert", object{"messageID": s.messages[s.at]}, nil)
}

func (d *openCodeDriver) Stop() error { return nil }

// claudeDriver drives Claude Code with a process for each session.
type claudeDriver struct {
	*sandbox
	dir      string
	sessions map[string]*claudeSession
}

type claudeSession struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	messages []string
	asked    int
}

func (d *claudeDriver) Start(dir string) error {
	d.dir = dir
	return nil
}

// uuidOf is a new id.
func uuidOf() string {
	id := fmt.Sprintf("%012x", time.Now().UnixNano())
	return "01234567-89ab-4cde-8f01-" + id[len(id)-12:]
}

func (d *claudeDriver) session(name string) (*claudeSession, error) {
	if s := d.sessions[name]; s != nil {
		return s, nil
	}
	cmd := d.command(filepath.Join(cacheDir(), "claude", "node_modules/@anthropic-ai/claude-code-linux-x64/claude"), "-p", "--model", "claude-sonnet-4-5",
		"--session-id", uuidOf(), "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--replay-user-messages")
	cmd.Dir = d.dir
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = d.net.start(cmd)
	}
	if err != nil {
		return nil, err
	}
	s := &claudeSession{cmd: cmd, in: in, out: bufio.NewReader(out)}
	d.sessions[name] = s
	return s, nil
}

// ask sends a line and waits for one of a type. A program that hangs is killed.
func (s *claudeSession) ask(request object, want string) (object, error) {
	timer := time.AfterFunc(agentBound, func() { kill(s.cmd) })
	defer timer.Stop()
	data, err := json.Marshal(request)
	if err == nil {
		_, err = s.in.Write(append(data, '\n'))
	}
	for err == nil {
		var line []byte
		var answer object
		if line, err = s.out.ReadBytes('\n'); json.Unmarshal(line, &answer) == nil && answer["type"] == want {
			return answer, nil
		}
	}
	return nil, fmt.Errorf("no %s: %w", want, err)
}

func (d *claudeDriver) Turn(session string, ops []conformance.Op) error {
	s, err := d.session(session)
	if err != nil {
		return err
	}
	id := uuidOf()
	s.messages = append(s.messages, id)
	_, err = s.ask(object{"type": "user", "uuid": id, "session_id": "", "parent_tool_use_id": nil,
		"message": object{"role": "user", "content": []object{{"type": "text", "text": turnScript(d.dir, ops).prompt(d.t)}}}}, "result")
	return err
}

func (d *claudeDriver) Undo(session string) error {
	s := d.sessions[session]
	if s == nil || len(s.messages) == 0 {
		return errors.New("no turn")
	}
	s.asked++
	id := s.messages[len(s.messages)-1]
	s.messages = s.messages[:len(s.messages)-1]
	answer, err := s.ask(object{"type": "control_request", "request_id": fmt.Sprint("rewind ", s.asked),
		"request": object{"subtype": "rewind_files", "user_message_id": id, "dry_run": false}}, "control_response")
	if err != nil {
		return err
	}
	if response, _ := answer["response"].(map[string]any); response["subtype"] == "error" {
		return fmt.Errorf("%v", response["error"])
	}
	return nil
}

func (d *claudeDriver) Redo(string) error { return conformance.ErrUnsupported }

func (d *claudeDriver) Stop() error {
	for _, s := range d.sessions {
		s.in.Close()
		kill(s.cmd)
		s.cmd.Wait() // it was killed
	}
	return nil
}
