package webui

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

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

// planPage is what templates/plan.html shows.
type planPage struct {
	Heading, Button, Explain string
	Confirm                  string // address of the form
	Back                     string
	Result                   *cairn.Result
	Writes, Deletes, Others  int
	Bytes                    int64
	Policies                 []tab
	Paths                    []string
	Files                    []*fileView // what happens in them
	Choice                   *choice     // nil: the plan goes back as a whole
	Source                   string      // address of the page on which single changes can be chosen
	IDs                      []fact
	Nothing                  string // why there is nothing to do; "" = there is
	Done                     bool   // the plan was carried out, and it was empty
}

func (h *handler) plan(v *visit) error {
	w, err := v.way()
	if err != nil {
		return err
	}
	if v.query.Get("only") != "" {
		return v.narrow(w)
	}
	res, err := w.run(v, "")
	if (w.Do == "undo" || w.Do == "redo") && errors.Is(err, cairn.ErrNotFound) {
		return v.showPlan(w, &cairn.Result{}, "There is nothing to "+w.Do+".")
	}
	if err != nil {
		return err
	}
	nothing := ""
	if len(res.Plan) == 0 {
		nothing = "Nothing would change: everything is as it would be."
		if !res.Complete() {
			nothing = "Nothing would change: every path would stay as it is."
		}
	}
	return v.showPlan(w, res, nothing)
}

func (v *visit) showPlan(w *way, res *cairn.Result, nothing string) error {
	p := &planPage{Result: res, Nothing: nothing, Explain: w.explain(), Paths: w.Paths, Back: v.at("")}
	p.Heading, p.Button = w.text()
	p.Confirm = strings.Replace(v.same("show", "", "part", "", "row", "", "view", ""), "/plan?", "/apply?", 1)
	for _, c := range res.Plan {
		switch c.Action {
		case "create", "modify":
			p.Writes++
			p.Bytes += c.Bytes
		case "delete", "rmdir":
			p.Deletes++
		default:
			p.Others++
		}
	}
	if w.Do != "restore" {
		chosen := cmp.Or(w.Policy, cairn.Merge)
		for _, policy := range []cairn.Policy{cairn.Merge, cairn.Keep, cairn.Overwrite} {
			p.Policies = append(p.Policies, tab{policyText[policy], v.same("policy", string(policy)), policy == chosen})
		}
	}
	for _, f := range [][2]string{{"from", w.From}, {"to", w.To}} {
		if f[1] != "" {
			p.IDs = append(p.IDs, fact{f[0], f[1], v.at("checkpoint/" + url.PathEscape(f[1]))})
		}
	}
	p.IDs = append(p.IDs, fact{Name: "plan", Value: res.PlanID})
	p.Source = w.source(v)
	if path := v.query.Get("show"); path != "" {
		return v.showPlanned(p, path)
	}
	p.Choice = w.choice(v)
	var err error
	if p.Files, err = v.planFiles(res.Plan); err != nil {
		return err
	}
	return v.render(http.StatusOK, "plan.html", p.Heading, p)
}

var policyText = map[cairn.Policy]string{
	cairn.Merge: "Merge", cairn.Keep: "Keep", cairn.Overwrite: "Overwrite",
}

// apply carries out exactly the plan that was shown.
func (h *handler) apply(v *visit) error {
	w, err := v.way()
	if err != nil {
		return err
	}
	plan := v.r.PostForm.Get("plan")
	if plan == "" {
		return fmt.Errorf("%w: the form names no plan", errInput)
	}
	res, err := w.run(v, plan)
	if err != nil {
		return err
	}
	if res.Operation != "" {
		http.Redirect(v.w, v.r, v.at("operation/"+res.Operation, "done", "1"), http.StatusSeeOther)
		return nil
	}
	p := &planPage{Result: res, Heading: "Nothing was changed", Done: true, Back: v.at("")}
	return v.render(http.StatusOK, "plan.html", p.Heading, p)
}

// planAgain is the address of the preview that belongs to a form.
func (v *visit) planAgain() string {
	if v.project == nil {
		return ""
	}
	return v.at("plan") + "?" + v.query.Encode()
}

// track takes a checkpoint.
func (h *handler) track(v *visit) error {
	t, err := v.project.Repo.Track(v.ctx(), cairn.TrackOptions{Message: strings.TrimSpace(v.r.PostForm.Get("message"))})
	if err != nil {
		return err
	}
	http.Redirect(v.w, v.r, v.at("checkpoint/"+t.Checkpoint), http.StatusSeeOther)
	return nil
}
