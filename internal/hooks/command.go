package hooks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// request is a command: typed as a prompt, or an event of the neutral protocol.
type request struct {
	verb   string // undo, redo, log, diff, status, help, refuse, revert, unrevert or fork
	count  int
	dryRun bool

	numbered bool // a count was typed

	git, yes bool   // git goes back, too; without a further question
	outside  bool   // paths outside the root go back, too
	plan     string // id of the plan to carry out

	answer string // text of the refusal; verb refuse

	message, part string
	start         bool
	newSession    string
}

// maxCount bounds "cairn undo N".
const maxCount = 999

// promptVerbs are the commands that work as a prompt.
var promptVerbs = []string{"undo", "redo", "log", "diff", "status", "help"}

// ShellVerbs are cairn's other commands. A prompt that begins with one is answered with
// the way to a shell.
var ShellVerbs = []string{
	"acp", "adopt", "best", "bisect", "blame", "cat", "check", "checkout", "commit", "compare", "completion", "config", "doctor", "du",
	"exists", "export", "fetch", "fork", "forks", "gc", "grep", "hook", "import", "ls", "mcp", "merge", "operations", "patch", "pin", "pins",
	"purge", "push", "restore", "resume", "revert", "review", "run", "seal", "serve", "session", "setup", "show", "test", "track", "unpin",
	"unseal", "verify", "version", "wait",
}

// parseCommand recognizes a prompt that is a command: one line, "cairn" and a word that
// looks like a command, or the name of a slash command that cairn setup installs. A
// sentence about cairn is for the agent.
func parseCommand(text string) *request {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 || strings.ContainsAny(text, "\r\n") {
		return nil
	}
	if verb, ok := strings.CutPrefix(words[0], "/cairn-"); ok {
		words = append([]string{"cairn", verb}, words[1:]...)
	}
	if words[0] != "cairn" {
		return nil
	}
	if len(words) == 1 {
		return &request{verb: "help", count: 1}
	}
	verb, rest := strings.TrimLeft(words[1], "-"), words[2:]
	switch {
	case slices.Contains(promptVerbs, verb):
		return parseArguments(verb, rest)
	case slices.Contains(ShellVerbs, verb):
		return refuse("cairn %s is typed in a shell", verb)
	case !mistyped(verb) && (prose(rest) || !isWord(verb)):
		return nil
	}
	return refuse("there is no cairn %s%s", verb, suggestion(verb))
}

func refuse(format string, args ...any) *request {
	return &request{verb: "refuse", count: 1, answer: fmt.Sprintf(format, args...)}
}

// parseArguments reads what follows a verb. A command with an argument that it does not
// take is refused: a guess could take back the wrong turns.
func parseArguments(verb string, args []string) *request {
	do := &request{verb: verb}
	args = joinPlan(args)
	for _, arg := range args {
		n, err := strconv.Atoi(arg)
		switch {
		case arg == "--help" || arg == "-h":
			return &request{verb: "help", count: 1}
		case (arg == "--dry-run" || arg == "-n") && (verb == "undo" || verb == "redo"):
			do.dryRun = true
		case do.takesGit(arg):
		case err == nil && n >= 1 && n <= maxCount && arg[0] != '+' && do.count == 0 && verb != "status" && verb != "help":
			do.count, do.numbered = n, true
		case verb == "help":
		default:
			return refuse("cairn %s does not take %q here: %s", verb, arg, usage[verb])
		}
	}
	switch {
	case !do.git && (do.yes || do.plan != ""):
		return refuse("cairn %s takes --yes and --plan only with --git", verb)
	case do.git && (do.numbered || do.plan != "" && (do.yes || do.dryRun)):
		return refuse("cairn %s --git takes one turn, and one of --yes, --plan and --dry-run", verb)
	}
	do.count = max(do.count, 1)
	return do
}

// joinPlan makes one argument of --plan and its id.
func joinPlan(args []string) []string {
	i := slices.Index(args, "--plan")
	if i < 0 || i+1 == len(args) {
		return args
	}
	return slices.Concat(args[:i], []string{"--plan=" + args[i+1]}, args[i+2:])
}

// takesGit reads the arguments about what goes back beside the files of the root.
func (r *request) takesGit(arg string) bool {
	if r.verb != "undo" && r.verb != "redo" {
		return false
	}
	switch id, plan := strings.CutPrefix(arg, "--plan="); {
	case arg == "--git":
		r.git = true
	case arg == "--outside":
		r.outside = true
	case arg == "--yes":
		r.yes = true
	case plan && len(id) == 16 && strings.Trim(id, "0123456789abcdef") == "":
		r.plan = id
	default:
		return false
	}
	return true
}

var usage = map[string]string{
	"undo": "cairn undo [N] [--dry-run] [--outside], or cairn undo --git", "redo": "cairn redo [N] [--dry-run] [--outside], or cairn redo --git",
	"log": "cairn log [N]", "diff": "cairn diff [N]", "status": "cairn status", "help": "cairn help",
}

// prose reports whether words are part of a sentence: several, and neither numbers nor
// options.
func prose(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		_, err := strconv.Atoi(w)
		return err != nil && !strings.HasPrefix(w, "-")
	})
}

func isWord(w string) bool {
	return w != "" && len(w) <= 20 && !strings.ContainsFunc(w, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' && r != '_' })
}

// mistyped reports whether a word is a verb with one slip. Short verbs are too close to
// other words of a sentence, and a plural is one.
func mistyped(word string) bool {
	return slices.ContainsFunc(promptVerbs, func(v string) bool { return len(v) > 3 && wording.Slips(word, v) == 1 && word != v+"s" })
}

// suggestion names the verb that is nearest to a word.
func suggestion(word string) string {
	best := wording.Nearest(word, slices.Concat(promptVerbs, ShellVerbs), 2)
	if best == "" {
		return ""
	}
	return "; did you mean cairn " + best + "?"
}

const helpText = `cairn: type one of these as a prompt; the model does not see it
cairn undo [N]  take back what the last turn, or the last N, changed; --dry-run only lists it
                (without N: an operation, such as a restore in a shell, if that is newer)
cairn redo [N]  bring it back
                (either with --git: what the turn did to git, too, by a plan that is shown first)
cairn log       list the turns of this session that changed files
cairn diff [N]  list what the last turn, or the Nth last, changed
cairn status    tell what undo and redo would do now, and whether steps are missing
In a shell: cairn help`
