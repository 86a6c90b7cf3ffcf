package hooks

import (
	"strconv"
	"strings"
)

// request is a command: typed as a prompt, or an event of the neutral protocol.
type request struct {
	verb   string // undo, redo, log, diff, revert, unrevert or fork
	count  int
	dryRun bool

	message, part string
	start         bool
	newSession    string
}

// maxCount bounds "cairn undo N".
const maxCount = 999

// parseCommand recognizes a prompt that is a command and nothing else: "cairn undo",
// "cairn undo 3", or the name of a slash command that cairn setup installs. Whatever
// else a prompt says about cairn is for the agent.
func parseCommand(text string) *request {
	words := strings.Fields(strings.ToLower(text))
	if len(words) > 0 {
		if verb, ok := strings.CutPrefix(words[0], "/cairn-"); ok {
			words = append([]string{"cairn", verb}, words[1:]...)
		}
	}
	if len(words) < 2 || len(words) > 3 || words[0] != "cairn" || strings.ContainsAny(text, "\r\n") {
		return nil
	}
	do := &request{verb: words[1], count: 1}
	switch do.verb {
	case "undo", "redo", "log", "diff":
	default:
		return nil
	}
	if len(words) == 3 {
		n, err := strconv.Atoi(words[2])
		if err != nil || n < 1 || n > maxCount || words[2][0] == '+' {
			return nil
		}
		do.count = n
	}
	return do
}
