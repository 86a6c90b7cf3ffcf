package httpapi

import (
	"context"
	"fmt"
	"iter"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// ChosenSteps are steps of a session that go back, or some paths of them.
type ChosenSteps struct {
	StepIDs []string `json:"stepIDs,omitempty" minItems:"1" maxItems:"100000" doc:"Only these steps, with the sub-agents that they called, and with hunks or lines these places of them."`
	Paths   []string `json:"paths,omitempty" minItems:"1" maxItems:"100000" doc:"With stepIDs or turn: only these paths and what is below them."`
}

// checkSteps refuses fields that do not go together with steps.
func (b *SessionRevert) checkSteps() error {
	if b.Turn != 0 {
		return badField("body.turn", fmt.Sprint(b.Turn), "expected none beside stepIDs")
	}
	return b.checkAlone("stepIDs")
}

// checkAlone refuses fields that do not go together with steps, or a turn, that go back alone.
func (b *SessionRevert) checkAlone(beside string) error {
	for _, f := range []struct {
		there bool
		name  string
	}{
		{b.StepID != "", "stepID"}, {b.MessageID != "", "messageID"}, {b.PartID != "", "partID"},
		{b.Start, "start"}, {b.EndOpen, "endOpen"}, {b.Git, "git"},
	} {
		if f.there {
			return badField("body."+f.name, "", "expected none beside "+beside)
		}
	}
	return nil
}

// revertTurn takes one turn of a session back.
func (b *SessionRevert) revertTurn(ctx context.Context, p *Project, id string) (*SessionAnswer, error) {
	scope, err := p.Sessions.NumberedTurn(ctx, id, b.Turn)
	if err != nil {
		return nil, err
	}
	if b.StepIDs, err = p.Sessions.StepsIn(ctx, id, scope); err != nil {
		return nil, err
	}
	return b.revertSteps(ctx, p, id)
}

// revertSteps takes steps of a session back.
func (b *SessionRevert) revertSteps(ctx context.Context, p *Project, id string) (*SessionAnswer, error) {
	opt, err := revertOptions(b.Paths, b.OnConflict, b.DryRun, b.Plan)
	if err != nil {
		return nil, err
	}
	if opt.ThisRoot, opt.Outside = b.ThisRoot, b.Outside; b.Outside && (len(b.Paths) > 0 || b.any()) {
		return nil, badField("body.outside", "true", "expected none beside paths, hunks and lines")
	}
	if err := b.put(&opt); err != nil {
		return nil, err
	}
	steps, err := p.Sessions.FindSteps(ctx, id, b.StepIDs)
	if err != nil {
		return nil, err
	}
	res, err := p.Sessions.RevertSteps(ctx, id, steps, opt)
	return answerTaken(ctx, p, id, res, err)
}

// stepHunks yields the files that some steps changed, with their hunks.
func stepHunks(ctx context.Context, p *Project, id string, steps []string) (iter.Seq2[*cairn.FileDiff, error], error) {
	steps, err := p.Sessions.FindSteps(ctx, id, steps)
	if err != nil {
		return nil, err
	}
	own, err := p.Sessions.OwnChangesOf(ctx, id, steps)
	return ownHunks(ctx, own), err
}

// ownHunks yields the files of some changes, with their hunks.
func ownHunks(ctx context.Context, own *session.OwnChanges) iter.Seq2[*cairn.FileDiff, error] {
	return func(yield func(*cairn.FileDiff, error) bool) {
		for d, err := range own.FileDiffs(ctx, own.List, cairn.DiffOptions{Hunks: true}) {
			if !yield(&d, err) {
				return
			}
		}
	}
}
