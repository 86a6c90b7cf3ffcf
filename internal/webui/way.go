package webui

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// way is a way back, as an address names it. The preview and the form that confirms it
// have the same parameters.
type way struct {
	Do               string // restore, revert, undo, redo, session or unrevert
	From, To         string // checkpoints: a restore goes to To, a revert takes back what lies between
	Session, Message string
	Paths            []string // none = all
	Hunks            []string // chosen changes of a revert; none = all
	Policy           cairn.Policy
}

// maxPaths bounds the paths that an address may name.
const maxPaths = 500

func (v *visit) way() (*way, error) {
	q := v.query
	w := &way{
		Do: q.Get("do"), From: q.Get("from"), To: q.Get("to"), Session: q.Get("session"), Message: q.Get("message"),
		Paths: q["path"], Hunks: q["hunk"], Policy: cairn.Policy(q.Get("policy")),
	}
	missing := false
	switch w.Do {
	case "restore":
		missing = w.To == ""
	case "revert":
		missing = w.From == "" || w.To == "" && len(w.Hunks) == 0 && q.Get("only") == ""
	case "session":
		missing = w.Session == "" || w.Message == ""
	case "unrevert":
		missing = w.Session == ""
	case "undo", "redo":
	default:
		missing = true
	}
	switch w.Policy {
	case "", cairn.Merge, cairn.Overwrite, cairn.Keep:
	default:
		missing = true
	}
	if len(w.Hunks) > 0 && w.Do != "revert" {
		missing = true
	}
	if missing || len(w.Paths) > maxPaths || len(w.Hunks) > maxHunks {
		return nil, fmt.Errorf("%w: it names no way back", errInput)
	}
	return w, nil
}

// run plans the way, or carries out the plan of that id.
func (w *way) run(v *visit, plan string) (*cairn.Result, error) {
	dry := plan == ""
	repo, ctx := v.project.Repo, v.ctx()
	opt := cairn.RevertOptions{Paths: w.Paths, Hunks: w.Hunks, OnConflict: w.Policy, DryRun: dry, Plan: plan}
	ofSession := session.MoveOptions{OnConflict: w.Policy, DryRun: dry, Plan: plan}
	switch w.Do {
	case "restore":
		return repo.Restore(ctx, w.To, cairn.RestoreOptions{Paths: w.Paths, DryRun: dry, Plan: plan})
	case "revert":
		return repo.Revert(ctx, cairn.Range{From: w.From, To: w.To}, opt)
	case "undo":
		return repo.Undo(ctx, opt)
	case "redo":
		return repo.Redo(ctx, opt)
	case "session":
		_, res, err := v.project.Sessions.Revert(ctx, w.Session, session.Target{Message: w.Message}, ofSession)
		return res, err
	}
	_, res, err := v.project.Sessions.Unrevert(ctx, w.Session, ofSession)
	return res, err
}

// text describes the way, for the heading and for the button.
func (w *way) text() (heading, button string) {
	switch w.Do {
	case "restore":
		if len(w.Paths) > 0 {
			return "Restore " + plural(len(w.Paths), "path"), "Restore"
		}
		return "Restore a checkpoint", "Restore"
	case "revert":
		switch {
		case len(w.Hunks) > 0:
			return "Take back " + plural(len(w.Hunks), "chosen change"), "Take back"
		case len(w.Paths) > 0:
			return "Take back the changes of " + plural(len(w.Paths), "path"), "Take back"
		}
		return "Take back these changes", "Take back"
	case "undo":
		return "Undo the last operation", "Undo"
	case "redo":
		return "Redo what was undone", "Redo"
	case "session":
		return "Revert the session to before the prompt", "Revert"
	}
	return "Bring back what was reverted", "Bring back"
}

// explain says what happens to later changes.
func (w *way) explain() string {
	switch w.Do {
	case "restore":
		return "Everything in scope becomes as it was then. What is overwritten or deleted is saved first, so this can be undone."
	case "unrevert":
		return "What the revert changed comes back. What was changed since is merged, or kept and listed. This can be undone."
	}
	return "Only what changed there is taken back. What was changed since is merged line by line, or kept and listed. What is overwritten or deleted is saved first, so this can be undone."
}
