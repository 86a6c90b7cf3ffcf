package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/session"
)

// turn is the record that one call of a hook leaves for the next: each call is a process of its
// own. It only helps to find the right moment for a step's end. Without it, for instance after its
// removal, steps end later than they could.
type turn struct {
	Message string           `json:"message,omitempty"` // of the user, which steps answer
	Agents  map[string]*work `json:"agents,omitempty"`  // of sub-agents, by their sessions
	Running []string         `json:"running,omitempty"` // sub-agents at work after the turn's end
	Missed  int              `json:"missed,omitempty"`  // steps that were not captured
	Why     string           `json:"why,omitempty"`     // of the latest one
	Noted   int              `json:"noted,omitempty"`   // of the missed steps, those that a later step tells of
	Told    int              `json:"told,omitempty"`    // of the missed steps, those that the user was told of
	Refused string           `json:"refused,omitempty"` // calls beside which an undo was refused
	Late    map[string]late  `json:"late,omitempty"`    // steps that were ended beside their tools, by session

	// Broken: the sum of the project's own file of settings that the user was told of last.
	Broken string `json:"broken,omitempty"`

	// Gaps: the end of a turn has told the user what cannot be brought back.
	Gaps bool `json:"gaps,omitempty"`

	Over bool `json:"over,omitempty"` // the agent has told the turn's end

	// Background: the last turn that used tools left a command running.
	Background bool `json:"background,omitempty"`

	// Shells: the commands that go on, where the agent tells of their end; "" is one that it does not name.
	Shells []string `json:"shells,omitempty"`

	// Left: the message of a turn that is over and left a command running. What changes
	// until the next one is recorded as a turn of its own.
	Left string `json:"left,omitempty"`

	// Asked: the prompt of the turn, where it is recorded with the first tool only.
	Asked *session.MessageBegin `json:"asked,omitempty"`

	// Pending: the ticket of the prompt that is being recorded, which is Asked.
	Pending string `json:"pending,omitempty"`

	// Ending: the session's own step that is being ended in the background.
	Ending *ending `json:"ending,omitempty"`

	// Heard: the turn as the agent names it, which is nil where the agent does not.
	Heard *heard `json:"heard,omitempty"`

	// Typed: the newest undo or redo that was typed.
	Typed *typed `json:"typed,omitempty"`

	// Linked are the further roots of the session, Unlinked directories that cannot be.
	Linked   pathtext.List `json:"linked,omitempty"`
	Unlinked pathtext.List `json:"unlinked,omitempty"`

	// Nested are the repositories below the root in which the turn has worked.
	Nested []nested `json:"nested,omitempty"`

	Model string `json:"model,omitempty"` // that was named last

	Line  []process.ID `json:"line,omitempty"`  // above the call, from the agent on
	Owner []process.ID `json:"owner,omitempty"` // the agent, as far as it is known
	work
}

// work is the state of a session between two calls.
type work struct {
	Step  string        `json:"step,omitempty"`  // open
	Calls []string      `json:"calls,omitempty"` // of tools that are running
	Parts []part        `json:"parts,omitempty"` // of the step, so far
	Git   *git.Position `json:"git,omitempty"`   // when the step began
	Seen  []sight       `json:"seen,omitempty"`  // files before the step, at the paths that its tools name
	Going bool          `json:"going,omitempty"` // a tool has left something running that may still write
	Cut   []string      `json:"cut,omitempty"`   // calls of a sub-agent whose step a prompt has ended
	Old   bool          `json:"old,omitempty"`   // the open step is of an earlier turn: its end has failed
}

// part is a call of a tool.
type part struct {
	ID      string `json:"id"`
	Tool    string `json:"tool"`
	Command string `json:"command,omitempty"`
}

// follow makes this the turn of a message. A step that is still open without a call is of the turn before.
func (t *turn) follow(message string) {
	t.Message, t.Running, t.Refused, t.Late, t.Over, t.Nested = message, nil, "", nil, false, nil
	t.Old = t.Step != "" && len(t.Calls) == 0
}

func (t *turn) empty() bool {
	return t.Message == "" && len(t.Agents) == 0 && len(t.Running) == 0 && t.Missed == 0 && t.Broken == "" && t.Ending == nil && t.Typed == nil && !t.Gaps && len(t.Unlinked) == 0 && t.work.idle()
}

func (w *work) idle() bool { return w.Step == "" && len(w.Calls) == 0 }

// close forgets a step that has ended.
func (w *work) close() { w.Step, w.Parts, w.Git, w.Seen, w.Old = "", nil, nil, nil, false }

// of returns the work of the event's session.
func (t *turn) of(e *event) *work {
	if e.parent == "" {
		return &t.work
	}
	w := t.Agents[e.session]
	if w == nil {
		w = new(work)
		if t.Agents == nil {
			t.Agents = make(map[string]*work)
		}
		t.Agents[e.session] = w
	}
	return w
}

// announce notes a call. The same one twice is one: events may be repeated.
func (w *work) announce(e *event) {
	if !slices.Contains(w.Calls, e.call) {
		w.Calls = append(w.Calls, e.call)
		w.Parts = append(w.Parts, part{e.call, e.tool, e.recorded})
	}
}

// forget drops a call that has come back. An unannounced call does no harm.
func (w *work) forget(call string) {
	w.Calls = slices.DeleteFunc(w.Calls, func(c string) bool { return c == call })
}

// turns keeps the turns of all sessions below a directory.
type turns struct{ dir string }

// turnAge is the time after which a turn that never ended is removed.
const turnAge = 30 * 24 * time.Hour

func turnKey(root, session string) string {
	sum := sha256.Sum256([]byte(root + "\x00" + session))
	return hex.EncodeToString(sum[:16])
}

// use calls f with the turn of a session and writes the changed turn, at the end and each
// time that f calls save: a hook may be killed in the middle of its work. Hooks of one
// session wait for each other; the lock dies with its process. Lock files are shared and
// stay, because removing one is a race.
func (ts turns) use(ctx context.Context, root, session string, f func(t *turn, save func() error) error) (err error) {
	key := turnKey(root, session)
	unlock, err := ts.lock(ctx, key[:2])
	if err != nil {
		return err
	}
	defer unlock()
	path := filepath.Join(ts.dir, "turns", key+".json")
	t := readTurn(path)
	was, err := json.Marshal(t)
	if err != nil {
		return err
	}
	save := func() error {
		now, err := json.Marshal(t)
		switch {
		case err != nil:
			return err
		case t.empty():
			err = atomicfile.RemoveIfThere(path)
		case string(now) != string(was):
			err = writeSmall(path, now)
		}
		if err == nil {
			was = now
		}
		return err
	}
	err = f(t, save)
	return errors.Join(err, save())
}

// read returns the turn of a session without a lock. It may be older than the state of a call
// that is at work on it.
func (ts turns) read(root, session string) *turn {
	return readTurn(filepath.Join(ts.dir, "turns", turnKey(root, session)+".json"))
}

// lockPause is the time between two tries for a lock.
const lockPause = 2 * time.Millisecond

func (ts turns) lock(ctx context.Context, name string) (unlock func(), err error) {
	dir := filepath.Join(ts.dir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state of hooks: %w", err)
	}
	lock := flock.New(filepath.Join(dir, name), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		return nil, fmt.Errorf("wait for another hook of the session: %w", err)
	}
	return func() { lock.Close() }, nil
}

// readTurn reads a turn; one that cannot be read was never there.
func readTurn(path string) *turn {
	t := new(turn)
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, t) != nil {
		*t = turn{}
	}
	return t
}

func writeSmall(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("state of hooks: %w", err)
	}
	return atomicfile.Write(path, 0o600, false, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// sweep removes turns that never ended, for instance because the agent was killed.
func (ts turns) sweep() {
	dir := filepath.Join(ts.dir, "turns")
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range list {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > turnAge {
			os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}
