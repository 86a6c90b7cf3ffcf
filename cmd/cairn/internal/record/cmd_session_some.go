package record

import "github.com/seed-fb9cbc17/cairn"

const revertedFlag = "reverted"

// checkReverted refuses what does not go together with the changes of the reverts in effect.
func (r *sessionRun) checkReverted() error {
	if r.f.reverted && (r.f.turn != "" || r.f.message != "" || len(r.f.steps) > 0) {
		return r.Usage("diff shows either what is --reverted or a --turn, --message or --step")
	}
	return nil
}

// unrevertSome brings back the paths of --path, or hunks. The boundary stays.
func (r *sessionRun) unrevertSome() error {
	if r.f.endOpen || r.f.git.Git {
		return r.Usage("brings paths or hunks back without --end-open and --git")
	}
	if r.f.hunks.Any() {
		return r.revertHunks()
	}
	return r.movePaths("nothing to bring back: nothing is left of the reverts here", func(opt cairn.RevertOptions) (*cairn.Result, error) {
		return r.all.UnrevertSome(r.ctx, r.args[0], opt)
	})
}

// revertTurn takes the steps of one turn back, and leaves what came later. The boundary stays.
func (r *sessionRun) revertTurn() error {
	if r.f.message != "" || r.f.part != "" || r.f.start || r.f.endOpen || r.f.git.Git {
		return r.Usage("takes a turn back without --message, --part, --start, --end-open and --git")
	}
	in, err := r.scope()
	if err != nil {
		return err
	}
	steps, err := r.all.StepsIn(r.ctx, r.args[0], in)
	if err != nil {
		return err
	}
	return r.movePaths("nothing to revert: nothing is left of this turn", func(opt cairn.RevertOptions) (*cairn.Result, error) {
		return r.all.RevertSteps(r.ctx, r.args[0], steps, opt)
	})
}

// revertOptions are the flags of a way back that leaves the boundary where it is.
func (r *sessionRun) revertOptions() (cairn.RevertOptions, error) {
	move, err := r.options()
	return cairn.RevertOptions{
		OnConflict: move.OnConflict, DryRun: move.DryRun, Plan: move.Plan, ThisRoot: move.ThisRoot,
		Outside: move.Outside,
	}, err
}

// movePaths runs take for all paths of a change, or for those of --path.
func (r *sessionRun) movePaths(nothing string, take func(cairn.RevertOptions) (*cairn.Result, error)) error {
	opt, err := r.revertOptions()
	if err != nil {
		return err
	}
	if opt.Paths, err = r.Paths(r.f.paths); err != nil {
		return err
	}
	res, err := take(opt)
	if err != nil {
		return err
	}
	return r.tellTaken(res, nothing)
}
