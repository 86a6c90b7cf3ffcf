package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/hooks"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// ErrUnsound ends verify when there is a finding.
var ErrUnsound = errors.New("the history is not as it was recorded")

// The exit statuses.
const (
	ExitDone     = 0
	ExitFailed   = 1
	ExitUsage    = 2 // the command line or its input is wrong; nothing was tried
	ExitPartly   = 3 // conflicts, kept, unreadable or unstable paths are listed
	ExitNotFound = 4 // no such checkpoint, path or operation
	ExitUnsound  = 5 // the history is not as it was recorded
	ExitSecrets  = 6 // files hold secrets, and the settings refuse checkpoints of them
	ExitSealed   = 7 // the store is sealed, or its key is missing or another one

	ExitInterrupted = 130 // by a signal, as shells have it for SIGINT
)

// ErrPartly ends a command that did part of its work and has listed the rest.
var ErrPartly = errors.New("done in part")

// ErrAbsent is the answer "no" of exists.
var ErrAbsent = errors.New("absent")

// ErrInterrupted ends an interface that was left in the midst of a change.
var ErrInterrupted = errors.New("interrupted")

// usageError is a command line that cannot be carried out. The text follows the name of
// the command.
type usageError struct{ command, text string }

func (e *usageError) Error() string {
	if e.command == "" {
		return e.text + " (cairn help lists the commands)"
	}
	return fmt.Sprintf("%s%s (see: cairn help %s)", e.command, e.text, e.command)
}

// Usage returns an error of usage. The name of the command stands before the text.
func (c *Program) Usage(format string, args ...any) error {
	return &usageError{c.Running, " " + fmt.Sprintf(format, args...)}
}

// asUsage turns an error of the parser, from before a command runs, into a usageError.
func (c *Program) asUsage(err error) error {
	var usage *usageError
	if errors.As(err, &usage) {
		return err
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	var name string
	if _, scanErr := fmt.Sscanf(text, "unknown command %q", &name); scanErr == nil {
		text = c.unknownCommand(name, fmt.Sprintf("unknown command %q", name))
	}
	return &usageError{"", text}
}

// report prints an error and returns its exit status.
func (c *Program) report(ctx context.Context, err error) int {
	var child ChildStatus
	switch {
	case errors.As(err, &child):
		return int(child)
	case err == nil:
		return ExitDone
	case onlyIs(err, ErrPartly):
		return ExitPartly
	case onlyIs(err, ErrAbsent):
		return ExitNotFound
	case c.wantsJSON():
		return c.fail(c.withUnfinished(c.failureOf(ctx, err)))
	case isInterrupt(ctx, err):
		c.Console.Complain("interrupted" + c.unfinished())
		return ExitInterrupted
	}
	for _, line := range wording.Messages(err) {
		c.Console.Complain(line)
	}
	if hint := c.hint(err); hint != "" {
		c.Console.Complain("hint: " + hint)
	}
	return status(err)
}

// isInterrupt reports whether a signal, or a key of the interface, ended the work.
func isInterrupt(ctx context.Context, err error) bool {
	return errors.Is(err, ErrInterrupted) || ctx.Err() != nil && errors.Is(err, context.Canceled)
}

func status(err error) int {
	var usage *usageError
	switch {
	case errors.As(err, &usage), IsConfigError(err), errors.Is(err, cairn.ErrOutside), errors.Is(err, cairn.ErrName), errors.Is(err, cairn.ErrMessage), errors.Is(err, cairn.ErrPlace), errors.Is(err, session.ErrID):
		return ExitUsage
	case errors.Is(err, cairn.ErrNotFound):
		return ExitNotFound
	case errors.Is(err, ErrUnsound):
		return ExitUnsound
	case errors.Is(err, cairn.ErrSecrets):
		return ExitSecrets
	case errors.Is(err, cairn.ErrSealed):
		return ExitSealed
	}
	return ExitFailed
}

// withUnfinished adds unfinished to the message of an interrupt.
func (c *Program) withUnfinished(f Failure) Failure {
	if f.Status == ExitInterrupted {
		f.Message += c.unfinished()
	}
	return f
}

// unfinished is a note after an interrupt: the next command finishes a restore that had
// begun to write, because it is in a journal. A server goes on with what it was asked to do.
func (c *Program) unfinished() string {
	switch c.Running {
	case "restore", "revert", "undo", "redo":
		if c.asked {
			return "; the server, if it has begun, goes on and finishes it"
		}
		return nextFinishes
	case "merge", "review", "session":
		return nextFinishes
	case "best":
		return "; the commands are ended, and cairn forks lists the forks that are there"
	}
	return ""
}

const nextFinishes = "; if it had begun to change files, the next cairn command finishes it"

// onlyIs reports whether err is target and nothing else went wrong beside it.
func onlyIs(err, target error) bool {
	parts := wording.Parts(err)
	return len(parts) == 1 && errors.Is(parts[0], target)
}

// flagFault describes the values of a flag that was given a wrong one.
func flagFault(err error) string {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	wanted := map[string]string{
		"int": "a whole number", "duration": "a duration as in 5s or 2m", "bool": "true or false",
	}[bad.GetFlag().Value.Type()]
	if wanted == "" {
		wanted = bad.Unwrap().Error()
	} else {
		wanted = "want " + wanted
	}
	return fmt.Sprintf("cannot use --%s %s: %s", bad.GetFlag().Name, wording.ShellWord(bad.GetValue()), wanted)
}

// hint is the next step after an error whose text does not name one.
func (c *Program) hint(err error) string {
	if errors.Is(err, session.ErrBusy) && c.EndsOpen {
		return "where its agent is gone, --end-open ends the step and goes on; cairn session step end SESSION ends it alone"
	}
	if text := c.adoptHint(err); text != "" {
		return text
	}
	if errors.Is(err, cairn.ErrRoot) && errors.Is(err, fs.ErrNotExist) {
		return c.goneHint(err)
	}
	return hint(err)
}

func hint(err error) string {
	switch {
	case errors.Is(err, ErrUnsound):
		return "cairn doctor says whether the store is damaged; cairn fetch brings lost objects back"
	case errors.Is(err, session.ErrBusy):
		return "cairn session step end SESSION ends it; where its agent is gone, with --gone"
	case errors.Is(err, cairn.ErrMoved):
		return "nothing was done; the same command with --dry-run in the place of --plan lists what it would do now"
	case errors.Is(err, cairn.ErrBundle):
		return "nothing of it was taken; cairn export makes a new one"
	case errors.Is(err, cairn.ErrUnmerged):
		return "cairn merge DIR brings its changes here; --force removes it all the same"
	case errors.Is(err, cairn.ErrConflict):
		return "--on-conflict merge, keep or overwrite goes on; --dry-run shows beforehand what that does"
	case errors.Is(err, cairn.ErrLocked) && strings.Contains(err.Error(), "when it has ended"): // nothing waits for these
		return "cairn serve, among others, has a store open while it runs; with seal = true it is sealed after that by itself"
	case errors.Is(err, cairn.ErrLocked):
		return "--lock-timeout says how long to wait"
	case errors.Is(err, cairn.ErrTooLarge), errors.Is(err, cairn.ErrRoot) && strings.Contains(err.Error(), "force it"):
		return "--root DIR names a sub-directory; cairn track --force captures it all the same"
	case errors.Is(err, cairn.ErrDeadline):
		return "the same command goes on from here; --partial takes a checkpoint of what was read"
	case errors.Is(err, cairn.ErrSecrets):
		return "take the secrets out, end their lines with # cairn:allow, or leave the files out: secrets = \"skip\""
	case errors.Is(err, cairn.ErrNoSpace) && strings.Contains(err.Error(), "name a directory on another disk"): // of a copy
		return ""
	case errors.Is(err, cairn.ErrNoSpace):
		return "cairn du says what stores take; --data-dir names another disk, --min-free how much of it to leave"
	case errors.Is(err, cairn.ErrOutside):
		return "paths count from the current directory; --root DIR names another root"
	case strings.Contains(err.Error(), "cairn doctor --fix"):
		return ""
	case errors.Is(err, cairn.ErrCorrupt):
		return "cairn doctor --fix mends the store or cuts out what is lost; the other checkpoints may be whole"
	case errors.Is(err, cairn.ErrStore) && errors.Is(err, fs.ErrPermission):
		return "--data-dir or CAIRN_DATA_DIR names another place for the store"
	case strings.Contains(err.Error(), "lock store ") && hooks.Remedy(err) != "":
		return hooks.Remedy(err) + "; until then cairn log, ls, cat, show and diff FROM TO read the store"
	case errors.Is(err, cairn.ErrStore), atomicfile.IsFull(err):
		return hooks.Remedy(err)
	case errors.Is(err, fs.ErrPermission) && strings.Contains(err.Error(), filepath.FromSlash("/snapshot/")): // of a file in a store
		return "where another user, such as root, has worked here, cairn doctor says how to give the store back"
	case errors.Is(err, cairn.ErrNotFound) && strings.Contains(err.Error(), "there are only 0"):
		return "cairn track makes the first one here; cairn log --fetched lists those of other machines"
	case errors.Is(err, cairn.ErrNotFound) && strings.Contains(err.Error(), "nothing to "):
		return "cairn operations lists what was done"
	case errors.Is(err, session.ErrBuildsOn):
		return "nothing was committed; commit first what the lines build on, or name turns that do without"
	case errors.Is(err, session.ErrNotFound):
		return "cairn session list and cairn session show list what there is"
	}
	return ""
}

// Failure is an error with --json: the last line of stderr is {"error": failure}.
type Failure struct {
	Status  int    `json:"status"` // of the process
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // the next step
}

// wantsJSON reports whether --json was given, also where the command line could not be
// parsed up to it.
func (c *Program) wantsJSON() bool {
	args := c.args
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return c.Global.JSON || c.Running == "" && slices.Contains(args, "--json")
}

// failureOf describes an error that ends the process.
func (c *Program) failureOf(ctx context.Context, err error) Failure {
	if isInterrupt(ctx, err) {
		return Failure{Status: ExitInterrupted, Code: "interrupted", Message: "interrupted"}
	}
	return Failure{status(err), code(err), strings.Join(wording.Messages(err), "\n"), c.hint(err)}
}

// code names the kind of an error, as the server does in a problem's type.
func code(err error) string {
	var usage *usageError
	kind := answers.KindOf(err)
	switch {
	case errors.As(err, &usage), errors.Is(err, cairn.ErrPlace):
		return "usage"
	case errors.Is(err, ErrUnsound):
		return "unsound"
	case IsConfigError(err):
		return "config"
	case kind != protocol.Internal:
		return string(kind)
	case errors.Is(err, cairn.ErrCorrupt):
		return "corrupt"
	case errors.Is(err, cairn.ErrStore):
		return "store"
	case errors.Is(err, cairn.ErrBundle):
		return "bundle"
	}
	return "failed"
}

// fail prints an error as JSON.
func (c *Program) fail(f Failure) int {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]Failure{"error": f}); err == nil {
		c.Console.Repeat(line.String())
	}
	return f.Status
}
