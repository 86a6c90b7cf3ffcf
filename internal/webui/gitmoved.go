package webui

import (
	"errors"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// movesKept is the number of pairs of checkpoints whose movement of git is cached.
const movesKept = 20000

// moveCache caches what has moved in git between two checkpoints. These never change. When it is full,
// it is emptied.
type moveCache struct {
	mu    sync.Mutex
	known map[string][]string
}

func newMoveCache() *moveCache { return &moveCache{known: make(map[string][]string)} }

// moved says in words what has moved in git from one checkpoint to another, or to the present state.
// It is empty where a checkpoint has been cleaned away or says nothing about git.
func (v *visit) moved(from, to string) ([]string, error) {
	key, cache := v.project.ID+from+to, v.h.moves
	if to != "" {
		cache.mu.Lock()
		known, ok := cache.known[key]
		cache.mu.Unlock()
		if ok {
			return known, nil
		}
	}
	moved, err := v.project.Repo.GitMoved(v.ctx(), from, to)
	if errors.Is(err, cairn.ErrNotFound) {
		return nil, nil
	}
	if err != nil || to == "" {
		return moved, err
	}
	cache.mu.Lock()
	defer cache.mu.Unlock()
	if len(cache.known) >= movesKept {
		clear(cache.known)
	}
	cache.known[key] = moved
	return moved, nil
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
