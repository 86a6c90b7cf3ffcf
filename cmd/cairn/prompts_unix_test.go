//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/reach"
)

// marker is in every prompt, title and command of the test.
const marker = "hunter2-marker"

// saying lets sessions come about by every door, with the marker in their texts.
func (s *seat) saying(marker string) {
	s.Helper()
	hook := func(agent, payload string) {
		s.Helper()
		text := strings.NewReplacer("MARK", marker, "DIR", s.project).Replace(payload)
		if _, errs, status := s.run(text, "hook", agent); status != cli.ExitDone {
			s.Fatalf("%s: %s", payload, errs)
		}
	}
	hook("claude-code", `{"hook_event_name":"UserPromptSubmit","session_id":"c","cwd":"DIR","prompt_id":"p1","prompt":"use MARK"}`)
	hook("claude-code", `{"hook_event_name":"PreToolUse","session_id":"c","cwd":"DIR","tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"echo MARK"}}`)
	s.write("one", "1")
	hook("claude-code", `{"hook_event_name":"PostToolBatch","session_id":"c","cwd":"DIR","tool_calls":[{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"echo MARK"}}]}`)
	hook("claude-code", `{"hook_event_name":"UserPromptSubmit","session_id":"c","cwd":"DIR","prompt":"cairn undo"}`)
	hook("claude-code", `{"hook_event_name":"UserPromptSubmit","session_id":"c","cwd":"DIR","prompt_id":"p2","prompt":"waits for a tool, MARK"}`)
	hook("pi", `{"event":"session","session":"d","cwd":"DIR","title":"MARK"}`)
	hook("pi", `{"event":"prompt","session":"d","cwd":"DIR","message":"m","prompt":"again MARK"}`)
	hook("pi", `{"event":"before","session":"d","cwd":"DIR","message":"m","call":"x","tool":"bash","input":{"command":"echo MARK > two"}}`)
	s.write("two", "2")
	hook("pi", `{"event":"after","session":"d","cwd":"DIR","message":"m","call":"x","tool":"bash"}`)
	s.must("session", "begin", "mine", "--title", marker)
	s.must("session", "message", "mine", "--message", "m1", "--role", "user", "--prompt", marker)
	ticket := strings.TrimSpace(s.must("session", "step", "begin", "mine", "--message", "m1", "--prompt", marker, "--meta", "command="+marker, "--async"))
	s.must("wait", ticket)
	s.write("three", "3")
	s.must("session", "step", "end", "mine")
	s.must("session", "fork", "mine", "other")
	s.must("run", "--", "sh", "-c", "echo 4 > "+filepath.Join(s.project, "four")+" # "+marker)
	s.must("session", "undo", "mine")
}

// told is what commands say of the sessions.
func (s *seat) told() (text string) {
	s.Helper()
	for _, line := range []string{
		"log", "log --json", "log --grep hunter", "log --grep hunter --json", "session list", "session list --json", "show", "show --json",
		"session show c", "session show c --json", "session show d", "session show mine --json", "session show other --json", "session diff d",
		"operations --paths", "operations --json", "blame two", "blame two --json", "blame four --porcelain", "status --json",
		"__complete session show ", "__complete restore ", "__complete show ", "undo --dry-run", "undo --dry-run --json", "redo --dry-run",
	} {
		args := strings.Split(line, " ")
		out, errs, _ := s.run("", args...)
		text += "$ cairn " + line + "\n" + out + errs
	}
	return text
}

// kept is all that lies in the data directory: every file, and every object of the store.
func (s *seat) kept() map[string][]byte {
	s.Helper()
	all := make(map[string][]byte)
	data := filepath.Join(s.home, "data")
	err := filepath.WalkDir(data, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		all[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	var standing struct{ Store, Root string }
	if err := json.Unmarshal([]byte(s.must("status", "--json")), &standing); err != nil {
		s.Fatal(err)
	}
	db, err := odb.Open(standing.Store, standing.Root, odb.Options{Command: "a test"})
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	census, _, _, err := reach.Objects(db)
	if err != nil {
		s.Fatal(err)
	}
	for _, id := range census.IDs {
		if _, all["object "+id.String()], err = db.Read(id); err != nil {
			s.Fatal(err)
		}
	}
	return all
}

// TestV60_PromptsThatAreNotRecorded: with record_prompts = false no prompt, no title made from one
// and no command lies in any file or object below the data directory, or in any answer. Texts that were
// recorded before are not shown any more.
func TestV60_PromptsThatAreNotRecorded(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for _, record := range []string{"true", "false"} {
		t.Run(record, func(t *testing.T) {
			t.Parallel()
			s := newSeat(t)
			s.variables["CAIRN_DATA_DIR"], s.variables["CAIRN_RECORD_PROMPTS"] = filepath.Join(s.home, "data"), record
			s.saying(marker)
			held, told := 0, s.told()
			for name, content := range s.kept() {
				if !bytes.Contains(content, []byte(marker)) {
					continue
				}
				if held++; record == "false" {
					t.Errorf("%s holds it", name)
				}
			}
			if record == "false" {
				if strings.Contains(told, marker) {
					t.Errorf("it is told:\n%s", told)
				}
				return
			}
			if held < 10 || strings.Count(told, marker) < 20 {
				t.Errorf("%d files and objects hold it, %d lines tell it: the test looks in the wrong places", held, strings.Count(told, marker))
			}
			s.variables["CAIRN_RECORD_PROMPTS"] = "false"
			if told = s.told(); strings.Contains(told, marker) {
				t.Errorf("it is still told:\n%s", told)
			}
		})
	}
}

// TestV60_SecretsInPrompts: a secret in a prompt, a title or a command lies in no file or object below
// the data directory, and in no answer; its mask does. With mask_secrets = false it is stored.
func TestV60_SecretsInPrompts(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	const secret, mask = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8", "[masked: github-token]"
	for _, masked := range []string{"true", "false"} {
		t.Run(masked, func(t *testing.T) {
			t.Parallel()
			s := newSeat(t)
			s.variables["CAIRN_DATA_DIR"], s.variables["CAIRN_MASK_SECRETS"] = filepath.Join(s.home, "data"), masked
			s.saying(secret)
			there, gone := mask, secret
			if masked == "false" {
				there, gone = secret, mask
			}
			held, told := 0, s.told()
			for name, content := range s.kept() {
				if bytes.Contains(content, []byte(there)) {
					held++
				}
				if bytes.Contains(content, []byte(gone)) {
					t.Errorf("%s holds %s", name, gone)
				}
			}
			if held < 10 || strings.Count(told, there) < 20 {
				t.Errorf("%d files and objects hold %s, %d lines tell it: the test looks in the wrong places", held, there, strings.Count(told, there))
			}
			if strings.Contains(told, gone) {
				t.Errorf("it is told:\n%s", told)
			}
		})
	}
}
