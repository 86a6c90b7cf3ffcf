package operation

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gitrestore"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/history"
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
type GitConflict struct {
	Ref    state.Path `json:"ref" doc:"Full name."`
	Reason string     `json:"reason"`
}

// GitResult says what a RestoreGit did, or would do.
type GitResult struct {
	Changes   []string      `json:"changes" doc:"In words."`
	Conflicts []GitConflict `json:"conflicts"`
	PlanID    string        `json:"planID,omitempty" doc:"Of a dry run."`
	Before    string        `json:"before,omitempty" doc:"Checkpoint that leads back to the state of git before; empty if there was no repository."`
}

// ErrNotPlanned is wrapped by the error of RestoreGit without the id of the present plan.
var ErrNotPlanned = errors.New("not planned")

// RestoreGit brings the user's git repository back to its state at a checkpoint. It changes the
// repository, so a plan has to be made and named first. The files of the work tree stay: Restore
// brings them back. The state before becomes a checkpoint, to which the same call leads back.
func (r *Operator) RestoreGit(ctx context.Context, spec string, opt GitRestoreOptions) (*GitResult, error) {
	target, err := r.Lookup(ctx, spec)
	if err != nil {
		return nil, err
	}
	p, err := r.planGit(ctx, target.ID, opt)
	if err != nil {
		return nil, err
	}
	if opt.DryRun {
		res := gitResult(p)
		res.PlanID = p.ID()
		return res, nil
	}
	if err := opt.allow(p); err != nil { // before a checkpoint is made
		return nil, err
	}
	before, err := r.Track(ctx, capture.TrackOptions{Message: "before git goes back to " + target.Hash})
	if err != nil {
		return nil, err
	}
	var res *GitResult
	err = r.Exclusive(ctx, func(*history.Locked) error {
		res, err = r.carryOutGit(ctx, target.ID, opt)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !p.Rebuild {
		res.Before = before.Checkpoint
	}
	_, err = r.Track(ctx, capture.TrackOptions{Message: "after git went back to " + target.Hash, Author: history.Identity.Name})
	return res, err
}

// allow reports whether a plan is the one that the caller has named.
func (o *GitRestoreOptions) allow(p *gitrestore.Plan) error {
	switch {
	case o.Plan == "":
		return fmt.Errorf("%w: git goes back only by a plan that a dry run has made", ErrNotPlanned)
	case o.Plan != p.ID():
		return fmt.Errorf("%w: the plan would be another one now (make a dry run again)", ErrNotPlanned)
	}
	return nil
}

func (r *Operator) carryOutGit(ctx context.Context, target string, opt GitRestoreOptions) (*GitResult, error) {
	p, err := r.planGit(ctx, target, opt)
	if err != nil {
		return nil, err
	}
	if err := opt.allow(p); err != nil {
		return nil, err
	}
	binary, err := git.LookBinary()
	if err != nil {
		return nil, err
	}
	a := gitrestore.Applier{Git: binary, Vault: r.Vault().Dir(), Note: "cairn: back to checkpoint " + target}
	return gitResult(p), a.Apply(context.WithoutCancel(ctx), p)
}

// planGit plans the way from the present state of git to the one at a checkpoint.
func (r *Operator) planGit(ctx context.Context, target string, opt GitRestoreOptions) (*gitrestore.Plan, error) {
	then, err := r.GitRecordAt(ctx, target)
	if err != nil {
		return nil, err
	}
	if then == nil {
		return nil, state.NotFound("checkpoint %s does not say how git was", target)
	}
	base, err := r.gitSince(ctx, opt.Since)
	if err != nil {
		return nil, err
	}
	now, err := r.GitRecordNow(ctx)
	if err != nil {
		return nil, err
	}
	p := gitrestore.Make(then, base, now, gitrestore.Parts{Head: opt.Head, Refs: opt.Refs, Index: opt.Index})
	if p.Index && now != nil && capture.SameIndex(then, now) {
		p.Index = false // only stat data differ
	}
	if p.Refused != "" {
		return nil, fmt.Errorf("%w: %s", gitrestore.ErrRefused, p.Refused)
	}
	return p, nil
}

// gitSince returns the record at the end of a step, nil for none.
func (r *Operator) gitSince(ctx context.Context, since string) (*gitstate.Record, error) {
	if since == "" {
		return nil, nil
	}
	base, err := r.GitRecordAt(ctx, since)
	if err == nil && base == nil {
		err = state.NotFound("checkpoint %s does not say how git was", since)
	}
	return base, err
}

func gitResult(p *gitrestore.Plan) *GitResult {
	res := &GitResult{Changes: append([]string{}, p.Changes()...), Conflicts: []GitConflict{}}
	for _, c := range p.Conflicts {
		res.Conflicts = append(res.Conflicts, GitConflict{state.Path(c.Ref), c.Reason})
	}
	return res
}
