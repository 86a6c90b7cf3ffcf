//go:build linux

package e2e

import "testing"

// TestModelPlaysWhatWasTyped: the transcript of a request holds the answers of cairn, which quote
// prompts. Claude Code asks the model by itself when a background command has ended; a quoted
// prompt does not have its script played again then.
func TestModelPlaysWhatWasTyped(t *testing.T) {
	t.Parallel()
	tools := []tool{{name: "Bash", schema: schema{Required: []string{"command"}}}}
	asked := script{shell("echo x > taken-back.txt"), "it is done"}.short(t)
	begun := []message{{"user", asked}, {"assistant", ""}, {"tool", ""}, {"assistant", "it is done"}}
	ended := "\n[SYSTEM NOTIFICATION - NOT USER INPUT]\n"
	appended := asked + script{"the one behind it"}.short(t)
	if r, err := answer([]message{{"user", appended + "\n"}}, tools); err != nil || r.text != "the one behind it" {
		t.Errorf("%s: %+v, %v", appended, r, err)
	}
	for _, told := range []string{
		"cairn undo\n\nOperation stopped by hook: cairn: took back 1 turn: 1 deleted\ndeleted taken-back.txt\ntaken back: the turn \"" + asked + "\"\n",
		"cairn status\n\nOperation stopped by hook: cairn: 1 turn of this session can be taken back\ncairn undo takes back: the turn \"" + asked + "\" (1 file, 3 s ago)\n",
		"cairn log\n\nOperation stopped by hook: cairn: turns of this session\n  1  3 s       1 file    " + asked + "\n",
	} {
		if r, err := answer(append(begun, message{"user", told + ended}), tools); err != nil || r.text != "the script is over" {
			t.Errorf("%s: %+v, %v", told, r, err)
		}
		next := script{"the next one"}.short(t)
		if r, err := answer(append(begun, message{"user", told + "\n" + next + "\n"}), tools); err != nil || r.text != "the next one" {
			t.Errorf("%s: %+v, %v", told, r, err)
		}
	}
}
