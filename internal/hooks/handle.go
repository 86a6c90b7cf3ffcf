package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/lastdone"
	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/internal/service"
)

const (
	// DefaultDeadline is the longest time of a call that the agent waits for. Only the
	// first capture of a very large directory comes near it. The entries that cairn
	// setup makes give the process 10 s more than that.
	DefaultDeadline = 20 * time.Second

	// lastDeadline is the deadline of a call before the agent ends: Codex waits 3 s for
	// the hooks of SessionEnd and Interrupt, whatever timeout they are configured with.
	lastDeadline = 2500 * time.Millisecond

	// maxPayload bounds what is read from stdin, in bytes. A write tool sends the whole
	// file.
	maxPayload = 256 << 20
)

// Options says where a hook works. Dir and Open are required.
type Options struct {
	Dir      string        // where logs and the state between calls lie
	Deadline time.Duration // 0 = DefaultDeadline

	// Waits returns how long the agent waits for the answer to a prompt, 0 if that is not
	// known. A command that a person has typed has that time, less what it takes to
	// answer. nil = it has no more than other calls.
	Waits func() time.Duration

	// Project is the directory that the agent calls its project, "" if it names none.
	// Payloads give the current directory, which tools may change.
	Project string

	// Home is the user's home directory, for "~/" in commands, "" if it is not known.
	Home string

	// Passive: another part of cairn records the agent. Events are answered and not applied.
	Passive bool

	// Run is the session of the cairn run that the agent runs in, "" for none.
	Run string

	// Over is called when a turn or a session is over and what it changed is recorded; nil = never.
	Over func()

	// Line lists the processes above the hook, nil = those above this process.
	Line func() []process.Relative

	// Args returns the command line of a process, nil = as the system has it.
	Args func(process.ID) []string

	// Settings lists the files in which the agent has its settings, for a project; nil = none.
	Settings func(project string) []string

	// Private lists directories of the agent's own files, which are never roots of a session.
	Private []string

	// Env reads a variable that the agent handed on; nil = none is there.
	Env func(string) string

	// Pause waits for a time between two looks at a call that may have ended. nil = a timer.
	Pause func(context.Context, time.Duration) error

	// TurnEnded is called after a turn has ended, or with session a session, also where recording that has
	// failed. nil = nothing is to be done then.
	TurnEnded func(session bool)

	// Open opens the sessions of the root around a directory.
	Open func(ctx context.Context, dir string) (*Project, error)
}

func (o *Options) line() []process.Relative {
	if o.Line != nil {
		return o.Line()
	}
	return lineAbove()
}

func (o *Options) args(id process.ID) []string {
	if o.Args != nil {
		return o.Args(id)
	}
	return id.Args()
}

func (o *Options) pause() func(context.Context, time.Duration) error {
	if o.Pause != nil {
		return o.Pause
	}
	return sleep
}

// Project is an open root.
type Project struct {
	Root     string
	Git      git.Named // the repository of Root that the environment names
	Above    bool      // Root is a directory above the agent's own, because it has a store
	Broken   *Broken   // nil = the project's own settings can be used
	NoTexts  bool      // prompts and commands are not recorded
	NoMask   bool      // secrets in them are
	Sessions service.Sessions
	Overlap  *Overlap                         // nil = a prompt is recorded before its hook returns
	Finder   func() (*lastdone.Finder, error) // of operations; nil = they are not looked at
	Gaps     func(context.Context) []string   // what cannot be brought back, a line each; nil = it is not looked at
	Close    func() error

	// RootOf finds the root around another directory; nil = the top of its git work tree, or itself.
	RootOf func(dir string) (string, error)

	// LeavesOut reports whether captures of Root leave out a directory below it; nil = it is not looked at.
	LeavesOut func(ctx context.Context, dir string) (bool, error)
}

func (p *Project) rootOf() func(string) (string, error) {
	if p.RootOf != nil {
		return p.RootOf
	}
	return cairn.FindRoot
}

// Broken is a file of the project's own settings that is not in force.
type Broken struct {
	Text string // for the user
	Sum  string // changes with what the file holds
}

// Handle carries out one call of a hook of an agent: one payload from stdin, at most
// one JSON document to stdout. It never fails, because the agent could not act on a
// failure: errors go into the log and into the record of the agent, see [Records].
func Handle(ctx context.Context, agent string, stdin io.Reader, stdout io.Writer, opt Options) {
	agent = Agent(agent)
	began := time.Now()
	if opt.Deadline <= 0 {
		opt.Deadline = DefaultDeadline
	}
	rec := recorder{dir: opt.Dir, agent: agent}
	h := &hook{agent: agent, began: began}
	err := guarded(func() error {
		data, err := readPayload(ctx, stdin, opt.Deadline)
		if err != nil {
			return err
		}
		e, err := decode(agent, data)
		if err != nil {
			return err
		}
		h.event = e
		if opt.Passive {
			h.kind, h.said = noise, false
		}
		ctx, cancel := context.WithTimeout(ctx, h.deadline(opt)-time.Since(began))
		defer cancel()
		return h.run(ctx, opt)
	})
	if errors.Is(err, cairn.ErrDisabled) && !h.said {
		err = nil // off means off
	}
	if err == nil && opt.Over != nil && !opt.Passive && (h.kind == stop || h.kind == sessionEnd) {
		opt.Over()
	}
	rec.note(h, errors.Join(err, h.unlinked), time.Since(began))
	if reply := h.reply(err); reply != nil {
		stdout.Write(reply) // the agent is gone if this fails
	}
	if opt.TurnEnded != nil && h.event != nil && h.parent == "" && (h.kind == stop || h.kind == sessionEnd) {
		opt.TurnEnded(h.kind == sessionEnd)
	}
}

// deadline is how long the call may take. An agent that has given up waiting passes the
// prompt on to the model, so the answer comes before that.
func (h *hook) deadline(opt Options) time.Duration {
	waits := h.waits
	if waits == 0 && h.kind == command && opt.Waits != nil {
		waits = opt.Waits()
	}
	if h.kind != command || waits <= 0 {
		return opt.Deadline
	}
	return waits - max(waits/20, min(2*time.Second, waits/4))
}

// guarded turns a panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// readPayload reads stdin to its end. An agent that never closes it costs a goroutine of
// a process that ends.
func readPayload(ctx context.Context, r io.Reader, deadline time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(r, maxPayload+1))
		done <- read{data, err}
	}()
	select {
	case got := <-done:
		if got.err == nil && len(got.data) > maxPayload {
			return nil, fmt.Errorf("%w: more than %d MiB", errPayload, maxPayload>>20)
		}
		return got.data, got.err
	case <-ctx.Done():
		return nil, fmt.Errorf("read the payload: %w", ctx.Err())
	}
}

// run applies the event to the sessions of its project.
func (h *hook) run(ctx context.Context, opt Options) (err error) {
	if h.kind == noise || h.reads && (h.kind == before || h.kind == after || h.kind == did) {
		return nil
	}
	if h.kind == sessionEnd || h.name == "Interrupt" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, lastDeadline)
		defer cancel()
	}
	if h.kind == command && h.answers() {
		return nil
	}
	dir := h.workDir(opt)
	project, err := opt.Open(ctx, dir)
	if err != nil {
		return err
	}
	if err := h.rememberHome(opt, dir); err != nil {
		return errors.Join(err, project.Close())
	}
	defer func() { err = errors.Join(err, project.Close()) }()
	h.sessions, h.dataDir, h.root, h.namedGit = project.Sessions, opt.Dir, project.Root, project.Git
	h.finder, h.findGaps, h.overlap = project.Finder, project.Gaps, project.Overlap
	h.ranBy = opt.Run
	h.above, h.home, h.broken = project.Above && !sameDir(h.dir, project.Root), opt.Home, project.Broken
	h.rootOf, h.leavesOut = project.rootOf(), project.LeavesOut
	h.findDirs(ctx, opt, dir)
	h.reduceTexts(project.NoTexts, project.NoMask)
	ts := turns{opt.Dir}
	if h.kind == sessionBegin {
		ts.sweep()
	}
	top := h.topSession()
	h.awaitEnd(ctx, func() *turn { return ts.read(project.Root, top) }, opt.pause())
	return ts.use(ctx, project.Root, top, func(t *turn, save func() error) error {
		h.turn, h.saveTurn = t, save
		err := h.meetAgent(ctx, opt.line())
		if err == nil {
			err = h.apply(ctx)
		}
		switch {
		case h.missed(err):
			t.Missed, t.Why = t.Missed+1, failureText(err)
		case err == nil && (h.kind == sessionBegin || h.kind == stop && h.parent == ""):
			err = Probe(opt.Dir)
		}
		if err == nil {
			h.noteBroken()
			h.noteGaps(ctx)
		}
		h.noteMissed()
		return err
	})
}

// missed reports whether an error means that a step has not been captured.
func (h *hook) missed(err error) bool {
	return err != nil && h.event != nil && (h.kind == before || h.kind == after || h.kind == did || h.kind == stop || h.kind == agentStop)
}

// busy reports whether an error is about time: another process held the store for long, or the
// directory is very large.
func busy(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, cairn.ErrLocked)
}
