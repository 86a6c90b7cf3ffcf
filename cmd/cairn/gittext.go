package main

import (
	"context"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
)

// gitStays returns a function that says, after files went back to a checkpoint, what differs from
// then in the git repository, which stays as it is. The checkpoint is looked up at once: going back
// makes newer ones of the same tree.
func (c *cli) gitStays(ctx context.Context, repo *cairn.Repo, spec string) func() {
	target, err := repo.Lookup(ctx, spec)
	if err != nil {
		return func() {} // the caller fails for the same reason
	}
	return func() { c.sayGit(ctx, repo, target.ID) }
}

// gitStaysOf is gitStays for the operation that took another one back.
func (c *cli) gitStaysOf(ctx context.Context, repo *cairn.Repo, res *cairn.Result) {
	if res.Operation == "" {
		return
	}
	for op, err := range repo.Operations(ctx) {
		if err == nil && op.ID == res.Operation && op.Target != "" {
			c.sayGit(ctx, repo, op.Target)
		}
		return // it is the newest
	}
}

func (c *cli) sayGit(ctx context.Context, repo *cairn.Repo, checkpoint string) {
	moved, err := repo.GitMoved(ctx, checkpoint, "")
	if err != nil || len(moved) == 0 || c.global.json {
		return // files are back; only the line about git is missing
	}
	c.console.Remark("git stays as it is; since then: %s", strings.Join(moved, ", "))
}

// gitStanding is the part of status about the git repository.
type gitStanding struct {
	cairn.GitProtection
	Moved []string `json:"moved,omitempty"` // since the newest checkpoint
}

func (c *cli) gitStanding(ctx context.Context, repo *cairn.Repo, checkpoint string) gitStanding {
	s := gitStanding{GitProtection: repo.GitProtection()}
	if s.On {
		s.Moved, _ = repo.GitMoved(ctx, checkpoint, "") // what cannot be compared is not said
	}
	return s
}

// String returns the line of status.
func (s gitStanding) String() string {
	text := "not recorded: " + s.Reason
	if s.On {
		text = "HEAD, refs, index and stash are recorded"
		if s.Reason == "" {
			text += ", and commits kept"
		} else {
			text += ", but " + s.Reason
		}
	}
	if len(s.Moved) > 0 {
		text += "; since then: " + strings.Join(s.Moved, ", ")
	}
	return text
}
