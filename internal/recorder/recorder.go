// Package recorder records the work of one command as a session: each burst of writes is a
// turn, from the state before it to the moment at which the files come to rest.
package recorder

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Variable names the session of a run to cairn's hooks of an agent that the command is or starts. Their record
// takes the place of the run's: hooks end its open step before they record.
const Variable = "CAIRN_RUN"

// Recording is the session of one run. A failure is noted, and the run goes on.
type Recording struct {
	ID     string
	Child  session.Process // the command, once it runs
	Faults []string

	TakenOver bool // an agent's hooks record the root instead

	repo     *cairn.Repo
	sessions *session.Sessions
	line     string // the command line
	first    string // checkpoint before the command
	last     string // checkpoint at the beginning of the burst; "" = nothing can be recorded
	bursts   int    // begun
}

// Begin takes the checkpoint before a command. open opens the repository. A run in the step of an agent that runs this
// process is recorded only with apart, which is for another directory than the agent's: a fork has a copy of the step.
func Begin(ctx context.Context, open func() (*cairn.Repo, error), command []string, now time.Time, apart bool) *Recording {
	words := make([]string, len(command))
	for i, arg := range command {
		words[i] = wording.ShellWord(arg)
	}
	r := &Recording{ID: newID(now), line: strings.ToValidUTF8(strings.Join(words, " "), "\uFFFD")}
	if err := r.begin(ctx, open, apart); err != nil && ctx.Err() == nil {
		r.fault("the run is not protected", err)
	}
	return r
}

// newID names a run so that the names sort by time.
func newID(now time.Time) string {
	var random [3]byte
	rand.Read(random[:]) // never fails
	return "run-" + now.UTC().Format("20060102T150405") + "-" + hex.EncodeToString(random[:])
}

func (r *Recording) begin(ctx context.Context, open func() (*cairn.Repo, error), apart bool) (err error) {
	if r.repo, err = open(); err != nil {
		return err
	}
	r.sessions = session.New(r.repo)
	if r.TakenOver = !apart && r.isInStep(ctx); r.TakenOver {
		return nil
	}
	if _, err := r.sessions.Begin(ctx, session.SessionBegin{ID: r.ID, Title: r.line}); err != nil {
		return err
	}
	return r.beginStep(ctx)
}

// isInStep reports whether a tool of an agent runs this process, and hooks record the tool. The first process of a
// step's owner is the agent. Others may be above it, and then above commands beside the agent, too.
func (r *Recording) isInStep(ctx context.Context) bool {
	steps, err := r.sessions.OpenSteps(ctx)
	if err != nil || len(steps) == 0 {
		return false
	}
	line := process.Line(os.Getppid())
	return slices.ContainsFunc(steps, func(step session.OpenStep) bool {
		return !step.Gone && step.Owner != nil && len(step.Owner.Processes) > 0 &&
			slices.ContainsFunc(line, func(above process.Relative) bool { return above.ID == process.ID(step.Owner.Processes[0]) })
	})
}

// beginStep begins the next burst, and ends the one that is under way in the same
// instant: every write in the meantime belongs to one of the two. Each burst is a
// turn of its own, so that undo takes back one after the other.
func (r *Recording) beginStep(ctx context.Context) error {
	name := fmt.Sprintf("burst-%d", r.bursts+1)
	step, err := r.sessions.BeginStep(ctx, session.StepBegin{
		Session: r.ID, Message: name, Step: name, Role: session.RoleUser, Prompt: r.line, Owner: r.owner(),
	})
	if err != nil {
		return err
	}
	r.first, r.last = cmp.Or(r.first, step.Before.ID), step.Before.ID
	r.bursts++
	return nil
}

// owner is this process and the command: either may be killed, and the other goes on.
// The first step begins before the command; Watch adds it.
func (r *Recording) owner() *session.Owner {
	o := &session.Owner{}
	if self, ok := session.ProcessOf(os.Getpid()); ok {
		o.Processes = append(o.Processes, self)
	}
	if r.Child.PID != 0 {
		o.Processes = append(o.Processes, r.Child)
	}
	return o
}

// Forget removes the session of a command that did not start.
func (r *Recording) Forget() error {
	if r.sessions == nil {
		return nil
	}
	if err := r.sessions.Delete(context.Background(), r.ID); err != nil && !errors.Is(err, session.ErrNotFound) {
		return err
	}
	return nil
}

// Watch ends a step whenever the files have come to rest, until the context ends.
func (r *Recording) Watch(ctx context.Context) {
	if r.last == "" {
		return
	}
	if r.Child.PID != 0 {
		owner := session.Owner{Processes: []session.Process{r.Child}}
		if err := r.sessions.ShareStep(ctx, r.ID, "burst-1", owner); err != nil && ctx.Err() == nil {
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
		if r.takenOver(ctx) {
			return
		}
		begun := time.Now()
		state, err := r.differences(ctx)
		if err == nil && rest.reached(state, begun) {
			if err = r.beginStep(ctx); err != nil && ctx.Err() == nil {
				r.fault("a checkpoint in between failed", err)
			}
		}
		timer.Reset(rest.pause(time.Since(begun)))
	}
}

// takenOver reports whether hooks have ended the step that is under way.
func (r *Recording) takenOver(ctx context.Context) bool {
	s, err := r.sessions.Brief(ctx, r.ID)
	r.TakenOver = r.TakenOver || err == nil && s.Open == ""
	return r.TakenOver
}

// differences says how the files differ from the last checkpoint; "" if they do not.
func (r *Recording) differences(ctx context.Context) (string, error) {
	changes, err := r.repo.Changes(ctx, r.last, "")
	var state strings.Builder
	for _, ch := range changes {
		fmt.Fprintf(&state, "%q %s %o %o\n", ch.Path, ch.NewID, ch.NewMode, ch.NewPerm)
	}
	return state.String(), err
}

// End takes the last checkpoint and returns the number of bursts.
func (r *Recording) End(ctx context.Context) int {
	if r.last == "" {
		return 0
	}
	if r.takenOver(ctx) {
		return r.written(ctx)
	}
	step, err := r.sessions.EndStep(ctx, session.StepEnd{Session: r.ID})
	switch {
	case errors.Is(err, cairn.ErrRoot) && errors.Is(err, fs.ErrNotExist):
		r.rootGone()
		return 0 // a session has no way back to a directory that is not there
	case errors.Is(err, context.Canceled):
		r.fault("the checkpoint at the end is missing, cairn track takes it", errors.New("interrupted"))
	case err != nil:
		r.fault("the checkpoint at the end is missing, cairn track takes it", err)
	case len(step.Patch.Files) == 0:
		return r.bursts - 1 // nothing was written since the last one
	}
	return r.bursts
}

// rootGone tells how a directory comes back that the command has removed. A later burst may begin with an empty one.
func (r *Recording) rootGone() {
	root := wording.ShellWord(r.repo.Root())
	r.Faults = append(r.Faults, fmt.Sprintf("%s is gone; where it was removed: mkdir %s && cairn -C %s restore %s; where it was moved, cairn adopt",
		root, root, root, r.first))
}

// written counts the bursts that changed files.
func (r *Recording) written(ctx context.Context) (n int) {
	messages, err := r.sessions.History(ctx, r.ID)
	if err != nil {
		r.fault("the bursts cannot be counted", err)
	}
	for _, m := range messages {
		if slices.ContainsFunc(m.Steps, func(step session.Step) bool { return len(step.Patch.Files) > 0 }) {
			n++
		}
	}
	return n
}

func (r *Recording) fault(what string, err error) {
	text := what + ": " + strings.Join(wording.Messages(err), "; ")
	if n := len(r.Faults); n == 0 || r.Faults[n-1] != text { // the same thing fails every second
		r.Faults = append(r.Faults, text)
	}
}

// Close closes the repository.
func (r *Recording) Close() {
	if r.repo != nil {
		r.repo.Close()
	}
}
