package httpapi

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/session"
)

// LineRange names lines of a file as they are after the change.
type LineRange struct {
	Path string `json:"path" minLength:"1" maxLength:"8192"`
	From int    `json:"from" minimum:"1" doc:"The first line, counted from 1."`
	To   int    `json:"to" minimum:"1" doc:"The last line."`
}

// ChosenHunks are parts of files.
type ChosenHunks struct {
	Hunks []string    `json:"hunks,omitempty" minItems:"1" maxItems:"100000" pattern:"^[0-9a-f]{4,12}$" doc:"Only these hunks, by their names or beginnings of these."`
	Lines []LineRange `json:"lines,omitempty" minItems:"1" maxItems:"100000" doc:"Only the changes of these lines."`
}

func (h *ChosenHunks) any() bool { return len(h.Hunks)+len(h.Lines) > 0 }

// put puts the choice into the options of a revert.
func (h *ChosenHunks) put(opt *cairn.RevertOptions) error {
	opt.Hunks = h.Hunks
	for i, l := range h.Lines {
		field := fmt.Sprintf("body.lines[%d]", i)
		path, err := pathtext.Decode(l.Path)
		if err != nil {
			return badField(field+".path", l.Path, err.Error())
		}
		if l.To < l.From {
			return badField(field+".to", fmt.Sprint(l.To), "expected no line before from")
		}
		opt.Lines = append(opt.Lines, cairn.LineRange{Path: path, From: l.From, To: l.To})
	}
	return nil
}

// scopeOf returns the scope that a request names. In is "query" or "body".
func scopeOf(ctx context.Context, p *Project, id string, turn int, message, step, in string) (session.Scope, error) {
	if turn == 0 {
		return session.Scope{Message: message, Step: step}, nil
	}
	if message != "" {
		return session.Scope{}, badField(in+".turn", fmt.Sprint(turn), "expected no messageID beside it")
	}
	scope, err := p.Sessions.NumberedTurn(ctx, id, turn)
	scope.Step = step
	return scope, err
}

func (s *Server) sessionHunks() {
	streamed[Diffs](s, endpoint{
		id: "session-hunks", method: http.MethodGet, path: "/session/{id}/hunks", tag: "sessions", summary: "The hunks of a session, a turn, a message or a step",
		description: "The new side of a file is its state after the last step, the old side the same without the steps: what others changed between them is in no hunk. " +
			"The name of a hunk holds while others come and go. revert-session takes hunks back. An answer that an error cuts short is broken off.",
	}, "The changed files with their hunks, ordered by the bytes of their paths.", func(ctx context.Context, p *Project, in *struct {
		InSession
		Turn      int      `query:"turn" minimum:"-1000000" maximum:"1000000" doc:"Only this turn, from 1; -1 is the newest that is not reverted. 0 means no turn."`
		MessageID string   `query:"messageID" maxLength:"1024" doc:"Only this message."`
		StepID    string   `query:"stepID" maxLength:"1024" doc:"Only this step."`
		StepIDs   []string `query:"stepIDs,explode" maxItems:"1000" doc:"Only these steps, each in a parameter of its own."`
		Reverted  bool     `query:"reverted" doc:"What the reverts in effect changed, whose hunks unrevert-session brings back."`
	}) (iter.Seq2[*cairn.FileDiff, error], error) {
		id, err := p.Sessions.Find(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		if in.Reverted {
			if in.Turn != 0 || in.MessageID != "" || in.StepID != "" || len(in.StepIDs) > 0 {
				return nil, badField("query.reverted", "true", "expected no turn, no messageID, no stepID and no stepIDs beside it")
			}
			own, err := p.Sessions.RevertedChanges(ctx, id)
			return ownHunks(ctx, own), err
		}
		if len(in.StepIDs) > 0 {
			if in.Turn != 0 || in.MessageID != "" || in.StepID != "" {
				return nil, badField("query.stepIDs", in.StepIDs[0], "expected no turn, no messageID and no stepID beside it")
			}
			return stepHunks(ctx, p, id, in.StepIDs)
		}
		scope, err := scopeOf(ctx, p, id, in.Turn, in.MessageID, in.StepID, "query")
		return p.Sessions.Diff(ctx, id, scope, cairn.DiffOptions{Hunks: true}), err
	})
}

// check refuses fields that do not go together.
func (b *SessionRevert) check() error {
	if len(b.StepIDs) > 0 {
		return b.checkSteps()
	}
	switch hunks := b.any(); {
	case !hunks && b.Turn != 0:
		return b.checkAlone("turn")
	case len(b.Paths) > 0:
		return badField("body.paths", b.Paths[0], "expected stepIDs or a turn beside it")
	case hunks && b.PartID != "":
		return badField("body.partID", b.PartID, "expected none beside hunks and lines")
	case hunks && b.Start:
		return badField("body.start", "true", "expected none beside hunks and lines")
	case hunks && b.EndOpen:
		return badField("body.endOpen", "true", "expected none beside hunks and lines")
	case hunks && b.Git:
		return badField("body.git", "true", "expected none beside hunks and lines")
	case hunks && b.Outside:
		return badField("body.outside", "true", "expected none beside hunks and lines")
	case hunks:
		return nil
	case b.StepID != "":
		return badField("body.stepID", b.StepID, "expected hunks or lines beside it")
	case b.MessageID == "" && !b.Start:
		return badField("body.messageID", "", "expected required property messageID to be present")
	case b.Start && (b.MessageID != "" || b.PartID != ""):
		return badField("body.start", "true", "expected no messageID and no partID beside it")
	}
	return nil
}

// revertHunks takes hunks of a session back.
func (b *SessionRevert) revertHunks(ctx context.Context, p *Project, id string) (*SessionAnswer, error) {
	opt, err := revertOptions(nil, b.OnConflict, b.DryRun, b.Plan) // of paths beside hunks check knows
	if err != nil {
		return nil, err
	}
	if err := b.put(&opt); err != nil {
		return nil, err
	}
	scope, err := scopeOf(ctx, p, id, b.Turn, b.MessageID, b.StepID, "body")
	if err != nil {
		return nil, err
	}
	res, err := p.Sessions.RevertHunks(ctx, id, scope, opt)
	return answerTaken(ctx, p, id, res, err)
}

// answerTaken is the answer of a change that leaves the boundary of a session where it is.
func answerTaken(ctx context.Context, p *Project, id string, res *cairn.Result, err error) (*SessionAnswer, error) {
	if err != nil {
		return nil, err
	}
	out, err := p.Sessions.Get(ctx, id)
	return answerBack(out, res, err)
}
