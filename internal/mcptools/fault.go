package mcptools

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/session"
)

// errArguments: the arguments contradict each other or have no meaning. The text says
// which arguments are expected.
var errArguments = errors.New("wrong arguments")

// withHint adds the next step to an error that has one, and names tools for the commands in its text.
func withHint(err error) error {
	if text := asTools(err.Error()); text != err.Error() {
		return &toolError{err, text}
	}
	for _, h := range hints {
		if errors.Is(err, h.err) {
			return fmt.Errorf("%w\nhint: %s", err, h.text)
		}
	}
	return err
}

// toolError is an error whose text names the next step by tools and their arguments.
type toolError struct {
	error
	text string
}

func (e *toolError) Error() string { return e.text }
func (e *toolError) Unwrap() error { return e.error }

// asTools replaces the commands in the text of an error of the library.
func asTools(text string) string {
	for _, c := range commands {
		text = regexp.MustCompile(c.command).ReplaceAllString(text, c.tool)
	}
	return text
}

// commands are regular expressions. They are compiled for an error, and not at the start of every program.
var commands = []struct{ command, tool string }{
	{"cairn session diff (--reverted )?--hunk-ids lists", "the tool session_hunks lists"},
	{"cairn diff --hunk-ids FROM TO lists", "the tool diff with hunkIDs lists"},
	{"cairn compare --hunk-ids .* lists", "the tool compare with hunkIDs lists"},
	{"come from with --base", "come from with the argument base"},
}

var hints = []struct {
	err  error
	text string
}{
	{cairn.ErrMoved, "nothing was done; call preview again, it gives a new plan"},
	{cairn.ErrConflict, "nothing was done; onConflict merge, keep or overwrite goes on, and preview shows what that does"},
	{cairn.ErrOutside, "paths count from the root or are absolute paths inside it"},
	{cairn.ErrPlace, "nothing was done; dir is absolute, and nothing or an empty directory is there, outside of the working directory or below an ignored directory of it"},
	{cairn.ErrUnmerged, "merge brings the changes in; the user removes it all the same by cairn fork --remove --force DIR"},
	{cairn.ErrAmbiguous, "give more digits; the tool checkpoints lists the hashes"},
	{session.ErrBusy, "wait until the agent has ended its step; endOpen if it is gone"},
	{session.ErrNotFound, "the tool sessions lists the sessions; there may be nothing left to take back"},
	{cairn.ErrNoRemote, "the user runs cairn push REMOTE once, or sets sync; no tool names a remote"},
	{cairn.ErrNoGit, "the user installs git"},
	{cairn.ErrStalled, "the remote may answer later; try again"},
	{cairn.ErrSealed, "the user runs cairn unseal; no tool has the key"},
	{cairn.ErrLocked, "another cairn is at work; try again"},
	{cairn.ErrCorrupt, "other checkpoints may be whole; the tool checkpoints lists them"},
	{cairn.ErrNotFound, "the tool checkpoints lists what there is to go back to, operations what can be undone"},
}

// paths decodes the paths of a client. It refuses an empty path, which would mean the
// whole root.
func paths(list []string) ([]string, error) {
	out := make([]string, len(list))
	for i, text := range list {
		path, err := pathtext.Decode(text)
		if err == nil && path == "" {
			err = errors.New(`a path is empty ("." means everything)`)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errArguments, err)
		}
		out[i] = path
	}
	return out, nil
}

// notEmpty refuses an empty list of what a tool is to change. A client that has chosen nothing does not mean everything.
func notEmpty[T any](name string, list []T) error {
	if list != nil && len(list) == 0 {
		return fmt.Errorf("%w: %s is empty; without it everything is meant", errArguments, name)
	}
	return nil
}

// chosenPaths decodes the paths of a tool that changes files.
func chosenPaths(list []string) ([]string, error) {
	if err := notEmpty("paths", list); err != nil {
		return nil, err
	}
	return paths(list)
}
