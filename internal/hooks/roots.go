package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/workdirs"
	"github.com/seed-fb9cbc17/cairn/session"
)

// An agent may work in more directories than its project: a workspace has several folders, an option
// or a setting adds one, or the agent changes into a repository beside. The session stays that of the
// project, and the other directories become further roots of it, so that its turns go back in all of
// them. The project is what the agent calls so, or else where the session was heard of first.

// workDir is the project's directory, and puts the directory of the event, if that lies elsewhere,
// among the further ones.
func (h *hook) workDir(opt Options) string {
	project := opt.Project
	if !filepath.IsAbs(project) {
		home := recallHome(opt.Dir, h.agent, h.topSession())
		project, h.movedFrom = string(home.Dir), string(home.From)
		if from := h.movedFrom; h.kind == sessionBegin && from != "" && realpath.Within(h.dir, from) {
			project, h.movedFrom, h.homeMoves = from, "", true // it was only out of reach
		}
	}
	if project == "" || realpath.Within(h.dir, project) {
		if project == "" {
			return h.dir
		}
		return project
	}
	if info, err := os.Stat(project); err != nil || !info.IsDir() {
		if h.kind == sessionBegin && project != opt.Project {
			h.movedFrom, h.homeMoves = project, true
		}
		return h.dir
	}
	h.further = append(h.further, h.dir)
	return project
}

// topSession is the session of the user, also for an event of a sub-agent.
func (h *hook) topSession() string {
	if h.parent != "" {
		return h.parent
	}
	return h.session
}

// sameDir reports whether two paths lead to one directory.
func sameDir(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// sessionHome is the record of where a session was heard of first, or began again after that directory was gone. A
// directory that comes in its place later is another project.
type sessionHome struct {
	Dir  pathtext.Text `json:"dir"`
	From pathtext.Text `json:"from,omitempty"` // the directory that is gone
}

func homePath(dir, agent, session string) string {
	sum := sha256.Sum256([]byte("home\x00" + agent + "\x00" + session))
	return filepath.Join(dir, "turns", hex.EncodeToString(sum[:16])+".home")
}

func recallHome(dir, agent, session string) (home sessionHome) {
	data, err := os.ReadFile(homePath(dir, agent, session))
	if err != nil || json.Unmarshal(data, &home) != nil || !filepath.IsAbs(string(home.Dir)) {
		return sessionHome{}
	}
	return home
}

// rememberHome notes where a session was heard of first, for an agent that names no project.
func (h *hook) rememberHome(opt Options, dir string) error {
	path := homePath(opt.Dir, h.agent, h.topSession())
	if _, err := os.Lstat(path); err == nil && !h.homeMoves || filepath.IsAbs(opt.Project) {
		return nil
	}
	data, err := json.Marshal(sessionHome{pathtext.Text(dir), pathtext.Text(h.movedFrom)})
	if err != nil {
		return err
	}
	return writeSmall(path, data)
}

// findDirs finds the directories that no event names, when a session or a turn of the user begins. What it never
// takes for a root, it also drops where the user adds a directory.
func (h *hook) findDirs(ctx context.Context, opt Options, project string) {
	if h.parent != "" || !h.tellsOfRoots() || !speaks(h.agent) {
		return
	}
	s := workdirs.Sources{Agent: h.agent, Project: project, Home: opt.Home, Record: h.record, Env: opt.Env, Private: opt.Private}
	if h.kind == newDir {
		h.further = s.Without(h.further)
		return
	}
	if opt.Settings != nil {
		s.Settings = opt.Settings(project)
	}
	s.Lines = func(yield func([]string) bool) {
		for _, r := range opt.line() {
			if listed(lasting, r.Name) || !yield(opt.args(r.ID)) {
				return
			}
		}
	}
	h.further = append(h.further, inTime(ctx, func() []string { return s.Roots(h.rootOf) })...)
}

// lookTime is the time in which directories are found that may lie on file systems that do not answer.
const lookTime = 5 * time.Second

// inTime is what f returns, nil if that takes too long. Then f costs a goroutine of a process that ends.
func inTime(ctx context.Context, f func() []string) []string {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	done := make(chan []string, 1)
	go func() {
		var list []string
		_ = guarded(func() error { list = f(); return nil })
		done <- list
	}()
	select {
	case list := <-done:
		return list
	case <-ctx.Done():
		return nil
	}
}

// tellsOfRoots reports whether the user is told after the event of directories that cannot be roots.
func (h *hook) tellsOfRoots() bool {
	return h.kind == prompt || h.kind == sessionBegin || h.kind == newDir
}

// errCommon is why a directory cannot be a root in which the agent only happens to work, say for one command.
var errCommon = errors.New("it holds files of other programs, too")

// linkRoots makes the directories that the event names roots of the session, each once. One that cannot
// be a root is tried again with the next prompt, and the user is told then.
func (h *hook) linkRoots(ctx context.Context) error {
	if h.tellsOfRoots() {
		h.further = append(h.further, h.turn.Unlinked...)
		h.turn.Unlinked = nil
	}
	fresh := h.freshRoots()
	if len(fresh) == 0 || h.kind == stop || h.kind == agentStop || h.kind == sessionEnd {
		return nil
	}
	top := h.topSession()
	for _, root := range fresh {
		err := errCommon
		if !workdirs.Common(root, h.home) {
			_, err = h.sessions.Begin(ctx, session.SessionBegin{ID: top, Meta: h.sessionMeta(), Further: []string{root}})
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			h.turn.Linked = append(h.turn.Linked, root)
			continue
		}
		common := errors.Is(err, errCommon)
		if !common || !h.tellsOfRoots() { // else nothing is left to try or to tell
			h.turn.Unlinked = append(h.turn.Unlinked, root)
		}
		if !common {
			h.unlinked = errors.Join(h.unlinked, err)
		}
		if h.tellsOfRoots() {
			h.gaps = append(h.gaps, "changes in "+pathtext.Place(root)+" cannot be taken back: "+failureText(err))
		}
	}
	return nil
}

// freshRoots are the roots around the directories that the event names, without those of the session.
func (h *hook) freshRoots() (roots []string) {
	for _, dir := range h.further {
		if !filepath.IsAbs(dir) || h.root == "" || realpath.Within(dir, h.root) {
			continue
		}
		root, err := h.rootOf(dir)
		if err != nil {
			root = dir // gone, as the session will say
		}
		if root == h.root {
			continue
		}
		if !slices.Contains(h.turn.Linked, root) && !slices.Contains(h.turn.Unlinked, root) && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	return roots
}

// noteMissing counts a step that was not captured in every root.
func (h *hook) noteMissing(missing []session.Missing) {
	for _, m := range missing {
		h.turn.Missed, h.turn.Why = h.turn.Missed+1, m.Path.Quoted()+": "+m.Reason
	}
}

// inAll is a result with the paths of all roots; those of others are absolute.
func inAll(res *cairn.Result) *cairn.Result {
	if res == nil {
		return nil
	}
	return res.InAllRoots()
}
