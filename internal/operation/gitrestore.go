package operation

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/gitrestore"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// GitRestoreOptions controls a RestoreGit.
type GitRestoreOptions struct {
	// Head, Refs and Index choose what goes back. None of them means all of them.
	Head, Refs, Index bool

	// Since is the checkpoint at the end of the step that is to be taken back: only what moved up to
	// then goes back, and a ref that has moved later stays, as a conflict. "" = everything goes back.
	Since string

	DryRun bool
	Plan   string // id of the plan of a dry run; only that one is carried out
}

// GitConflict is a ref that stays where it is.
type GitConflict = history.GitConflict

// GitResult lists the changes of the user's git repository, or those of a plan.
type GitResult struct {
	Changes   []string      `json:"changes" doc:"In words."`
	Conflicts []GitConflict `json:"conflicts"`
	Operation string        `json:"operation,omitempty" doc:"Id, empty when there was nothing to do and for a plan."`
	PlanID    string        `json:"planID,omitempty" doc:"Of a dry run."`
	Before    string        `json:"before,omitempty" doc:"Checkpoint that leads back to the state of git before; empty if there was no repository."`
}

// ErrNotPlanned is wrapped by the error of an operation that is to move git without the id of a plan.
// That of RestoreGit wraps it as well where the plan would be another one now.
var ErrNotPlanned = errors.New("not planned")

var errGitNotPlanned = fmt.Errorf("%w: git goes back only by a plan that a dry run has made", ErrNotPlanned)

// RestoreGit brings the user's git repository back to its state at a checkpoint, as an operation that
// Undo takes back. It changes the repository, so a plan has to be made and named first. The files of
// the work tree stay: Restore brings them back.
func (r *Operator) RestoreGit(ctx context.Context, spec string, opt GitRestoreOptions) (*GitResult, error) {
	if opt.Plan == "" && !opt.DryRun {
		return nil, errGitNotPlanned
	}
	target, err := r.Lookup(ctx, spec)
	if err != nil {
		return nil, err
	}
	g := &gitBack{To: true, Parts: gitrestore.Parts{Head: opt.Head, Refs: opt.Refs, Index: opt.Index}, Ways: []gitWay{{Before: target.ID}}}
	if err := r.knowGit(ctx, target.ID); err != nil {
		return nil, err
	}
	if opt.Since != "" {
		since, err := r.Lookup(ctx, opt.Since)
		if err != nil {
			return nil, err
		}
		if err := r.knowGit(ctx, since.ID); err != nil {
			return nil, err
		}
		g.Ways[0].After = since.ID
	}
	req := opRequest{kind: "restore", target: target.ID, dryRun: opt.DryRun, planID: opt.Plan, git: g}
	res, err := r.operate(ctx, req, func(*capture.Snapshot) (*plan.Plan, error) { return &plan.Plan{}, nil })
	if errors.Is(err, state.ErrMoved) {
		return nil, fmt.Errorf("%w: %w", ErrNotPlanned, err)
	}
	if err != nil {
		return nil, err
	}
	out := *res.Git
	if out.Operation = res.Operation; opt.DryRun {
		out.PlanID = res.PlanID
	}
	out.Before, err = r.gitBefore(ctx, res.Operation)
	return &out, err
}

// knowGit refuses a checkpoint that does not say how git was.
func (r *Operator) knowGit(ctx context.Context, id string) error {
	record, err := r.GitRecordAt(ctx, id)
	if err == nil && record == nil {
		err = state.NotFound("checkpoint %s does not say how git was", id)
	}
	return err
}

// gitBefore returns the checkpoint before an operation, "" if there was no repository by then.
func (r *Operator) gitBefore(ctx context.Context, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	for op, err := range r.Operations(ctx) {
		if err != nil || op.ID != id {
			return "", err
		}
		record, err := r.GitRecordAt(ctx, op.Before)
		if err != nil || record == nil {
			return "", err
		}
		return op.Before, nil
	}
	return "", nil
}
