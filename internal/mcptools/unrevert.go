package mcptools

import (
	"cmp"
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn/session"
)

func (t *tools) addUnrevert(s *mcp.Server) {
	add(s, &mcp.Tool{
		Name: "session_unrevert", Description: "Bring back everything that session_undo took back of a session, or only some paths, hunks or lines of it. " +
			"session_hunks with reverted shows it. Later changes stay. Everything overwritten or deleted is saved first; undo takes it back.",
		Annotations: destroys("Bring back turns, or some of what they changed"),
	}, t.sessionUnrevert)
}

type sessionUnrevertArgs struct {
	Session string `json:"sessionID,omitempty" jsonschema:"id of the session, or the beginning of one; the session that was changed last unless given"`
	hunkArgs
	scopeArgs
	planArgs
}

func (t *tools) sessionUnrevert(ctx context.Context, args sessionUnrevertArgs) (outcome, string, error) {
	opt, err := args.options(args.planArgs)
	if err == nil {
		err = args.put(&opt)
	}
	if err != nil {
		return outcome{}, "", err
	}
	id, err := t.sessions.Find(ctx, cmp.Or(args.Session, session.Newest))
	if err != nil {
		return outcome{}, "", err
	}
	if len(opt.Paths)+len(opt.Hunks)+len(opt.Lines) > 0 {
		return answer(t.sessions.UnrevertSome(ctx, id, opt))
	}
	move := session.MoveOptions{OnConflict: opt.OnConflict, DryRun: opt.DryRun, Plan: opt.Plan}
	_, res, err := t.sessions.Unrevert(ctx, id, move)
	return t.answer(ctx)(res, err)
}
