package cli

import (
	"slices"
	"strconv"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
)

// CleanEvery is the time between two cleanings of a store in the background.
const CleanEvery = time.Hour

// BackgroundLimit is the longest time of a cleaning in the background.
const BackgroundLimit = 30 * time.Minute

// cleansAfter lists the commands that may begin a cleaning in the background.
var cleansAfter = []string{"track", "hook", "restore", "revert", "merge", "undo", "redo", "wait"}

// DoLater starts what the settings want done after a command, in processes of their own. The one that seals does
// all of it, because the others need the store open.
func (c *Program) DoLater() {
	if c.sealsLater() {
		_ = c.Spawn([]string{"seal", "--background", "--quiet", "--root", c.LastOptions.Root, "--data-dir", c.LastOptions.DataDir})
		return
	}
	c.CleanLater()
	if c.TurnEnded && c.Running == "session" { // after a hook, hooks says when the turn is recorded
		c.SignLater()
	}
	c.syncLater()
}

// sealsLater reports whether the store is to be sealed after this command: one that opened it for itself alone, or
// the last one of a session. A hook opens the store for a session.
func (c *Program) sealsLater() bool {
	if c.LastOptions == nil || !c.LastOptions.Unseal || !c.MayBegin() {
		return false
	}
	return c.SessionOver || c.unsealed && !slices.Contains(ofSessions, c.Running)
}

// ofSessions lists the commands whose session goes on after them.
var ofSessions = []string{"hook", "session", "unseal"}

// CleanLater starts a cleaning in a process of its own, if one is due, so that no
// command waits for it. Most of the time it only reads one small file. If the process
// cannot be started, the next command tries again.
func (c *Program) CleanLater() {
	if c.Spawn == nil || !slices.Contains(cleansAfter, c.Running) || c.LastOptions == nil || c.Config == nil || !c.Config.Background || isSet(c.Env("CAIRN_NO_BACKGROUND")) {
		return
	}
	if c.due == nil && !c.readDue() || !*c.due {
		return
	}
	_ = c.Spawn([]string{"gc", "--background", "--quiet", "--root", c.LastOptions.Root, "--data-dir", c.LastOptions.DataDir})
}

// NoteDue asks an open repository whether a cleaning is due, so that it need not be
// opened again.
func (c *Program) NoteDue(repo *cairn.Repo) {
	if c.Spawn != nil && slices.Contains(cleansAfter, c.Running) {
		due := access.CleaningDue(repo, CleanEvery)
		c.due = &due
	}
}

// readDue opens the repository, because a server did the work of this command.
func (c *Program) readDue() bool {
	opt := *c.LastOptions
	opt.MustExist, opt.Retention, opt.Unseal = true, nil, false
	repo, err := cairn.Open(opt)
	if err != nil {
		return false
	}
	defer repo.Close()
	c.NoteDue(repo)
	return true
}

func isSet(value string) bool {
	set, err := strconv.ParseBool(value)
	return value != "" && (set || err != nil)
}

// syncsAfter lists the commands, beside the hooks, that may begin a push in the background.
var syncsAfter = []string{
	"track", "restore", "revert", "merge", "undo", "redo", "wait", "run", "resume", "pin", "unpin", "import", "test",
}

// syncLater starts a push in a process of its own where the setting sync wants one and none is under way. If the
// process cannot be started, the next command tries again.
func (c *Program) syncLater() {
	if c.LastOptions == nil || !c.MayBegin() || c.LastOptions.Sync == "" || !c.TurnEnded && !slices.Contains(syncsAfter, c.Running) {
		return
	}
	if !access.Pushing(c.LastOptions.DataDir, c.LastOptions.Root) {
		_ = c.Spawn(SyncArgs(c.LastOptions))
	}
}

// SyncArgs is the command line of a push in the background.
func SyncArgs(opt *cairn.Options) []string {
	return []string{"push", "--background", "--quiet", "--root", opt.Root, "--data-dir", opt.DataDir}
}

// SignLater signs in a process of its own, so that no turn waits for it.
func (c *Program) SignLater() {
	if c.Spawn == nil || c.LastOptions == nil || c.LastOptions.Sign == "" || isSet(c.Env("CAIRN_NO_BACKGROUND")) {
		return
	}
	_ = c.Spawn([]string{"verify", "--background", "--quiet", "--root", c.LastOptions.Root, "--data-dir", c.LastOptions.DataDir})
}
