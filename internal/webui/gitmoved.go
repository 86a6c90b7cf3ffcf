package webui

import (
	"errors"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// moved says in words what has moved in git from one checkpoint to another, or to the present state.
// It is empty where a checkpoint has been cleaned away or says nothing about git.
func (v *visit) moved(from, to string) ([]string, error) {
	moved, err := v.findMoved(from, to)
	if errors.Is(err, cairn.ErrNotFound) {
		return nil, nil
	}
	return moved, err
}

// findMoved finds what has moved. A pair of checkpoints is cached by their ids: a name such as "@" means
// another one tomorrow.
func (v *visit) findMoved(from, to string) ([]string, error) {
	repo := v.project.Repo
	if to == "" {
		return repo.GitMoved(v.ctx(), from, to)
	}
	a, err := repo.Lookup(v.ctx(), from)
	if err != nil {
		return nil, err
	}
	b, err := repo.Lookup(v.ctx(), to)
	if err != nil {
		return nil, err
	}
	return v.h.moves.of(v.project, a.ID, b.ID, func() ([]string, error) { return repo.GitMoved(v.ctx(), a.ID, b.ID) })
}

// movedText is moved in one line.
func (v *visit) movedText(from, to string) (string, error) {
	moved, err := v.moved(from, to)
	return strings.Join(moved, ", "), err
}

// gitFact says on the page of two states what has moved in git between them, and offers to take that
// back.
func (p *changesPage) gitFact(v *visit) error {
	if p.From == "" {
		return nil
	}
	text, err := v.movedText(p.From, p.To)
	if err != nil || text == "" {
		return err
	}
	p.Facts = append(p.Facts, fact{Name: "git", Value: visible(text)})
	p.Actions = append(p.Actions, action{"Take git back", v.at("plan", "do", gitDo, "from", p.From, "to", p.To), "b", "only what has moved there in the git repository"})
	return nil
}

// gitStays says after an operation what still differs in git from the state to which the files went
// back.
func (p *changesPage) gitStays(v *visit, op *cairn.Operation) (err error) {
	if !p.Done || op.Target == "" || len(op.Git) > 0 {
		return nil
	}
	if p.Git, err = v.gitSince(op.Target, "", op.Target); err != nil || len(p.Git.Moved) == 0 {
		p.Git = nil
	}
	return err
}

// standing is the line of the timeline about git.
func (v *visit) standing() string {
	protection := v.project.Repo.GitProtection()
	moved, _ := v.moved("@", "") // what cannot be compared is not said
	return wording.GitStanding(protection.On, protection.Reason, moved)
}
