package trial

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// Runner runs a command on checkpoints in a scratch copy and notes the results.
type Runner struct {
	Repo    *cairn.Repo
	Command []string
	Scratch string // directory for copies; made where it is missing
	Again   bool   // noted results do not count

	// Run runs the command in a directory and returns its exit status.
	Run func(ctx context.Context, dir string, c *cairn.Checkpoint) (status int, err error)

	Tested, Reused int

	copy  *Copy
	noted map[string]int // statuses by checkpoint
}

// Test returns the exit status of the command on a checkpoint: the noted one, else that of a run.
func (r *Runner) Test(ctx context.Context, c *cairn.Checkpoint) (int, error) {
	if r.noted == nil {
		if err := r.load(ctx); err != nil {
			return 0, err
		}
	}
	if status, ok := r.noted[c.ID]; ok {
		r.Reused++
		return status, nil
	}
	if r.copy == nil {
		made, err := NewCopy(r.Repo, r.Scratch)
		if err != nil {
			return 0, err
		}
		r.copy = made
	}
	if err := r.copy.To(ctx, c); err != nil {
		return 0, err
	}
	began := time.Now()
	status, err := r.Run(ctx, r.copy.Dir(), c)
	if err != nil || ctx.Err() != nil || status < 0 || status >= abort {
		return status, err
	}
	r.Tested++
	r.noted[c.ID] = status
	return status, r.Repo.NoteTest(ctx, cairn.TestResult{
		Checkpoint: c.ID, Command: r.Command, Status: status, When: time.Now(), Milliseconds: time.Since(began).Milliseconds(),
	})
}

func (r *Runner) load(ctx context.Context) error {
	r.noted = make(map[string]int)
	sweep(r.Scratch, time.Now()) // also where no command has to run
	if r.Again {
		return nil
	}
	all, err := r.Repo.TestResults(ctx)
	inRoot := cairn.TestResult{Command: r.Command} // as in the copy
	for i := range all {
		if t := &all[i]; t.SameTest(&inRoot) {
			r.noted[t.Checkpoint] = t.Status
		}
	}
	return err
}

// Close removes the copy.
func (r *Runner) Close() error {
	if r.copy == nil {
		return nil
	}
	return r.copy.Remove()
}
