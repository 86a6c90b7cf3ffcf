package session

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/usergit"
)

// Errors of CommitTurns.
var (
	ErrBuildsOn   = errors.New("cannot be committed alone") // a turn builds on lines that HEAD lacks
	ErrOneMessage = errors.New("one message is for one commit")
)

// GitCommitOptions control CommitTurns.
type GitCommitOptions struct {
	Message  string    // of the one commit; "" = the prompt of each turn
	Squash   bool      // one commit for all turns
	Trailers bool      // name session, turn and agent at the end of the message
	DryRun   bool      // only say what would be committed
	Env      []string  // of the user's git: identity, signing, hooks and filters come from there
	Output   io.Writer // gets what git and its hooks print; nil: GitCommit.Output has it
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
	Commit  string `json:"commit,omitempty"` // in HEAD, with the turn
}

// scratchDir is where commits are prepared: the data directory belongs to the user alone.
func (s *Sessions) scratchDir() string {
	return filepath.Join(filepath.Dir(filepath.Dir(s.repo.StoreDir())), "commits")
}

// CommitTurns makes commits in the user's git repository of what turns of a session changed, and of
// nothing else: lines of the user in the same files stay uncommitted, and what is staged stays
// staged. It writes no file of the work tree. Turns are numbered from 1; none means all.
//
// Hunks, lines, files and steps that an operation has taken back since a turn are in no commit.
//
// If a turn builds on lines that HEAD lacks, nothing is committed, and the error wraps ErrBuildsOn.
// If several commits would get one Message, nothing is committed, and the error wraps ErrOneMessage.
// A hook that fails ends the work before its commit. Commits made before it stay.
func (s *Sessions) CommitTurns(ctx context.Context, id string, turns []int, opt GitCommitOptions) (*GitCommits, error) {
	repo, err := usergit.Open(ctx, s.repo.Root(), opt.Env)
	if err != nil {
		return nil, err
	}
	if err := repo.Ready(ctx); err != nil {
		return nil, err
	}
	if !opt.DryRun {
		if err := repo.Recover(ctx, s.scratchDir()); err != nil {
			return nil, err
		}
	}
	c := &turnCommitter{Sessions: s, git: repo, opt: opt, out: &GitCommits{Session: id, DryRun: opt.DryRun, Commits: []GitCommit{}}}
	if err := c.load(ctx, id); err != nil {
		return nil, err
	}
	if err := c.choose(ctx, turns); err != nil {
		return nil, err
	}
	err = c.run(ctx)
	if err != nil && len(c.out.Commits) == 0 {
		return nil, err
	}
	return c.out, err
}
