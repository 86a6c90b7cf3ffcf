package mcptools

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/session"
)

func (t *tools) addHunks(s *mcp.Server) {
	add(s, &mcp.Tool{
		Name: "session_hunks", Description: "Show what a session changed, or one turn, message or step of it, or some steps, place by place. " +
			"The name of each place, for session_revert, is behind a # in its header. Changes that others made between the steps are left out.",
		Annotations: readOnly("Show hunks of a session"),
	}, t.sessionHunks)
	add(s, &mcp.Tool{
		Name: "session_revert", Description: "Take back one turn, or some of what session_hunks shows, by steps, hunks or lines, and nothing else. Later changes stay. " +
			"Everything overwritten or deleted is saved first; undo brings it back.",
		Annotations: destroys("Revert steps or hunks of a session"),
	}, t.sessionRevert)
}

// partArgs name a part of a session.
type partArgs struct {
	Session string   `json:"sessionID,omitempty" jsonschema:"id of the session, or the beginning of one; the session that was changed last unless given"`
	Turn    *int     `json:"turn,omitempty" jsonschema:"number of a turn, from 1; -1 is the newest"`
	Message string   `json:"messageID,omitempty" jsonschema:"only this message"`
	Step    string   `json:"stepID,omitempty" jsonschema:"only this step"`
	Steps   []string `json:"stepIDs,omitempty" jsonschema:"only these steps, without turn, messageID and stepID: ids, which log has, beginnings of ids, or @ for the newest"`
}

func (a *partArgs) find(ctx context.Context, all *session.Sessions) (id string, in session.Scope, err error) {
	if id, err = all.Find(ctx, cmp.Or(a.Session, session.Newest)); err != nil {
		return id, in, err
	}
	if len(a.Steps) > 0 {
		if a.Turn != nil || a.Message != "" || a.Step != "" {
			return id, in, fmt.Errorf("%w: stepIDs stand without turn, messageID and stepID", errArguments)
		}
		a.Steps, err = all.FindSteps(ctx, id, a.Steps)
		return id, in, err
	}
	in.Message = a.Message
	if a.Turn != nil {
		if *a.Turn == 0 {
			return id, in, fmt.Errorf("%w: turns count from 1, and -1 is the newest", errArguments)
		}
		if a.Message != "" {
			return id, in, fmt.Errorf("%w: either turn or messageID", errArguments)
		}
		in, err = all.NumberedTurn(ctx, id, *a.Turn)
	}
	in.Step = a.Step
	return id, in, err
}

// own are the changes of the part that find has found.
func (a *partArgs) own(ctx context.Context, all *session.Sessions, id string, in session.Scope) (*session.OwnChanges, error) {
	if len(a.Steps) > 0 {
		return all.OwnChangesOf(ctx, id, a.Steps)
	}
	return all.OwnChanges(ctx, id, in)
}

type sessionHunksArgs struct {
	partArgs
	Reverted bool `json:"reverted,omitempty" jsonschema:"what the turns that are taken back lost, for session_unrevert; without turn, messageID, stepID and stepIDs"`
	sizeArgs
}

func (t *tools) sessionHunks(ctx context.Context, args sessionHunksArgs) (out diffAnswer, text string, err error) {
	id, in, err := args.find(ctx, t.sessions)
	if err != nil {
		return out, "", err
	}
	var own *session.OwnChanges
	switch some := len(args.Steps) > 0 || in != (session.Scope{}); {
	case args.Reverted && some:
		err = fmt.Errorf("%w: reverted stands without turn, messageID, stepID and stepIDs", errArguments)
	case args.Reverted:
		own, err = t.sessions.RevertedChanges(ctx, id)
	default:
		own, err = args.own(ctx, t.sessions, id, in)
	}
	if err != nil {
		return out, "", err
	}
	return list(own.FileDiffs(ctx, own.List, cairn.DiffOptions{Hunks: true}), &args.sizeArgs, "turn or stepID", namedPatch)
}

// namedPatch is a patch with the names of the hunks, as Repo.WriteDiff prints it.
func namedPatch(d *cairn.FileDiff) string {
	var b strings.Builder
	head, _, _ := strings.Cut(d.Patch, "\n@@ ")
	written := false
	for i := range d.Hunks {
		h := &d.Hunks[i]
		if h.Whole {
			fmt.Fprintf(&b, "# hunk %s of %s: %s\n", h.ID, pathtext.Quote(string(d.File)), h.Header)
			continue
		}
		if !written {
			b.WriteString(head + "\n")
			written = true
		}
		h.Write(&b)
	}
	if !written {
		b.WriteString(d.Patch)
	}
	return b.String()
}

// hunkArgs choose parts of files.
type hunkArgs struct {
	Hunks []string   `json:"hunks,omitempty" jsonschema:"names of hunks, or beginnings of at least 4 digits"`
	Lines []lineArgs `json:"lines,omitempty" jsonschema:"only the changes of these lines"`
}

type lineArgs struct {
	Path string `json:"path" jsonschema:"file"`
	From int    `json:"from" jsonschema:"first line, from 1, as the file is after the change"`
	To   int    `json:"to" jsonschema:"last line"`
}

// put puts the choice into the options of a revert.
func (a *hunkArgs) put(opt *cairn.RevertOptions) error {
	if err := cmp.Or(notEmpty("hunks", a.Hunks), notEmpty("lines", a.Lines)); err != nil {
		return err
	}
	opt.Hunks = a.Hunks
	for _, l := range a.Lines {
		list, err := paths([]string{l.Path})
		if err != nil {
			return err
		}
		opt.Lines = append(opt.Lines, cairn.LineRange{Path: list[0], From: l.From, To: l.To})
	}
	return nil
}

type sessionRevertArgs struct {
	partArgs
	hunkArgs
	scopeArgs
	planArgs
}

func (t *tools) sessionRevert(ctx context.Context, args sessionRevertArgs) (outcome, string, error) {
	opt, err := args.options(args.planArgs)
	if err == nil {
		err = cmp.Or(args.put(&opt), notEmpty("stepIDs", args.Steps))
	}
	places := len(opt.Hunks) + len(opt.Lines)
	alone := args.Turn != nil && args.Message == "" && args.Step == "" // a whole turn
	if err == nil && places+len(args.Steps) == 0 && !alone {
		err = fmt.Errorf("%w: session_revert wants a turn, stepIDs, hunks or lines", errArguments)
	}
	if err != nil {
		return outcome{}, "", err
	}
	id, in, err := args.find(ctx, t.sessions)
	if err != nil {
		return outcome{}, "", err
	}
	if places+len(args.Steps) == 0 {
		if args.Steps, err = t.sessions.StepsIn(ctx, id, in); err != nil {
			return outcome{}, "", err
		}
	}
	if places == 0 || len(args.Steps) > 0 {
		return answer(t.sessions.RevertSteps(ctx, id, args.Steps, opt))
	}
	return answer(t.sessions.RevertHunks(ctx, id, in, opt))
}
