package mcptools

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

func (t *tools) addSessions(s *mcp.Server) {
	add(s, &mcp.Tool{
		Name: "sessions", Description: "List what agents did here, session by session, the one that was changed last first.",
		Annotations: readOnly("List sessions"),
	}, t.listSessions)
	add(s, &mcp.Tool{
		Name: "session_undo", Description: "Take back what the last turn of a session changed; again takes back the turn before. " +
			"What others changed since stays. Everything overwritten or deleted is saved first.",
		Annotations: destroys("Undo a turn"),
	}, t.sessionUndo)
	add(s, &mcp.Tool{
		Name: "session_redo", Description: "Bring back the turn that session_undo took back last.",
		Annotations: destroys("Redo a turn"),
	}, t.sessionRedo)
}

type sessionItem struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Agent    string    `json:"agent,omitempty"`
	Updated  time.Time `json:"updated"`
	Messages int       `json:"messages"`
	Steps    int       `json:"steps"`
	Busy     bool      `json:"busy" jsonschema:"a step is under way"`
	Reverted bool      `json:"reverted" jsonschema:"turns are taken back; session_redo brings them back"`

	Latest *session.Work `json:"latest,omitempty" jsonschema:"its newest step or prompt"`

	Error string `json:"error,omitempty" jsonschema:"why the session cannot be read; only its id is known then"`
}

type sessionList struct {
	Sessions []sessionItem `json:"sessions"`
	More     bool          `json:"more" jsonschema:"there are older ones"`
}

func (t *tools) listSessions(ctx context.Context, args listArgs) (out sessionList, text string, err error) {
	limit, err := args.limit()
	if err != nil {
		return out, "", err
	}
	list, unread, err := t.sessions.ListAll(ctx)
	if err != nil {
		return out, "", err
	}
	out.Sessions, out.More = []sessionItem{}, len(list)+len(unread) > limit
	var lines strings.Builder
	for _, s := range list[:min(limit, len(list))] {
		out.Sessions = append(out.Sessions, sessionItem{s.ID, s.Title, s.Agent, s.Updated, s.Messages, s.Steps, s.Open != "", s.Revert != nil, s.Latest, ""})
		fmt.Fprintf(&lines, "%s  %s  %s: %s\n", oneLine(s.ID), s.Updated.Format(time.DateTime), wording.Count(s.Steps, "step"), oneLine(s.Title))
		writeWork(&lines, s.Latest)
	}
	for _, u := range unread[:min(limit-len(out.Sessions), len(unread))] {
		out.Sessions = append(out.Sessions, sessionItem{ID: u.ID, Error: u.Err.Error()})
		fmt.Fprintf(&lines, "%s  cannot be read: %s\n", oneLine(u.ID), oneLine(u.Err.Error()))
	}
	return out, listText(&lines, out.More, "no session yet"), nil
}

type sessionArgs struct {
	Session    string `json:"sessionID,omitempty" jsonschema:"id of the session, or the beginning of one; the session that was changed last unless given"`
	OnConflict string `json:"onConflict,omitempty" jsonschema:"what becomes of a path changed later: merge, overwrite, keep or fail"`
	EndOpen    bool   `json:"endOpen,omitempty" jsonschema:"end a step that is still under way: its agent is gone"`
	planArgs
	gitArgs
	rootArgs
}

func (t *tools) sessionUndo(ctx context.Context, args sessionArgs) (outcome, string, error) {
	return t.sessionMove(ctx, args, t.sessions.UndoTurn)
}

func (t *tools) sessionRedo(ctx context.Context, args sessionArgs) (outcome, string, error) {
	return t.sessionMove(ctx, args, t.sessions.RedoTurn)
}

func (t *tools) sessionMove(
	ctx context.Context, args sessionArgs,
	move func(context.Context, string, session.MoveOptions) (*session.Session, *cairn.Result, error),
) (outcome, string, error) {
	opt := session.MoveOptions{
		DryRun: args.DryRun, Plan: args.Plan, EndOpen: args.EndOpen, Git: args.Git,
		ThisRoot: args.ThisRoot, Outside: args.Outside,
	}
	if args.OnConflict != "" {
		policy, err := plan.ParsePolicy(args.OnConflict)
		if err != nil {
			return outcome{}, "", fmt.Errorf("%w: %w", errArguments, err)
		}
		opt.OnConflict = policy
	}
	id, err := t.sessions.Find(ctx, cmp.Or(args.Session, session.Newest))
	if err != nil {
		return outcome{}, "", err
	}
	_, res, err := move(ctx, id, opt)
	return t.answer(ctx)(res, err)
}
