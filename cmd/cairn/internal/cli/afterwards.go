package cli

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// CleanEvery is the time between two cleanings of a store in the background.
const CleanEvery = time.Hour

// BackgroundLimit is the longest time of a cleaning in the background.
const BackgroundLimit = 30 * time.Minute

// cleansAfter lists the commands that may begin a cleaning in the background.
var cleansAfter = []string{"track", "hook", "restore", "revert", "merge", "undo", "redo", "wait"}

// DoLater starts what the settings want done after a command, in processes of their own. The one that seals does
// all of it, because the others need the store open. A command that failed starts that one alone.
func (c *Program) DoLater(done bool) {
	if c.sealLater() || !done {
		return
	}
	c.CleanLater()
	if c.TurnEnded && c.Running == "session" { // after a hook, hooks says when the turn is recorded
		c.SignLater()
	}
	c.syncLater()
}

// sealLater starts a process for each store that is to be sealed after this command: a sealed one that the command
// has opened for itself alone, and that of a session that is over. It reports whether the store of the command is
// among them.
func (c *Program) sealLater() (own bool) {
	if c.LastOptions == nil || !c.MayBegin() {
		return false
	}
	var roots []string
	if !c.inSession() {
		roots = c.sealed.opened(c.LastOptions.DataDir)
	}
	over := c.SessionOver && c.LastOptions.Unseal
	if len(roots) == 0 && !over {
		return false
	}
	last := realRoot(c.LastOptions.Root)
	if over && !slices.Contains(roots, last) {
		roots = append(roots, last)
	}
	for _, root := range roots {
		_ = c.Spawn(SealArgs(root, c.LastOptions.DataDir))
	}
	return slices.Contains(roots, last)
}

// SealArgs is the command line that seals in the background.
func SealArgs(root, dataDir string) []string { return backgroundArgs("seal", root, dataDir) }

// backgroundArgs is the command line of a command that works in the background for a root.
func backgroundArgs(command, root, dataDir string) []string {
	return []string{command, "--background", "--quiet", "--root", root, "--data-dir", dataDir}
}

// inSession reports whether this run leaves the stores open: for the session of an agent, or because it was asked to.
func (c *Program) inSession() bool {
	return c.Running == "hook" || c.Running == "unseal" || c.Running == "session" && c.TurnEnded
}

// sealedRoots are the roots whose sealed stores a run has opened. Several goroutines may call the methods.
type sealedRoots struct {
	mu    sync.Mutex
	roots []string
}

func (s *sealedRoots) add(root string) {
	root = realRoot(root)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.roots, root) {
		s.roots = append(s.roots, root)
	}
}

// SealAgain has a root's store sealed after the command, which has opened it while it was that of another root.
func (c *Program) SealAgain(root string) { c.sealed.add(root) }

// opened lists the roots whose stores are open now.
func (s *sealedRoots) opened(dataDir string) (roots []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, root := range s.roots {
		if !cairn.StoreSealed(dataDir, root) {
			roots = append(roots, root)
		}
	}
	return roots
}

func realRoot(root string) string {
	if real, err := realpath.Of(root); err == nil {
		return real
	}
	return root
}

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
	args := backgroundArgs("gc", c.LastOptions.Root, c.LastOptions.DataDir)
	if free := c.Global.MinFree.text; free != "" {
		args = append(args, "--min-free", free)
	}
	_ = c.Spawn(args)
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

// isSet reads a variable that forbids something: nothing, 0 and false say no, anything else says yes.
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
		_ = c.Spawn(SyncArgs(c.LastOptions.Root, c.LastOptions.DataDir))
	}
}

// SyncArgs is the command line of a push in the background.
func SyncArgs(root, dataDir string) []string { return backgroundArgs("push", root, dataDir) }

// SignLater signs in a process of its own, so that no turn waits for it.
func (c *Program) SignLater() {
	if c.Spawn == nil || c.LastOptions == nil || c.LastOptions.Sign == "" || isSet(c.Env("CAIRN_NO_BACKGROUND")) {
		return
	}
	_ = c.Spawn(backgroundArgs("verify", c.LastOptions.Root, c.LastOptions.DataDir))
}
