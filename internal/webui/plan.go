package webui

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
)

// planPage is what templates/plan.html shows.
type planPage struct {
	Heading, Button, Explain string
	Facts                    []fact
	Confirm                  string // address of the form
	Choose                   string // address of the form for what is ticked only
	Back                     string
	Result                   *cairn.Result
	Writes, Deletes, Others  int
	Bytes                    int64
	Policies                 []tab
	Paths, Without           []string
	Files                    []*fileView // what happens in them
	Source                   string      // address of the page on which single changes can be chosen
	Wider                    string      // address of the preview from which this one was narrowed down
	Turns                    []plannedTurn
	FileBoxes                int // number of boxes for files, 0 for none
	IDs                      []fact
	Nothing                  string // why there is nothing to do; "" = there is
	Done                     bool   // the plan was carried out, and it was empty
	Git                      *gitPart
	Outside                  *outsidePart

	from *takenBack // nil: the plan goes back as a whole
}

// Chosen reports whether parts of the plan can be chosen.
func (p *planPage) Chosen() bool { return p.FileBoxes > 0 || len(p.Turns) > 0 || p.Outside != nil }

// Policied reports whether a policy makes a difference: nothing to do may be its work.
func (p *planPage) Policied() bool {
	return len(p.Policies) > 0 && (p.Nothing == "" || !p.Result.Complete())
}

// backs are the changes whose hunks have boxes, nil for none.
func (p *planPage) backs() *takenBack {
	if p.FileBoxes == 0 {
		return nil
	}
	return p.from
}

func (h *handler) plan(v *visit) error {
	w, err := v.way()
	if err != nil {
		return err
	}
	if v.query.Get("only") != "" && w.Do == "merge" {
		return v.narrowMerge(w)
	} else if v.query.Get("only") != "" {
		return v.narrow(w)
	}
	res, err := w.run(v, "")
	if (w.Do == "undo" || w.Do == "redo") && errors.Is(err, cairn.ErrNotFound) {
		return v.showPlan(w, &cairn.Result{}, "There is nothing to "+w.Do+". Prompts of an agent have their own ways back on the timeline.")
	}
	if err != nil {
		return err
	}
	nothing := ""
	if len(res.Plan) == 0 && len(res.Elsewhere) == 0 && gitIdle(res) && res.Outside.Changes() == 0 {
		nothing = "Nothing would change: everything is as it would be."
		if !res.Complete() {
			nothing = "Nothing would change: every path would stay as it is."
		}
	}
	return v.showPlan(w, res, nothing)
}

func (v *visit) showPlan(w *way, res *cairn.Result, nothing string) (err error) {
	p := &planPage{
		Result: res, Nothing: nothing, Explain: w.explain(), Paths: w.Paths, Without: w.Without,
		Back: v.at(""), Confirm: v.ofPlan("apply"), Choose: v.ofPlan("choose"), Source: w.source(v), Wider: w.wider(v),
	}
	p.Heading, p.Button = w.text()
	p.sumUp()
	if w.Do != "restore" && w.Do != "merge" && w.Do != gitDo {
		p.Policies = v.policies(w)
	}
	p.IDs = w.ids(v)
	if res.PlanID != "" {
		p.IDs = append(p.IDs, fact{Name: "plan", Value: res.PlanID})
	}
	if p.Git, err = v.gitPart(w, res); err != nil {
		return err
	}
	if p.Outside, err = v.outsidePart(w, res); err != nil {
		return err
	}
	if p.from, err = v.takenBack(w); err != nil {
		return err
	}
	if p.from != nil && len(res.Plan) <= maxBoxes {
		p.FileBoxes = len(res.Plan)
	}
	if p.Facts = w.facts(v, p.from); w.movesGit() {
		p.Facts = w.gitFacts(v)
	} else if w.Do == "session" || w.Do == "part" {
		if p.Turns, err = v.plannedTurns(w); err != nil {
			return err
		}
	}
	if path := v.query.Get("show"); path != "" {
		return v.showPlanned(p, path)
	}
	if p.Files, err = v.planFiles(p, res.Plan); err != nil {
		return err
	}
	return v.render(http.StatusOK, "plan.html", p.Heading, p)
}

// sumUp counts what the plan does.
func (p *planPage) sumUp() {
	for _, c := range p.Result.Plan {
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
}

// policies are the previews of a way with each of the policies about later changes.
func (v *visit) policies(w *way) (list []tab) {
	chosen := cmp.Or(w.Policy, cairn.Merge)
	for _, policy := range []cairn.Policy{cairn.Merge, cairn.Keep, cairn.Overwrite} {
		list = append(list, tab{policyText[policy], v.same("policy", string(policy)), policy == chosen})
	}
	return list
}

// ids are the checkpoints that a way names.
func (w *way) ids(v *visit) (list []fact) {
	for _, f := range [][2]string{{"from", w.From}, {"to", w.To}} {
		if f[1] != "" {
			list = append(list, fact{f[0], f[1], v.at("checkpoint/" + url.PathEscape(f[1]))})
		}
	}
	return list
}

// ofPlan is the address of another page about the same way.
func (v *visit) ofPlan(page string) string {
	return strings.Replace(v.same("show", "", "part", "", "row", "", "open", "", "view", ""), "/plan?", "/"+page+"?", 1)
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
	narrow, err := v.ticked(w, readBoxes(v.r.PostForm))
	if err != nil {
		return err
	}
	if narrow != w { // other boxes than those of the plan are ticked
		return v.goTo(narrow)
	}
	if w.movesGit() && v.r.PostForm.Get("sure") == "" {
		return v.confirmGit(w, plan)
	}
	res, err := w.run(v, plan)
	if errors.Is(err, cairn.ErrNotFound) { // it was there for the preview: undone in another tab, for instance
		return fmt.Errorf("%w: %v", cairn.ErrMoved, err)
	}
	if err != nil {
		return err
	}
	if res.Git != nil && len(res.Git.Conflicts) > 0 {
		return v.doneGit(res)
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
