package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gitcommit"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/usergit"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// ErrBuildsOn: a turn cannot become a commit alone, because it builds on lines that HEAD lacks.
var ErrBuildsOn = errors.New("cannot be committed alone")

// GitCommitOptions control CommitTurns.
type GitCommitOptions struct {
	Message  string   // "" = the prompt of each turn
	Squash   bool     // one commit for all turns
	Trailers bool     // name session, turn and agent at the end of the message
	DryRun   bool     // only say what would be committed
	Env      []string // of the user's git: identity, signing, hooks and filters come from there
}

// GitCommits is what CommitTurns did.
type GitCommits struct {
	Session string             `json:"sessionID"`
	Branch  string             `json:"branch,omitempty"` // "" = HEAD is detached
	DryRun  bool               `json:"dryRun,omitempty"`
	Commits []GitCommit        `json:"commits"`
	Turns   []SkippedTurn      `json:"skippedTurns,omitempty"`
	LeftOut []cairn.PathReason `json:"kept,omitempty"` // paths of the turns that no commit has
}

// GitCommit is one commit of the user's repository.
type GitCommit struct {
	ID      string    `json:"commit,omitempty"` // "" in a dry run
	Turns   []int     `json:"turns"`            // numbers from 1
	Message string    `json:"message"`
	Files   []GitFile `json:"diffs"`
	Output  string    `json:"-"` // of git and its hooks
}

// GitFile counts the changed lines of a path. The path counts from the root.
type GitFile struct {
	Path      cairn.Path   `json:"path"`
	Status    cairn.Status `json:"status"`
	Additions int          `json:"additions"`
	Deletions int          `json:"deletions"`
	Binary    bool         `json:"binary,omitempty"`
}

// SkippedTurn is a turn without a commit.
type SkippedTurn struct {
	Turn    int    `json:"turn"`
	Message string `json:"messageID"`
	Reason  string `json:"reason"`
}

// CommitTurns makes commits in the user's git repository of what turns of a session changed, and of
// nothing else: lines of the user in the same files stay uncommitted, and what is staged stays
// staged. It writes no file of the work tree. Turns are numbered from 1; none means all.
//
// If a turn builds on lines that HEAD lacks, nothing is committed, and the error wraps ErrBuildsOn.
// A hook that fails ends the work before its commit. Commits made before it stay.
func (s *Sessions) CommitTurns(ctx context.Context, id string, turns []int, opt GitCommitOptions) (*GitCommits, error) {
	repo, err := usergit.Open(ctx, s.repo.Root(), opt.Env)
	if err != nil {
		return nil, err
	}
	if err := repo.Ready(ctx); err != nil {
		return nil, err
	}
	c := &turnCommitter{Sessions: s, git: repo, opt: opt, out: &GitCommits{Session: id, DryRun: opt.DryRun, Commits: []GitCommit{}}}
	if err := c.load(ctx, id); err != nil {
		return nil, err
	}
	if err := c.choose(ctx, turns); err != nil {
		return nil, err
	}
	return c.run(ctx)
}

// turnCommitter makes the commits of one call.
type turnCommitter struct {
	*Sessions
	git    *usergit.Repo
	opt    GitCommitOptions
	out    *GitCommits
	f      *family
	h      *history // the session itself
	active []*boundary
	heads  []*message // of all turns
	chosen []turnGroup
}

// turnGroup is the turns of one commit.
type turnGroup struct {
	turns []int
	ways  [][][]cairn.Change // of each turn
}

func (c *turnCommitter) load(ctx context.Context, id string) (err error) {
	if c.f, err = c.family(ctx, id); err != nil {
		return err
	}
	c.h = c.f.head
	if c.active, err = c.Sessions.active(ctx, c.h); err != nil {
		return err
	}
	for i, m := range c.h.messages {
		if i == 0 || m.Role == RoleUser {
			c.heads = append(c.heads, m)
		}
	}
	return nil
}

// choose finds the ways of the turns that are to be committed.
func (c *turnCommitter) choose(ctx context.Context, turns []int) error {
	if len(turns) == 0 {
		for i := range c.heads {
			turns = append(turns, i+1)
		}
	}
	turns = slices.Clone(turns)
	slices.Sort(turns)
	for _, n := range slices.Compact(turns) {
		if n < 1 || n > len(c.heads) {
			return notFound("turn %d of session %q: it has %s", n, c.h.ID, wording.Count(len(c.heads), "turn"))
		}
		ways, reason, err := c.ways(ctx, n)
		if err != nil {
			return err
		}
		if reason != "" {
			c.out.Turns = append(c.out.Turns, SkippedTurn{n, c.heads[n-1].ID, reason})
			continue
		}
		if g := len(c.chosen); c.opt.Squash && g > 0 {
			c.chosen[g-1].turns, c.chosen[g-1].ways = append(c.chosen[g-1].turns, n), append(c.chosen[g-1].ways, ways)
		} else {
			c.chosen = append(c.chosen, turnGroup{[]int{n}, [][][]cairn.Change{ways}})
		}
	}
	return nil
}

// ways lists the changes of a turn, or says why it is skipped.
func (c *turnCommitter) ways(ctx context.Context, n int) (ways [][]cairn.Change, reason string, err error) {
	for _, commit := range c.heads[n-1].Commits {
		if c.git.IsAncestor(ctx, commit) {
			return nil, "committed as " + commit, nil
		}
	}
	refs, err := c.f.inScope(Scope{Message: c.heads[n-1].ID, Turn: true})
	if err != nil {
		return nil, "", err
	}
	all := len(refs)
	if last := newest(c.active); last != nil {
		refs = withoutRefs(refs, last.Undone)
	}
	for _, ref := range refs {
		if st := c.f.members[ref.Session].step(ref.Step); st != nil && st.ended == 0 {
			return nil, "it is not finished", nil
		}
	}
	windows := c.f.windows(refs)
	if err := c.addOthers(ctx, c.f, windows); err != nil {
		return nil, "", err
	}
	ways, left, err := c.lines.StepWays(ctx, undoneSteps(windows))
	if err != nil {
		return nil, "", expired(err, "a state of session %q", c.h.ID)
	}
	c.out.LeftOut = append(c.out.LeftOut, left...)
	switch {
	case len(ways) > 0:
		return ways, "", nil
	case len(refs) < all:
		return nil, "it is taken back", nil
	}
	return nil, "it changed no file", nil
}

// run plans all commits, and makes them if all can be made.
func (c *turnCommitter) run(ctx context.Context) (*GitCommits, error) {
	head := c.git.Head(ctx)
	c.out.Branch = head.Branch
	if len(c.chosen) == 0 {
		return c.out, nil
	}
	scratch, err := c.git.NewScratch()
	if err != nil {
		return nil, err
	}
	defer scratch.Close()
	p := &gitcommit.Planner{Repo: c.git, Scratch: scratch, Open: c.lines.OpenBlob, Later: func(path string) []cairn.Change { return c.allOf(ctx, path) }}
	if err := p.Start(ctx, head.Commit); err != nil {
		return nil, err
	}
	planned := []GitCommit{}
	for i := range c.chosen {
		_, made, err := c.plan(ctx, p, &c.chosen[i], true)
		if err != nil {
			return nil, err
		}
		if made != nil {
			planned = append(planned, *made)
		}
	}
	if c.opt.DryRun {
		c.out.Commits = planned
		return c.out, nil
	}
	for i := range c.chosen {
		if err := c.commit(ctx, p, scratch, &c.chosen[i]); err != nil {
			return c.out, err
		}
	}
	return c.out, nil
}

// plan works out the commit of a group. first notes what is left out.
func (c *turnCommitter) plan(ctx context.Context, p *gitcommit.Planner, g *turnGroup, first bool) (usergit.Wanted, *GitCommit, error) {
	all := usergit.Wanted{Entries: make(map[string]usergit.Entry), Staged: make(map[string]usergit.Entry)}
	byPath := make(map[string]gitcommit.File)
	for i, ways := range g.ways {
		w, files, skipped, err := p.Plan(ctx, ways)
		if err != nil {
			return all, nil, c.explain(ctx, g.turns[i], err)
		}
		maps.Copy(all.Entries, w.Entries)
		maps.Copy(all.Staged, w.Staged)
		for _, f := range files {
			if earlier, ok := byPath[f.Path]; ok {
				f.Before, f.Additions, f.Deletions = earlier.Before, f.Additions+earlier.Additions, f.Deletions+earlier.Deletions
			}
			byPath[f.Path] = f
		}
		if !first {
			continue
		}
		for _, skip := range skipped {
			c.out.LeftOut = append(c.out.LeftOut, cairn.PathReason{Path: cairn.Path(skip.Path), Reason: skip.Reason})
		}
	}
	maps.DeleteFunc(byPath, func(_ string, f gitcommit.File) bool { return f.Before == f.After })
	if len(byPath) == 0 {
		if !first {
			return all, nil, nil
		}
		for _, n := range g.turns {
			c.out.Turns = append(c.out.Turns, SkippedTurn{n, c.heads[n-1].ID, "nothing of it is left to commit"})
		}
		return all, nil, nil
	}
	var files []gitcommit.File
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		files = append(files, byPath[path])
	}
	made := &GitCommit{Turns: g.turns, Message: c.message(g, files)}
	for _, f := range files {
		made.Files = append(made.Files, gitFile(c.git.Prefix, &f))
	}
	return all, made, nil
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

// commit makes the commit of a group. It plans again, because hooks may have changed the commit
// before.
func (c *turnCommitter) commit(ctx context.Context, p *gitcommit.Planner, scratch *usergit.Scratch, g *turnGroup) error {
	head := c.git.Head(ctx)
	if err := p.Start(ctx, head.Commit); err != nil {
		return err
	}
	w, made, err := c.plan(ctx, p, g, false)
	if err != nil || made == nil {
		return err
	}
	w.Message = made.Message
	if made.ID, made.Output, err = scratch.Commit(ctx, head, w); err != nil {
		return err
	}
	c.out.Commits = append(c.out.Commits, *made)
	return c.remember(ctx, g, made.ID)
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
			c.add(h, event{Kind: kindInGit, Message: c.heads[n-1].ID, Commit: commit})
		}
		return c.append(ctx, u, h, operation.LineAppend{Message: "committed as " + commit})
	})
}

// message makes the message of a commit.
func (c *turnCommitter) message(g *turnGroup, files []gitcommit.File) string {
	text := c.opt.Message
	if text == "" {
		var prompts []string
		for _, n := range g.turns {
			if prompt := strings.TrimSpace(c.heads[n-1].Prompt); prompt != "" {
				prompts = append(prompts, prompt)
			}
		}
		text = gitcommit.Message(strings.Join(prompts, "\n\n"), files)
	}
	if !c.opt.Trailers {
		return text
	}
	text = strings.TrimRight(text, "\n") + "\n\nCairn-Session: " + wording.Printable(c.h.ID) + "\n"
	for _, n := range g.turns {
		text += fmt.Sprintf("Cairn-Turn: %d\n", n)
	}
	if agent := cmp.Or(c.heads[g.turns[0]-1].Agent, c.h.Meta[MetaAgent]); agent != "" {
		text += "Cairn-Agent: " + wording.Printable(agent) + "\n"
	}
	return text
}

// allOf lists the changes of a path by all turns. It helps to tell what HEAD has, so a turn whose
// states are gone does not matter.
func (c *turnCommitter) allOf(ctx context.Context, path string) (list []cairn.Change) {
	for _, m := range c.heads {
		changes, err := c.changed(ctx, c.h, nil, Scope{Message: m.ID, Turn: true})
		if err != nil {
			continue
		}
		for _, change := range changes {
			if change.Path == path {
				list = append(list, change)
			}
		}
	}
	return list
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
	for n := turn - 1; n > 0; n-- {
		changes, err := c.changed(ctx, c.h, nil, Scope{Message: c.heads[n-1].ID, Turn: true})
		if err == nil && slices.ContainsFunc(changes, func(o cairn.Change) bool { return o.Path == path }) {
			return fmt.Sprintf("turn %d changed it before", n)
		}
	}
	return "no earlier turn changed it: the lines are yours or another session's"
}
