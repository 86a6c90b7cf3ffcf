//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestClaudeRewind: Claude Code's own rewind leaves what its shell commands did (R24).
// What it has left, cairn takes back.
func TestClaudeRewind(t *testing.T) {
	needTier(t, 1)
	a, _ := claude(t)
	a.env = append(a.env, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1")
	before := a.state()
	at := a.at(true)
	cmd := a.command(filepath.Join(cacheDir(), "claude", "node_modules/@anthropic-ai/claude-code-linux-x64/claude"), "-p", "--model", "claude-sonnet-4-5",
		"--session-id", uuid+"3", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--replay-user-messages")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = a.net.start(cmd)
	}
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(agentBound, func() { kill(cmd) })
	t.Cleanup(func() { timer.Stop(); kill(cmd) })
	out := bufio.NewReader(stdout)
	ask := func(request object, want string) map[string]any {
		t.Helper()
		data, err := json.Marshal(request)
		if err == nil {
			_, err = stdin.Write(append(data, '\n'))
		}
		for err == nil {
			var line []byte
			var answer map[string]any
			if line, err = out.ReadBytes('\n'); json.Unmarshal(line, &answer) == nil && answer["type"] == want {
				return answer
			}
		}
		t.Fatalf("no %s: %v", want, err)
		return nil
	}
	play := script{write(at("new.txt"), "hello\n"), shell("echo made > made.txt; rm gone.txt"), "done"}
	ask(object{"type": "user", "uuid": uuid + "4", "session_id": "", "parent_tool_use_id": nil,
		"message": object{"role": "user", "content": []object{{"type": "text", "text": play.prompt(t)}}}}, "result")
	ask(object{"type": "control_request", "request_id": "r1",
		"request": object{"subtype": "rewind_files", "user_message_id": uuid + "4", "dry_run": false}}, "control_response")
	for path, there := range map[string]bool{"new.txt": false, "made.txt": true, "gone.txt": false} {
		if _, err := os.Stat(at(path)); (err == nil) != there {
			t.Errorf("after Claude Code's own rewind %s: %v", path, err)
		}
	}
	stdin.Close()
	cmd.Wait()
	a.cairn("session", "undo", uuid+"3")
	a.is("taken back by cairn", before)
}
