package operation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gitrestore"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// gitBack describes how the user's git repository goes back within an operation. The records of the
// checkpoints decide, so the journal holds no more.
type gitBack struct {
	// Ways are the changes of git to take back, the newest first. With To, it is the way to one state.
	Ways  []gitWay         `json:"ways"`
	To    bool             `json:"to,omitempty"`
	Parts gitrestore.Parts `json:"parts"`
}

// gitWay names the checkpoints before and after a step. An empty After is the present state.
type gitWay struct {
	Before string    `json:"before"`
	After  string    `json:"after,omitempty"`
	Others []gitPair `json:"others,omitempty"` // steps of other sessions that overlap it
}

type gitPair struct{ Before, After string }

// gitWaysOf returns the ways of a line: reverts that are in effect come off first, the newest of them
// before the others, then the steps.
func gitWaysOf(earlier []*history.LineEvent, steps []UndoneStep) (ways []gitWay) {
	for _, e := range earlier {
		if e.Before != "" {
			ways = append(ways, gitWay{Before: e.Before, After: e.ID})
		}
	}
	for i := range steps {
		s := &steps[len(steps)-1-i]
		w := gitWay{Before: s.From, After: s.To}
		for _, o := range s.Others {
			if o.Session != "" && !o.Reverted {
				w.Others = append(w.Others, gitPair{o.From, o.To})
			}
		}
		ways = append(ways, w)
	}
	return ways
}

// planGit plans the way back from the state of git that a capture has recorded, nil if git is to stay.
func (r *Operator) planGit(ctx context.Context, disk *capture.Snapshot, g *gitBack) (*gitrestore.Plan, error) {
	if g == nil {
		return nil, nil
	}
	if r.Opt.NoGit {
		return nil, fmt.Errorf("%w: the setting git is off, so that its state is not recorded", gitrestore.ErrRefused)
	}
	record := disk.GitRecord()
	if record == "" && r.Repository() != nil {
		return nil, fmt.Errorf("%w: its present state could not be recorded", gitrestore.ErrRefused)
	}
	now, err := r.gitRecord(record)
	if err != nil {
		return nil, err
	}
	records := r.GitRecords()
	if now != nil && !realpath.Within(now.GitDir, r.Root) {
		if now, err = r.unlessAround(ctx, records, now, g); err != nil {
			return nil, err
		}
	}
	if err := r.refuseOther(ctx, records, now, g); err != nil {
		return nil, err
	}
	return planGitFrom(ctx, records, now, g)
}

// unlessAround returns nil for a repository around the root that shows only since that in the root is
// gone.
func (r *Operator) unlessAround(
	ctx context.Context, records *capture.GitRecords, now *gitstate.Record, g *gitBack,
) (*gitstate.Record, error) {
	for _, w := range g.Ways {
		was, err := records.At(ctx, w.Before)
		if err != nil {
			return nil, err
		}
		if was != nil && was.GitDir != now.GitDir && realpath.Within(was.GitDir, r.Root) {
			return nil, nil
		}
	}
	return now, nil
}

// planGitFrom plans the way back from a state.
func planGitFrom(ctx context.Context, records *capture.GitRecords, now *gitstate.Record, g *gitBack) (*gitrestore.Plan, error) {
	var ways []gitrestore.Way
	for _, w := range g.Ways {
		way, err := gitWayOf(ctx, records, now, w.Before, w.After)
		if err != nil {
			return nil, err
		}
		for _, o := range w.Others {
			other, err := gitWayOf(ctx, records, now, o.Before, o.After)
			if err != nil {
				return nil, err
			}
			way.Others = append(way.Others, other)
		}
		ways = append(ways, way)
	}
	p := gitrestore.TakeBack(ways, now, g.Parts)
	if g.To {
		base := ways[0].After
		if g.Ways[0].After == "" {
			base = nil
		}
		p = gitrestore.Make(ways[0].Before, base, now, g.Parts)
	}
	if p.Refused != "" {
		return nil, fmt.Errorf("%w: %s", gitrestore.ErrRefused, p.Refused)
	}
	return p, nil
}

func gitWayOf(
	ctx context.Context, records *capture.GitRecords, now *gitstate.Record, before, after string,
) (way gitrestore.Way, err error) {
	if way.Before, err = records.At(ctx, before); err != nil {
		return way, err
	}
	way.After = now
	if after != "" {
		way.After, err = records.At(ctx, after)
	}
	return way, err
}

func (r *Operator) gitRecord(id string) (*gitstate.Record, error) {
	if id == "" {
		return nil, nil
	}
	parsed, err := object.ParseID(id)
	if err != nil {
		return nil, err
	}
	parts, err := r.GitRecord(parsed)
	if err != nil {
		return nil, err
	}
	return gitstate.Parse(parts)
}

// withGit adds the plan of git to the preview of an operation, and to its id.
func withGit(res *Result, p *gitrestore.Plan) {
	if p == nil {
		return
	}
	res.Git = gitResult(p)
	sum := sha256.Sum256([]byte(res.PlanID + " " + p.ID()))
	res.PlanID = hex.EncodeToString(sum[:8])
}

// applyGit carries out the plan of git. An error means that nothing has changed.
func (r *Operator) applyGit(ctx context.Context, j *journal, p *gitrestore.Plan, resume bool) error {
	if p == nil {
		return nil
	}
	j.git = gitResult(p)
	binary, err := git.LookBinary()
	if err != nil {
		return err
	}
	a := gitrestore.Applier{Git: binary, Vault: r.Vault().Dir(), Note: "cairn: " + j.Kind, Token: j.Token, Resume: resume}
	failures, err := a.Apply(context.WithoutCancel(ctx), p)
	for _, f := range failures {
		j.git.Conflicts = append(j.git.Conflicts, GitConflict{Ref: state.Path(f.Ref), Reason: f.Reason})
	}
	return err
}

// resumeGit goes on with the git part of an operation that was cut short. A failure is a conflict and
// does not stop the files.
func (r *Operator) resumeGit(ctx context.Context, j *journal) error {
	if j.Git == nil {
		return nil
	}
	records := r.GitRecords()
	now, err := records.At(ctx, j.Before)
	if err != nil {
		return err
	}
	p, err := planGitFrom(ctx, records, now, j.Git)
	if err == nil {
		err = r.applyGit(ctx, j, p, true)
	}
	if err == nil && j.git != nil {
		for _, c := range j.git.Conflicts {
			r.Log.Warn("a part of git is not brought back by the interrupted operation", "ref", c.Ref.Quoted(), "reason", c.Reason)
		}
	}
	if errors.Is(err, state.ErrCorrupt) {
		return err
	}
	if err != nil {
		r.Log.Warn("git is not brought back by the interrupted operation", "error", err)
		j.git = &GitResult{Changes: []string{}, Conflicts: []GitConflict{{Ref: ".git", Reason: err.Error()}}}
	}
	return nil
}

func gitResult(p *gitrestore.Plan) *GitResult {
	res := &GitResult{Changes: append([]string{}, p.Changes()...), Conflicts: []GitConflict{}}
	for _, c := range p.Conflicts {
		res.Conflicts = append(res.Conflicts, GitConflict{Ref: state.Path(c.Ref), Reason: c.Reason})
	}
	return res
}
