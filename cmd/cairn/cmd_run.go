package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const runManual = `cairn run runs a command and takes checkpoints around it: for agents, scripts
and generators that have no hooks.

Usage:
    cairn run [--] COMMAND [ARGUMENT...]

There is a checkpoint before the command starts, one whenever the files come to
rest after a burst of writes, and one when it has ended. They are kept as a
session in which every burst is a turn, so that all of it or its latter part can
be taken back; what you change beside it while it runs counts as the command's,
too. The id of the session is on stderr at the end.

The command has the terminal, stdin, stdout and stderr as if started without
cairn, and its exit status is that of cairn. Ctrl-C, Ctrl-Z and other signals
reach it; it is for the command to say what they do. If a checkpoint fails the
command goes on, and there is a warning at the end.

How often cairn looks follows what looking costs: every half second in a small
project, less often in a large one, so that it takes a few percent of one
processor at most. Between two looks bursts may run together; the checkpoint at
the end misses nothing.

Exit status: that of the command; 128 and the number of the signal that killed
it; 126 if it cannot be run, 127 if it is not there, and 130 if you interrupt
the first checkpoint, in which case it is not started.

Examples:
    cairn run -- make generate
    cairn -C site run npm run codemod
`

func (c *cli) runCommand() *cobra.Command {
	cmd := c.command(command{
		use: "run [--] COMMAND [ARGUMENT...]", short: "run a command with checkpoints around it", manual: runManual,
		args: takes(1, -1, "a command"), complete: completeCommand,
		run: func(ctx context.Context, _ *cobra.Command, args []string) error {
			if c.global.json {
				return c.usage("has no --json form: the answer is the command's")
			}
			return c.supervise(ctx, args)
		},
	})
	cmd.Flags().SetInterspersed(false) // what follows the command is the command's
	return cmd
}

func completeCommand(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// childStatus is how the command ended; it is the program's exit status, too.
type childStatus int

func (s childStatus) Error() string { return fmt.Sprintf("the command ended with status %d", int(s)) }

// supervise runs a command between checkpoints. Only an interrupt of the first
// checkpoint keeps it from running.
func (c *cli) supervise(ctx context.Context, args []string) error {
	signals := newRelay()
	defer signals.stop()
	child, err := c.newChild(args)
	if err != nil {
		return c.neverStarted(args[0], err)
	}
	record := c.beginRecord(ctx, args)
	defer record.close()
	if ctx.Err() != nil {
		record.forget()
		return fmt.Errorf("the command was not started: %w", ctx.Err())
	}
	// From here on signals are for the command.
	ctx = context.WithoutCancel(ctx)
	if err := child.Start(); err != nil {
		record.forget()
		return c.neverStarted(args[0], err)
	}
	record.child, _ = session.ProcessOf(child.Process.Pid)
	watching, rest := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		record.watch(watching)
	}()
	status := signals.wait(child)
	rest()
	<-watched
	c.endRecord(ctx, signals, record)
	if status != exitDone {
		return childStatus(status)
	}
	return nil
}

// endRecord takes the last checkpoint. A signal that comes now is for cairn.
func (c *cli) endRecord(ctx context.Context, signals *relay, record *record) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer signals.redirect(cancel)()
	bursts := record.end(ctx)
	for _, fault := range record.faults {
		c.console.complain("warning: " + fault)
	}
	if bursts > 0 {
		c.console.remark("%s of changes; to take it back: cairn session revert %s --start", wording.Count(bursts, "burst"), record.id)
	}
}

// record is the session of one run. Whatever fails is noted, and the run goes on.
type record struct {
	c        *cli
	repo     *cairn.Repo
	sessions *session.Sessions
	id       string
	line     string // the command line
	last     string // checkpoint at the beginning of the burst; "" = nothing can be recorded
	bursts   int    // begun
	child    session.Process
	faults   []string
}

func (c *cli) beginRecord(ctx context.Context, args []string) *record {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = shellWord(arg)
	}
	r := &record{c: c, id: newRunID(c.console.now()), line: strings.ToValidUTF8(strings.Join(words, " "), "\uFFFD")}
	err := r.begin(ctx)
	if err != nil && ctx.Err() == nil {
		r.fault("the run is not protected", err)
		c.console.complain("warning: " + r.faults[0])
	}
	return r
}

// newRunID names a run so that the names sort by time.
func newRunID(now time.Time) string {
	var random [3]byte
	rand.Read(random[:]) // never fails
	return "run-" + now.UTC().Format("20060102T150405") + "-" + hex.EncodeToString(random[:])
}

func (r *record) begin(ctx context.Context) (err error) {
	if r.repo, err = r.c.open(); err != nil {
		return err
	}
	r.sessions = session.New(r.repo)
	if _, err := r.sessions.Begin(ctx, session.Begin{ID: r.id, Title: r.line}); err != nil {
		return err
	}
	return r.beginStep(ctx)
}

// beginStep begins the next burst, and ends the one that is under way in the same
// instant: whatever is written meanwhile belongs to one of the two. Each burst is a
// turn of its own, so that undo takes back one after the other.
func (r *record) beginStep(ctx context.Context) error {
	name := fmt.Sprintf("burst-%d", r.bursts+1)
	step, err := r.sessions.BeginStep(ctx, session.StepBegin{
		Session: r.id, Message: name, Step: name, Role: session.RoleUser, Prompt: r.line, Owner: r.owner(),
	})
	if err != nil {
		return err
	}
	r.last = step.Before.ID
	r.bursts++
	return nil
}

// owner is this process and the command: either may be killed, and the other goes on.
// The first step begins before the command; watch adds it.
func (r *record) owner() *session.Owner {
	o := &session.Owner{}
	if self, ok := session.ProcessOf(os.Getpid()); ok {
		o.Processes = append(o.Processes, self)
	}
	if r.child.PID != 0 {
		o.Processes = append(o.Processes, r.child)
	}
	return o
}

// forget takes back the beginning of a run that did not start.
func (r *record) forget() {
	if r.sessions == nil {
		return
	}
	if err := r.sessions.Delete(context.Background(), r.id); err != nil && !errors.Is(err, session.ErrNotFound) {
		r.c.console.complain("warning: " + strings.Join(messages(err), "; "))
	}
}

// watch ends a step whenever the files have come to rest, until the context ends.
func (r *record) watch(ctx context.Context) {
	if r.last == "" {
		return
	}
	if r.child.PID != 0 {
		owner := session.Owner{Processes: []session.Process{r.child}}
		if err := r.sessions.ShareStep(ctx, r.id, "burst-1", owner); err != nil && ctx.Err() == nil {
			r.fault("the command is not known as the owner of its first step", err)
		}
	}
	var rest rest
	timer := time.NewTimer(minPause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		begun := time.Now()
		state, err := r.look(ctx)
		if err == nil && rest.reached(state, begun) {
			if err = r.beginStep(ctx); err != nil && ctx.Err() == nil {
				r.fault("a checkpoint in between failed", err)
			}
		}
		timer.Reset(rest.pause(time.Since(begun)))
	}
}

// look says how the files differ from the last checkpoint; "" if they do not.
func (r *record) look(ctx context.Context) (string, error) {
	changes, err := r.repo.Changes(ctx, r.last, "")
	var state strings.Builder
	for _, ch := range changes {
		fmt.Fprintf(&state, "%q %s %o %o\n", ch.Path, ch.NewID, ch.NewMode, ch.NewPerm)
	}
	return state.String(), err
}

// end takes the last checkpoint and returns how many bursts there were.
func (r *record) end(ctx context.Context) int {
	if r.last == "" {
		return 0
	}
	step, err := r.sessions.EndStep(ctx, session.StepEnd{Session: r.id})
	switch {
	case errors.Is(err, context.Canceled):
		r.fault("the checkpoint at the end is missing, cairn track takes it", errors.New("interrupted"))
	case err != nil:
		r.fault("the checkpoint at the end is missing, cairn track takes it", err)
	case len(step.Patch.Files) == 0:
		return r.bursts - 1 // nothing was written since the last one
	}
	return r.bursts
}

func (r *record) fault(what string, err error) {
	text := what + ": " + strings.Join(messages(err), "; ")
	if n := len(r.faults); n == 0 || r.faults[n-1] != text { // the same thing fails every second
		r.faults = append(r.faults, text)
	}
}

func (r *record) close() {
	if r.repo != nil {
		r.repo.Close()
	}
}
