package webui

import (
	"fmt"
	"path"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// way is a way back, as an address names it. The preview and the form that confirms it
// have the same parameters.
type way struct {
	Do               string // restore, revert, merge, undo, redo, session, part (of what session takes back), unrevert or git
	From, To         string // checkpoints: a restore goes to To, a merge brings it, a revert takes back what lies between
	Dir              string // of a merge: the project that it brings the changes of
	Session, Message string
	Paths            []string // none = all
	Without          []string // of a plan of all paths; stay as they are
	Hunks            []string // chosen changes of a revert, a part or an unrevert; none = all
	Steps            []string // of a part; none = all
	Turn             bool     // a part of the turn of Message alone
	Policy           cairn.Policy
	Git              bool // the git repository goes back, too
	Outside          bool // paths outside the directory go back, too
}

// maxPaths bounds the paths that an address may name.
const maxPaths = 500

func (v *visit) way() (*way, error) {
	q := v.query
	w := &way{
		Do: q.Get("do"), From: q.Get("from"), To: q.Get("to"), Dir: q.Get("dir"), Session: q.Get("session"), Message: q.Get("message"),
		Paths: q["path"], Without: q["without"], Hunks: q["hunk"], Steps: q["step"], Turn: q.Get("turn") != "", Policy: cairn.Policy(q.Get("policy")), Git: q.Get("git") != "",
		Outside: q.Get("outside") != "",
	}
	missing := false
	switch w.Do {
	case "restore":
		missing = w.To == ""
	case "revert":
		missing = w.From == "" || w.To == "" && len(w.Hunks) == 0 && q.Get("only") == ""
	case "session", "part":
		missing = w.Session == "" || w.Message == ""
	case "unrevert":
		missing = w.Session == ""
	case gitDo:
		missing = w.From == ""
	case "merge":
		missing = w.Dir == "" && w.To == ""
	case "undo", "redo":
	default:
		missing = true
	}
	switch w.Policy {
	case "", cairn.Merge, cairn.Overwrite, cairn.Keep:
	default:
		missing = true
	}
	if missing || !w.fits() {
		return nil, fmt.Errorf("%w: it names no way back", errInput)
	}
	if w.tooMany() {
		return nil, errTooMany
	}
	return w, nil
}

// tooMany reports whether the way names more than an address may.
func (w *way) tooMany() bool {
	return len(w.Paths)+len(w.Without)+len(w.Steps) > maxPaths || len(w.Hunks) > maxHunks
}

// fits reports whether the way can be narrowed down as it is.
func (w *way) fits() bool {
	switch whole := !w.partly(); {
	case w.Outside && !w.takesOutside():
		return false
	case w.movesGit():
		return w.gitFits()
	case w.Do == "session":
		return whole && len(w.Steps) == 0 && !w.Turn
	case w.Do != "part" && (len(w.Steps) > 0 || w.Turn || w.Do != "revert" && w.Do != "unrevert" && w.Do != "merge" && len(w.Hunks) > 0):
		return false
	}
	return len(w.Without) == 0 || len(w.Paths)+len(w.Hunks) == 0
}

// run plans the way, or carries out the plan of that id.
func (w *way) run(v *visit, plan string) (*cairn.Result, error) {
	if len(w.Without) == 0 {
		return w.runWhole(v, plan)
	}
	narrow := *w
	narrow.Without = nil
	res, err := narrow.runWhole(v, "")
	if err != nil {
		return nil, err
	}
	stays := setOf(w.Without)
	narrow.Paths = nil
	for i := range res.Plan {
		if path := string(res.Plan[i].Path); !stays[path] {
			narrow.Paths = append(narrow.Paths, path)
		}
	}
	narrow.Paths = withoutParents(narrow.Paths, w.Without)
	if len(narrow.Paths) == 0 {
		return nil, errNothingChosen
	}
	return narrow.runWhole(v, plan)
}

// withoutParents are the paths below which none of the others lies: a directory stands for everything
// below it.
func withoutParents(paths, others []string) []string {
	parents := make(map[string]bool)
	for _, p := range others {
		for p = path.Dir(p); p != "." && p != "/"; p = path.Dir(p) {
			parents[p] = true
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool { return parents[p] })
}

func (w *way) runWhole(v *visit, plan string) (*cairn.Result, error) {
	dry := plan == ""
	repo, ctx := v.project.Repo, v.ctx()
	opt := cairn.RevertOptions{
		Paths: w.Paths, Hunks: w.Hunks, OnConflict: w.Policy, DryRun: dry, Plan: plan, Git: w.Git,
		Outside: w.Outside,
	}
	ofSession := session.MoveOptions{OnConflict: w.Policy, DryRun: dry, Plan: plan, Git: w.Git, Outside: w.Outside}
	switch w.Do {
	case gitDo:
		return w.restoreGit(v, plan)
	case "restore":
		return repo.Restore(ctx, w.To, cairn.RestoreOptions{Paths: w.Paths, DryRun: dry, Plan: plan})
	case "revert":
		return repo.Revert(ctx, cairn.Range{From: w.From, To: w.To}, opt)
	case "merge":
		return w.merge(v, plan)
	case "undo":
		return repo.Undo(ctx, opt)
	case "redo":
		return repo.Redo(ctx, opt)
	case "session":
		_, res, err := v.project.Sessions.Revert(ctx, w.Session, session.Target{Message: w.Message}, ofSession)
		return res, err
	case "part":
		steps, err := w.steps(v)
		if err != nil {
			return nil, err
		}
		if len(steps) == 0 {
			return nil, errNothingChosen
		}
		return v.project.Sessions.RevertSteps(ctx, w.Session, steps, opt)
	}
	if w.partly() {
		return v.project.Sessions.UnrevertSome(ctx, w.Session, opt)
	}
	_, res, err := v.project.Sessions.Unrevert(ctx, w.Session, ofSession)
	return res, err
}

// partly reports whether the way is narrowed down to some paths or changes.
func (w *way) partly() bool { return len(w.Paths)+len(w.Without)+len(w.Hunks) > 0 }

// text describes the way, for the heading and for the button.
func (w *way) text() (heading, button string) {
	switch w.Do {
	case gitDo:
		return "Take the git repository back", "Take back"
	case "restore":
		switch {
		case len(w.Without) > 0:
			return "Restore all but " + plural(len(w.Without), "path"), "Restore"
		case len(w.Paths) > 0:
			return "Restore " + plural(len(w.Paths), "path"), "Restore"
		}
		return "Restore a checkpoint", "Restore"
	case "revert", "part":
		switch {
		case len(w.Hunks) > 0:
			return "Take back " + plural(len(w.Hunks), "chosen change"), "Take back"
		case len(w.Steps) > 0:
			return "Take back " + plural(len(w.Steps), "chosen step"), "Take back"
		case len(w.Without) > 0:
			return "Take back the changes of all but " + plural(len(w.Without), "path"), "Take back"
		case len(w.Paths) > 0:
			return "Take back the changes of " + plural(len(w.Paths), "path"), "Take back"
		}
		return "Take back these changes", "Take back"
	case "merge":
		switch {
		case len(w.Hunks) > 0:
			return "Merge " + plural(len(w.Hunks), "chosen change"), "Merge"
		case len(w.Paths) > 0:
			return "Merge " + plural(len(w.Paths), "path"), "Merge"
		}
		return "Merge what changed there", "Merge"
	case "undo":
		return "Undo the last operation", "Undo"
	case "redo":
		return "Redo what was undone", "Redo"
	case "session":
		return "Revert the session to before the prompt", "Revert"
	}
	switch {
	case len(w.Hunks) > 0:
		return "Bring back " + plural(len(w.Hunks), "chosen change"), "Bring back"
	case len(w.Without) > 0:
		return "Bring back what was reverted but for " + plural(len(w.Without), "path"), "Bring back"
	case len(w.Paths) > 0:
		return "Bring back " + plural(len(w.Paths), "path"), "Bring back"
	}
	return "Bring back what was reverted", "Bring back"
}

// explain says what happens to later changes.
func (w *way) explain() string {
	switch w.Do {
	case gitDo:
		return "Only the git repository goes back, and no file. A ref that has moved since is a conflict and stays. Each ref gets an entry in its reflog, and no hook runs. This can be undone."
	case "restore":
		return "Everything in scope becomes as it was then. What is overwritten or deleted is saved first, so this can be undone."
	case "merge":
		return "What changed there since the state in common comes here. What was changed here, too, is merged line by line, or stays and is listed. What is overwritten or deleted is saved first, so this can be undone."
	case "session":
		return "Only what the session changed from there on is taken back. What was changed since is merged line by line, or kept and listed. What is overwritten or deleted is saved first, so this can be undone."
	case "part":
		return "Only the ticked parts go back. Everything else stays, or is merged line by line; what does not merge is listed. The messages of the session stay. What is overwritten or deleted is saved first, so this can be undone."
	case "unrevert":
		if w.partly() {
			return "Only the ticked parts come back. The rest stays reverted, and can be brought back later. What was changed since is merged line by line, or kept and listed. This can be undone."
		}
		return "What the revert changed comes back. What was changed since is merged, or kept and listed. This can be undone."
	}
	return "Only what changed there is taken back. What was changed since is merged line by line, or kept and listed. What is overwritten or deleted is saved first, so this can be undone."
}
