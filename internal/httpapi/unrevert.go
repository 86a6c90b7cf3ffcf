package httpapi

import (
	"context"
	"net/http"
)

// SessionUnrevert brings back all that the reverts in effect took back, or some of it.
type SessionUnrevert struct {
	ChosenHunks
	SessionBack
	Paths []string `json:"paths,omitempty" minItems:"1" maxItems:"100000" doc:"Only these paths and what is below them."`
}

// check refuses fields that do not go together.
func (b *SessionUnrevert) check() error {
	switch some := b.any() || len(b.Paths) > 0; {
	case b.any() && len(b.Paths) > 0:
		return badField("body.paths", b.Paths[0], "expected none beside hunks and lines")
	case some && b.EndOpen:
		return badField("body.endOpen", "true", "expected none beside paths, hunks and lines")
	case some && b.Outside:
		return badField("body.outside", "true", "expected none beside paths, hunks and lines")
	case some && b.Git:
		return badField("body.git", "true", "expected none beside paths, hunks and lines")
	}
	return nil
}

// bringBack brings some of the reverts back. Their boundary stays.
func (b *SessionUnrevert) bringBack(ctx context.Context, p *Project, id string) (*SessionAnswer, error) {
	opt, err := revertOptions(b.Paths, b.OnConflict, b.DryRun, b.Plan)
	if err != nil {
		return nil, err
	}
	if err := b.put(&opt); err != nil {
		return nil, err
	}
	res, err := p.Sessions.UnrevertSome(ctx, id, opt)
	return answerTaken(ctx, p, id, res, err)
}

func (s *Server) sessionUnrevert() {
	onProject(s, endpoint{
		id: "unrevert-session", method: http.MethodPost, path: "/session/{id}/unrevert", tag: "sessions", summary: "Bring back what was reverted, or some of it",
		description: "With paths, hunks or lines only these come back, and the boundary stays. session-hunks with reverted=true has the names of the hunks.",
	}, func(ctx context.Context, p *Project, in *struct {
		InSession
		Body *SessionUnrevert
	}) (*SessionAnswer, error) {
		b := in.Body
		if b == nil {
			b = new(SessionUnrevert)
		}
		if err := b.check(); err != nil {
			return nil, err
		}
		id, err := p.Sessions.Find(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		if b.any() || len(b.Paths) > 0 {
			return b.bringBack(ctx, p, id)
		}
		return answerBack(p.Sessions.Unrevert(ctx, id, b.options()))
	})
}
