package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/gitrestore"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// GitMoved says in words what differs in the user's git repository from one checkpoint to another:
// HEAD, refs, stash, index, operations in progress. to may be "" for the present state. Each text is
// a short phrase such as "main: 3 commits away (a1b2c3d..d4e5f6a)" or "2 branches deleted".
//
// A checkpoint without a record of git gives no text: it is older than these records, the setting
// git is off, or the checkpoint came from another machine.
func (r *Repo) GitMoved(ctx context.Context, from, to string) ([]string, error) {
	m, _, err := r.capturer.GitMovement(ctx, from, to)
	if err != nil || m == nil {
		return nil, err
	}
	return m.Words(r.capturer.CommitsBetween(ctx)), nil
}

// GitProtection says whether checkpoints record the state of the user's git repository.
type GitProtection struct {
	On     bool   `json:"on"`
	Reason string `json:"reason,omitempty" doc:"Why it is off, or why commits are not kept alive."`
}

// NoGitHere is the reason of a GitProtection without a repository.
const NoGitHere = "no git repository here"

// GitProtection tells how the newest capture has recorded the state of the user's git repository.
func (r *Repo) GitProtection() GitProtection {
	switch note := r.capturer.GitNote(); {
	case r.store.Opt.NoGit:
		return GitProtection{Reason: "switched off"}
	case r.capturer.Repository() == nil:
		return GitProtection{Reason: NoGitHere}
	case note.Record == "":
		return GitProtection{Reason: "not recorded yet"}
	default:
		return GitProtection{On: true, Reason: note.Left}
	}
}

// GitRestoreOptions controls a RestoreGit.
type GitRestoreOptions = operation.GitRestoreOptions

// GitResult says what a RestoreGit did, or would do.
type GitResult = operation.GitResult

// OutsideResult lists paths outside the root that an operation brought back, or left.
type OutsideResult = operation.OutsideResult

// GitConflict is a ref that stays where it is.
type GitConflict = operation.GitConflict

// Errors of RestoreGit.
var (
	ErrGitRefused    = gitrestore.ErrRefused   // the present state of git, or the one to go to, does not allow it
	ErrGitNotPlanned = operation.ErrNotPlanned // no plan is named, or it would be another one now
)

// RestoreGit brings the user's git repository back to its state at a checkpoint: HEAD, refs, index and
// list of stashes, or the whole repository if it is gone. It is the only call that writes to the
// repository, so it carries out only the plan of a dry run that the caller names. A ref changes only
// from the value in the plan, by way of git, with an entry in its reflog. No hook runs. The files of
// the work tree stay.
//
// GitResult.Before is a checkpoint: the same call with its id takes everything back, but stashes that
// came back, which stay.
func (r *Repo) RestoreGit(ctx context.Context, spec string, opt GitRestoreOptions) (*GitResult, error) {
	return r.operator.RestoreGit(ctx, spec, opt)
}
