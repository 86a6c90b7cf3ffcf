package best

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/child"
	"github.com/seed-fb9cbc17/cairn/internal/diffstat"
	"github.com/seed-fb9cbc17/cairn/internal/recorder"
	"github.com/seed-fb9cbc17/cairn/internal/trial"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// attempt runs command and test in a fork. A failure is part of the attempt.
func (r *run) attempt(ctx context.Context, a *Attempt) {
	if ctx.Err() != nil {
		return
	}
	if err := r.try(ctx, a); err != nil && ctx.Err() == nil {
		a.Error = strings.Join(wording.Messages(err), "; ")
		r.say(a, a.Error)
	}
}

func (r *run) say(a *Attempt, text string) { r.opt.Say(a.Root.Place() + ": " + text) }

func (r *run) try(ctx context.Context, a *Attempt) (err error) {
	log, err := openLog(string(a.Root))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	a.Log = cairn.Path(log.Name())
	repo, err := r.opt.Open(string(a.Root))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	if err := r.command(ctx, repo, a, log); err != nil {
		return err
	}
	r.say(a, "ended with status "+strconv.Itoa(a.Status))
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := count(ctx, repo, a); err != nil {
		return err
	}
	if r.opt.Test == nil {
		return nil
	}
	return r.test(ctx, repo, a, log)
}

// openLog makes the file for the output beside a fork. It replaces no file of an earlier run.
func openLog(dir string) (*os.File, error) {
	name := dir + ".log"
	for i := 2; ; i++ {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		name = dir + "." + strconv.Itoa(i) + ".log"
	}
}

// ofRoot lists the variables that lead git to the repository of the first directory.
var ofRoot = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "PWD", NumberVariable, CountVariable}

// environ returns the environment of an attempt.
func (r *run) environ(a *Attempt) []string {
	env := slices.DeleteFunc(slices.Clone(r.opt.Environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(ofRoot, name)
	})
	if a.Session != "" {
		env = append(env, recorder.Variable+"="+a.Session)
	}
	return append(env, "PWD="+string(a.Root), NumberVariable+"="+strconv.Itoa(a.Number), CountVariable+"="+strconv.Itoa(r.opt.Count))
}

// command runs the command between checkpoints.
func (r *run) command(ctx context.Context, repo *cairn.Repo, a *Attempt, log *os.File) error {
	var rec *recorder.Recording
	if !r.opt.NoSession {
		rec = recorder.Begin(ctx, func() (*cairn.Repo, error) { return repo, nil }, r.opt.Command, time.Now(), true)
		a.Session = rec.ID
	}
	cmd, err := child.StartApart(ctx, r.opt.Command, string(a.Root), r.environ(a), log)
	if err != nil {
		a.Session, err = "", notStarted(a, r.opt.Command[0], err)
		if rec != nil {
			err = errors.Join(err, rec.Forget())
		}
		return err
	}
	r.say(a, "started; its output goes to "+a.Log.Place())
	if rec == nil {
		a.Status = cmd.Wait()
		return nil
	}
	a.Status = recorded(context.WithoutCancel(ctx), rec, cmd)
	for _, fault := range rec.Faults {
		r.opt.Warn(a.Root.Place() + ": " + fault)
	}
	return nil
}

func notStarted(a *Attempt, name string, err error) error {
	status, reason := child.Fault(err)
	a.Status = status
	return fmt.Errorf("cannot run %s: %s", wording.ShellWord(name), reason)
}

// recorded waits for a command whose work is recorded. The checkpoint at the end is taken also when the
// run was interrupted.
func recorded(ctx context.Context, rec *recorder.Recording, cmd *child.Apart) int {
	rec.Child, _ = session.ProcessOf(cmd.PID())
	watching, rest := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { rec.Watch(watching) })
	status := cmd.Wait()
	rest()
	watch.Wait()
	rec.End(ctx)
	return status
}

// count captures a fork and counts what changed.
func count(ctx context.Context, repo *cairn.Repo, a *Attempt) error {
	now, err := repo.Track(ctx, cairn.TrackOptions{})
	if err != nil {
		return err
	}
	a.Checkpoint = now.Checkpoint
	changes, err := repo.Changes(ctx, a.Base, a.Checkpoint)
	if err != nil {
		return err
	}
	stats, err := diffstat.Of(ctx, repo, changes, cairn.DiffOptions{})
	a.Files = len(changes)
	for _, f := range stats {
		a.Additions, a.Deletions = a.Additions+f.Additions, a.Deletions+f.Deletions
	}
	return err
}

// test runs the test on the state after the command, and notes the result unless it is that of another
// state.
func (r *run) test(ctx context.Context, repo *cairn.Repo, a *Attempt, log *os.File) error {
	began := time.Now()
	cmd, err := child.StartApart(ctx, r.opt.Test, string(a.Root), r.environ(a), log)
	if err != nil {
		_, reason := child.Fault(err)
		return fmt.Errorf("cannot run the test with %s: %s", wording.ShellWord(r.opt.Test[0]), reason)
	}
	status := cmd.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	result := cairn.TestResult{
		Checkpoint: a.Checkpoint, Command: r.opt.Test, Status: status, When: time.Now(), Milliseconds: time.Since(began).Milliseconds(),
	}
	a.Test = &result
	r.say(a, "the test ended with status "+strconv.Itoa(status))
	if status < 0 || status >= child.CannotRun {
		a.Note = "the test did not end by itself, or was not there"
		return nil
	}
	changed, err := trial.Note(ctx, repo, result)
	if len(changed) > 0 {
		a.Note = cairn.Path(changed[0]).Quoted() + " changed while the test ran"
	}
	return err
}
