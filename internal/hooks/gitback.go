package hooks

import (
	"context"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/lastdone"
	"github.com/seed-fb9cbc17/cairn/session"
)

// A typed "cairn undo --git" lists a plan and the line that carries it out. That line, typed as the
// next prompt, is the yes to it. One turn goes back, or an operation if that is newer.

// gitBack undoes or redoes the newest turn or operation together with what it did to git.
func (h *hook) gitBack(ctx context.Context) error {
	finder, chosen, err := h.newestWithGit(ctx)
	if err != nil {
		return err
	}
	if chosen == nil {
		h.did.text = "cairn: " + map[string]string{"undo": nothingToUndo, "redo": "nothing to bring back in this session"}[h.do.verb]
		return nil
	}
	opt := session.MoveOptions{Git: true, Outside: h.do.outside, EndOpen: true, DryRun: h.do.plan == "", Plan: h.do.plan}
	res, err := finder.Take(ctx, chosen, opt, nil)
	if err == nil && h.do.yes && !h.do.dryRun {
		opt.DryRun, opt.Plan = false, res.PlanID
		res, err = finder.Take(ctx, chosen, opt, nil)
	}
	if err != nil {
		return err
	}
	if !opt.DryRun {
		h.forgetSteps()
	}
	h.tellGit(res, chosen)
	return nil
}

// newestWithGit finds what goes back: a turn of this session, or an operation of its time.
func (h *hook) newestWithGit(ctx context.Context) (*lastdone.Finder, *lastdone.Choice, error) {
	if h.finder == nil {
		return nil, nil, nil
	}
	finder, err := h.finder()
	if err != nil {
		return nil, nil, err
	}
	finder.Git, finder.Outside, finder.EndOpen = true, h.do.outside, true
	list, err := h.candidates(ctx, finder, h.do.verb)
	if err != nil {
		return nil, nil, err
	}
	s, err := h.sessions.Get(ctx, h.session)
	if err != nil {
		return nil, nil, err
	}
	for i := range list {
		if op := list[i].Operation; op == nil || !op.When.Before(s.Created) {
			return finder, &list[i], nil
		}
	}
	return finder, nil, nil
}

func (h *hook) tellGit(res *cairn.Result, chosen *lastdone.Choice) {
	prefix := "in git: "
	if res.DryRun {
		prefix = "in git: would "
	}
	h.did.result = res
	did := h.didBack(res.DryRun)
	if chosen.Held {
		did = "not " + doneWords(h.do.verb) + ", because all of it is in conflict or kept:"
	}
	lines := []string{resultText(res, "cairn: "+did+" "+chosen.Text(h.root, time.Now()))}
	for _, text := range res.Git.Changes {
		lines = append(lines, prefix+text)
	}
	for _, c := range res.Git.Conflicts {
		lines = append(lines, "in git: conflict "+c.Ref.Quoted()+": "+c.Reason)
	}
	lines = append(lines[:1:1], shorten(lines[1:])...)
	if res.DryRun && !chosen.Held {
		line := "to do exactly this, type: cairn " + h.do.verb + " --git"
		if h.do.outside {
			line += " --outside"
		}
		lines = append(lines, line+" --plan "+res.PlanID)
	}
	if half := h.otherHalf(); half != "" && chosen.Turn != nil && !res.DryRun {
		lines = append(lines, half)
	}
	h.did.text = strings.Join(lines, "\n")
}
