package hooks

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// failureLine says why a command could not be carried out, and the next step.
func (h *hook) failureLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	line := "cairn: " + h.do.verb + ": "
	switch {
	case Remedy(err) != "": // a store that cannot be written is not damaged
		return line + text + "; " + Remedy(err)
	case errors.Is(err, cairn.ErrSealed): // its text names the next step
	case errors.Is(err, cairn.ErrCorrupt):
		return line + "the store is damaged; run in a shell: cairn doctor --fix (" + text + ")"
	case errors.Is(err, cairn.ErrStore):
		return line + "the store cannot be used; run in a shell: cairn doctor --fix (" + text + ")"
	case errors.Is(err, cairn.ErrRoot) && errors.Is(err, fs.ErrNotExist): // a tool may have removed it
		return line + text + "; make that directory again (mkdir), then type it again"
	case busy(err):
		return line + "not in time: " + text + "; in a shell it has all the time it needs: " + h.shellCommand()
	}
	return line + text
}

// shellCommand is the same command for a shell.
func (h *hook) shellCommand() string {
	verb := map[string]string{"undo": "undo", "revert": "undo", "redo": "redo", "unrevert": "redo", "diff": "diff"}[h.do.verb]
	if verb == "" {
		verb = "show"
	}
	return "cairn session " + verb + " " + wording.ShellWord(h.session)
}

func isFull(err error) bool { return errors.Is(err, cairn.ErrNoSpace) || atomicfile.IsFull(err) }

// Remedy is the next step where the store cannot be written, "" for other errors.
func Remedy(err error) string {
	switch {
	case isFull(err):
		return "make a little room on that disk; then, in a shell, cairn gc makes more"
	case errors.Is(err, syscall.EROFS):
		return "mount that file system writable, or set CAIRN_DATA_DIR to a directory that can be written"
	case errors.Is(err, fs.ErrPermission):
		return "make that directory writable, or set CAIRN_DATA_DIR to another one"
	}
	return ""
}
