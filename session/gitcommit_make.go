package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gitcommit"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/usergit"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// commitMaker plans the commits of a turnCommitter and makes them.
type commitMaker struct {
	*turnCommitter
	*gitcommit.Planner
	base  usergit.Base // on which the next commit is planned
	stale bool         // the plans of the commits that are left no longer fit
}

// plannedCommit is the commit of a turnGroup, nil where nothing is left to commit.
type plannedCommit struct {
	wanted usergit.Wanted
	*GitCommit
}

// run plans all commits, and makes them if all can be made.
func (c *turnCommitter) run(ctx context.Context) (err error) {
	m := &commitMaker{turnCommitter: c}
	if m.base, err = c.git.Base(ctx); err != nil {
		return err
	}
	c.out.Branch = m.base.Head.Branch
	if len(c.chosen) == 0 {
		return nil
	}
	scratch, err := c.git.NewScratch(c.scratchDir(), m.base.Head)
	if err != nil {
		return err
	}
	defer scratch.Close()
	scratch.Output = c.opt.Output
	m.Planner = &gitcommit.Planner{
		Repo: c.git, Scratch: scratch, Open: c.openBlob,
		Known: func() map[string][]gitcommit.KnownChange { return c.changesByPath(ctx) },
	}
	plans, err := m.planAll(ctx)
	if err != nil {
		return err
	}
	for i, plan := range plans {
		switch {
		case plan.GitCommit == nil:
		case c.opt.DryRun:
			c.out.Commits = append(c.out.Commits, *plan.GitCommit)
		default:
			if err := m.commit(ctx, &c.chosen[i], plan); err != nil {
				return err
			}
		}
	}
	return nil
}

// start reads the repository for the plans that follow.
func (m *commitMaker) start(ctx context.Context) error {
	var all [][]cairn.Change
	for _, g := range m.chosen {
		for _, ways := range g.ways {
			all = append(all, ways...)
		}
	}
	return m.Start(ctx, m.base.Head, all)
}

// planAll plans the commits of all groups, and notes what none of them has.
func (m *commitMaker) planAll(ctx context.Context) (plans []plannedCommit, err error) {
	if err := m.start(ctx); err != nil {
		return nil, err
	}
	for i := range m.chosen {
		g := &m.chosen[i]
		plan, left, err := m.plan(ctx, g)
		if err != nil {
			return nil, err
		}
		for _, skip := range left {
			m.out.LeftOut = append(m.out.LeftOut, cairn.PathReason{Path: cairn.Path(skip.Path), Reason: skip.Reason})
		}
		if plan.GitCommit == nil {
			reason := "nothing of it is left to commit"
			if len(left) > 0 {
				reason = "it changed only paths that are left out"
			}
			for _, n := range g.turns {
				m.skip(SkippedTurn{Turn: n, Reason: reason})
			}
		}
		plans = append(plans, plan)
	}
	slices.SortFunc(m.out.Turns, func(a, b SkippedTurn) int { return cmp.Compare(a.Turn, b.Turn) })
	slices.SortStableFunc(m.out.LeftOut, func(a, b cairn.PathReason) int { return cmp.Compare(a.Path, b.Path) })
	m.out.LeftOut = slices.Compact(m.out.LeftOut)
	return plans, m.oneMessage(plans)
}

// oneMessage refuses to give several commits the same message.
func (m *commitMaker) oneMessage(plans []plannedCommit) error {
	n := 0
	for _, plan := range plans {
		if plan.GitCommit != nil {
			n++
		}
	}
	if m.opt.Message == "" || n < 2 {
		return nil
	}
	return fmt.Errorf("%w, and there would be %d: name one turn, or squash them", ErrOneMessage, n)
}

// plan works out the commit of a group, and what it leaves out.
func (m *commitMaker) plan(ctx context.Context, g *turnGroup) (plan plannedCommit, left []gitcommit.Skip, err error) {
	plan.wanted = usergit.Wanted{Entries: make(map[string]usergit.Entry), Staged: make(map[string]usergit.Entry)}
	byPath := make(map[string]gitcommit.File)
	var planned turnGroup
	for i, ways := range g.ways {
		m.From = g.turns[i]
		w, files, skipped, err := m.Plan(ctx, ways)
		if err != nil && m.rewritten(g.turns[i], err) {
			continue
		}
		if err != nil {
			return plan, nil, m.explain(ctx, g.turns[i], err)
		}
		planned.turns, planned.ways = append(planned.turns, g.turns[i]), append(planned.ways, ways)
		maps.Copy(plan.wanted.Entries, w.Entries)
		maps.Copy(plan.wanted.Staged, w.Staged)
		for _, f := range files {
			if earlier, ok := byPath[f.Path]; ok {
				f.Before = earlier.Before
				if err := m.Count(ctx, &f); err != nil {
					return plan, nil, err
				}
			}
			byPath[f.Path] = f
		}
		left = append(left, skipped...)
	}
	*g = planned
	maps.DeleteFunc(byPath, func(_ string, f gitcommit.File) bool { return f.Before == f.After })
	if len(byPath) == 0 {
		return plan, left, nil
	}
	var files []gitcommit.File
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		files = append(files, byPath[path])
	}
	plan.wanted.Message = m.message(g, files)
	plan.GitCommit = &GitCommit{Turns: g.turns, Message: plan.wanted.Message}
	for _, f := range files {
		plan.Files = append(plan.Files, gitFile(m.git.Prefix, &f))
	}
	return plan, left, nil
}

// rewritten skips a turn that was committed, and whose commit was amended or rebased since, unless
// the caller names the turn: HEAD may have its lines in another form.
func (m *commitMaker) rewritten(turn int, err error) bool {
	commits := m.turns[turn-1].Messages[0].Commits
	if len(commits) == 0 || m.named || !errors.As(err, new(*gitcommit.Conflict)) {
		return false
	}
	m.skip(SkippedTurn{Turn: turn, Reason: "committed as " + commits[len(commits)-1] + ", which HEAD has no longer"})
	return true
}

func gitFile(prefix string, f *gitcommit.File) GitFile {
	status := cairn.Modified
	switch {
	case f.Before.ID == "":
		status = cairn.Added
	case f.After.ID == "":
		status = cairn.Deleted
	}
	return GitFile{cairn.Path(strings.TrimPrefix(f.Path, prefix)), status, f.Additions, f.Deletions, f.Binary}
}

// commit makes the commit of a group. It plans again if a hook has changed the commit before, or
// another process has changed the repository.
func (m *commitMaker) commit(ctx context.Context, g *turnGroup, plan plannedCommit) (err error) {
	if m.stale {
		if plan, err = m.again(ctx, g); err != nil || plan.GitCommit == nil {
			return err
		}
	}
	made, err := m.Scratch.Commit(ctx, m.base, plan.wanted)
	if errors.Is(err, usergit.ErrMoved) && made.Commit == "" {
		if plan, err = m.again(ctx, g); err != nil || plan.GitCommit == nil {
			return err
		}
		made, err = m.Scratch.Commit(ctx, m.base, plan.wanted)
	}
	if made.Commit == "" {
		return notCommitted(g.turns, err)
	}
	plan.ID, plan.Output, m.base, m.stale = made.Commit, made.Output, made.Next, m.stale || !made.AsPlanned
	m.out.Commits = append(m.out.Commits, *plan.GitCommit)
	return errors.Join(err, m.remember(ctx, g, made.Commit))
}

// notCommitted names the turns before the first part of an error. The others stay parts, and so lines of their own.
func notCommitted(turns []int, err error) error {
	parts := wording.Parts(err)
	parts[0] = fmt.Errorf("%s not committed: %w", turnNumbers(turns), parts[0])
	return errors.Join(parts...)
}

// turnNumbers names turns in a sentence about them.
func turnNumbers(turns []int) string {
	if len(turns) == 1 {
		return fmt.Sprintf("turn %d is", turns[0])
	}
	list := make([]string, len(turns))
	for i, n := range turns {
		list[i] = strconv.Itoa(n)
	}
	return "turns " + strings.Join(list, ", ") + " are"
}

// again plans the commit of a group for the repository as it is now, on the same branch.
func (m *commitMaker) again(ctx context.Context, g *turnGroup) (plan plannedCommit, err error) {
	branch := m.base.Head.Branch
	if m.base, err = m.git.Base(ctx); err != nil {
		return plan, err
	}
	if m.base.Head.Branch != branch {
		return plan, fmt.Errorf("%w: HEAD names another branch", usergit.ErrMoved)
	}
	m.stale = true
	if err := m.start(ctx); err != nil {
		return plan, err
	}
	plan, _, err = m.plan(ctx, g)
	return plan, err
}

// remember records with the session that turns were committed.
func (c *turnCommitter) remember(ctx context.Context, g *turnGroup, commit string) error {
	return c.update(ctx, c.h.ID, func(u *operation.LineUpdate) error {
		h, err := c.Sessions.load(ctx, c.h.ID)
		if err != nil {
			return err
		}
		if err := c.endDead(ctx, h); err != nil {
			return err
		}
		for _, n := range g.turns {
			c.add(h, event{Kind: kindInGit, Message: c.turns[n-1].ID(), Commit: commit})
		}
		return c.append(ctx, u, h, operation.LineAppend{Message: "committed as " + commit})
	})
}

// explain says on what a turn builds that cannot be committed alone.
func (c *turnCommitter) explain(ctx context.Context, turn int, err error) error {
	var list []error
	for _, part := range wording.Parts(err) {
		var conflict *gitcommit.Conflict
		if !errors.As(part, &conflict) {
			return err
		}
		list = append(list, fmt.Errorf("turn %d %w: %w (%s)", turn, ErrBuildsOn, part, c.buildsOn(ctx, turn, conflict.Path)))
	}
	return errors.Join(list...)
}

func (c *turnCommitter) buildsOn(ctx context.Context, turn int, path string) string {
	changes := c.changesByTurn(ctx)
	for n := turn - 1; n > 0; n-- {
		if slices.ContainsFunc(changes[n-1], func(o cairn.Change) bool { return o.Path == path }) {
			return fmt.Sprintf("turn %d changed it before", n)
		}
	}
	for _, d := range c.f.all {
		if c.f.members[d.ID] != nil {
			continue
		}
		list, err := c.Changes(ctx, d.ID, Scope{})
		if err == nil && slices.ContainsFunc(list, func(o cairn.Change) bool { return o.Path == path }) {
			return "session " + name(d.ID) + d.inBrackets() + " changed it, too"
		}
	}
	return "no earlier turn and no other session changed it: the lines are yours"
}
