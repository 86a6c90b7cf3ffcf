package webui

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// gitDo is the way that moves git alone.
const gitDo = "git"

// gitPart is what a preview says about the git repository.
type gitPart struct {
	Plan  *cairn.GitResult // of a way that moves git; nil = git stays
	Moved []string         // what has moved since, in words
	Why   string           // why git cannot go back; "" = it can
	Offer string           // address of the preview that moves git; "" = there is none
}

// movesGit reports whether a way changes the git repository.
func (w *way) movesGit() bool { return w.Git || w.Do == gitDo }

// gitFits reports whether git can go back on a way. It goes back as a whole.
func (w *way) gitFits() bool {
	if len(w.Paths)+len(w.Without)+len(w.Hunks)+len(w.Steps) > 0 || w.Turn {
		return false
	}
	switch w.Do {
	case "undo", "redo", "session", "unrevert":
		return true
	case gitDo:
		return !w.Git && w.Policy == ""
	}
	return false
}

// restoreGit brings git back to From, or takes back only what has moved until To.
func (w *way) restoreGit(v *visit, plan string) (*cairn.Result, error) {
	res, err := v.project.Repo.RestoreGit(v.ctx(), w.From, cairn.GitRestoreOptions{Since: w.To, DryRun: plan == "", Plan: plan})
	if err != nil {
		return nil, err
	}
	return &cairn.Result{Operation: res.Operation, PlanID: res.PlanID, Git: res}, nil
}

// gitIdle reports whether a plan changes nothing in git.
func gitIdle(res *cairn.Result) bool { return res.Git == nil || len(res.Git.Changes) == 0 }

// gitFacts says what a way that moves git is about, where facts does not.
func (w *way) gitFacts(v *visit) []fact {
	switch {
	case w.Do == gitDo:
		return append(v.factOf("git as of", w.From), v.factOf("moved until", w.To)...)
	case w.Do == "undo" || w.Do == "redo":
		if op, err := history.Latest(w.Do, v.project.Repo.Operations(v.ctx())); err == nil && op != nil {
			return []fact{{"operation", v.textOf(op), v.at("operation/" + op.ID)}}
		}
	}
	return w.facts(v, nil)
}

// gitPart is what a preview says about git, nil if nothing has moved.
func (v *visit) gitPart(w *way, res *cairn.Result) (*gitPart, error) {
	if w.movesGit() {
		return &gitPart{Plan: res.Git}, nil
	}
	g, err := v.gitStays(w)
	if err != nil || len(g.Moved) == 0 {
		return nil, err
	}
	return g, nil
}

// gitStays says what has moved in git since the state to which a way leads, and how that goes back.
func (v *visit) gitStays(w *way) (*gitPart, error) {
	switch w.Do {
	case "restore":
		return v.gitSince(w.To, "", w.To)
	case "revert":
		return v.gitSince(w.From, w.To, w.From)
	case "session", "part":
		return v.gitOfTurns(w)
	}
	return v.gitOfOperation(w)
}

// gitSince says what has moved between two states. at is where git would go back to.
func (v *visit) gitSince(from, to, at string) (*gitPart, error) {
	moved, err := v.moved(from, to)
	return &gitPart{Moved: moved, Offer: v.at("plan", "do", gitDo, "from", at, "to", to)}, err
}

// gitOfTurns says what has moved since the first step of a way. A part of a turn offers exactly what
// its steps have moved.
func (v *visit) gitOfTurns(w *way) (*gitPart, error) {
	first, last, err := v.ends(w)
	if err != nil || first == "" {
		return &gitPart{}, err
	}
	if w.Turn {
		return v.gitSince(first, last, first)
	}
	g, err := v.gitSince(first, "", first)
	if err == nil && w.Do == "session" {
		err = v.offer(g, w)
	}
	return g, err
}

// ends are the checkpoints before and after the steps of a way, "" if it has none.
func (v *visit) ends(w *way) (first, last string, err error) {
	ids, err := w.steps(v)
	if err != nil {
		return "", "", err
	}
	g, err := v.going(w)
	if err != nil {
		return "", "", err
	}
	takes := setOf(ids)
	for _, t := range g.turns {
		for i := range t.Steps {
			if s := &t.Steps[i]; takes[s.ID] {
				if first == "" {
					first = s.Before.ID
				}
				last = s.After.ID
			}
		}
	}
	return first, last, nil
}

// gitOfOperation says what an undo, a redo or an unrevert would change in git.
func (v *visit) gitOfOperation(w *way) (*gitPart, error) {
	g := &gitPart{}
	if w.Do == "undo" || w.Do == "redo" {
		op, err := history.Latest(w.Do, v.project.Repo.Operations(v.ctx()))
		if err != nil || op == nil || len(op.Git) == 0 {
			return g, err
		}
	}
	return g, v.offer(g, w)
}

// offer puts the preview with git into g. What that would change counts as moved if g does not know.
func (v *visit) offer(g *gitPart, w *way) error {
	with := *w
	if with.Git = true; !with.fits() {
		return nil // a part of the way leaves git as it is
	}
	res, err := with.run(v, "")
	switch {
	case errors.Is(err, cairn.ErrGitRefused):
		g.Why = err.Error()
		return nil
	case errors.Is(err, cairn.ErrNotFound):
		return nil
	case err != nil:
		return err
	case res.Git == nil: // an unrevert of nothing
		return nil
	}
	if g.Offer = with.address(v); gitIdle(res) && len(res.Git.Conflicts) == 0 {
		g.Offer = ""
	}
	if len(g.Moved) == 0 {
		g.Moved = res.Git.Changes
	}
	return nil
}

// confirmGit is the second confirmation of a plan that changes the git repository. Its page repeats
// what changes there.
func (v *visit) confirmGit(w *way, plan string) error {
	res, err := w.run(v, "")
	if err != nil {
		return err
	}
	if res.PlanID != plan {
		return fmt.Errorf("%w: the plan would be another one now", cairn.ErrMoved)
	}
	p := &planPage{
		Result: res, Heading: "Change the git repository?", Confirm: v.ofPlan("apply"),
		Back: v.planAgain(), Git: &gitPart{Plan: res.Git},
	}
	_, p.Button = w.text()
	p.Facts = w.gitFacts(v)
	p.sumUp()
	return v.render(http.StatusOK, "git.html", p.Heading, p)
}

// doneGit shows what was carried out, but for some refs that stayed.
func (v *visit) doneGit(res *cairn.Result) error {
	p := &planPage{
		Result: res, Heading: "Done, but for a part of git", Done: true,
		Back: v.at("operation/"+res.Operation, "done", "1"), Git: &gitPart{Plan: res.Git},
	}
	return v.render(http.StatusOK, "git.html", p.Heading, p)
}
