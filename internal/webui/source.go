package webui

import (
	"cmp"
	"context"
	"io"
	"iter"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Project is one root with its history.
type Project struct {
	ID       string // as in addresses: letters and digits
	Root     string
	Repo     Repo
	Sessions Sessions

	Name   string // shown in the place of Root; "" = Root
	Notice string // how old the state is; "" = it is that of now
	Remote bool   // Repo has fetched what machines have pushed, and nothing else
}

// Place is what the page calls the project.
func (p *Project) Place() string { return cmp.Or(p.Name, p.Root) }

// Listed is a project as the list of projects shows it.
type Listed struct {
	ID   string
	Root string
	Last time.Time // of the newest checkpoint or step; zero = not known

	Name   string        // shown in the place of Root; "" = Root
	Stores []ListedStore // of a project on a remote: whose checkpoints it has
}

// Place is what the page calls the project.
func (l *Listed) Place() string { return cmp.Or(l.Name, l.Root) }

// ListedStore is the store of one machine, user and directory.
type ListedStore struct {
	Who, Root string
	Sessions  int
	Last      time.Time // of its newest session; zero = not known
}

// Repo has the methods of cairn.Repo that the page calls.
type Repo interface {
	Checkpoints(context.Context) iter.Seq2[*cairn.Checkpoint, error]
	Log(ctx context.Context, opt cairn.LogOptions) iter.Seq2[*cairn.Checkpoint, error]
	Operations(context.Context) iter.Seq2[*cairn.Operation, error]
	Lookup(ctx context.Context, spec string) (*cairn.Checkpoint, error)
	Changes(ctx context.Context, from, to string, paths ...string) ([]cairn.Change, error)
	CountLines(*cairn.Change, cairn.DiffOptions) (additions, deletions int, note string, err error)
	Renames(ctx context.Context, list []cairn.Change) ([]cairn.FileChange, error)
	FileDiffs(ctx context.Context, list []cairn.Change, opt cairn.DiffOptions) iter.Seq2[cairn.FileDiff, error]
	TestResults(ctx context.Context) ([]cairn.TestResult, error)
	List(ctx context.Context, spec, path string) iter.Seq2[cairn.TreeEntry, error]
	OpenFile(ctx context.Context, spec, path string) (int64, io.ReadCloser, error)

	Track(context.Context, cairn.TrackOptions) (*cairn.TrackResult, error)
	Restore(ctx context.Context, spec string, opt cairn.RestoreOptions) (*cairn.Result, error)
	Revert(ctx context.Context, in cairn.Range, opt cairn.RevertOptions) (*cairn.Result, error)
	Undo(context.Context, cairn.RevertOptions) (*cairn.Result, error)
	Redo(context.Context, cairn.RevertOptions) (*cairn.Result, error)
	Merge(ctx context.Context, from cairn.MergeSource, opt cairn.MergeOptions) (*cairn.Result, error)
	Checkout(ctx context.Context, spec, dir string, opt cairn.CheckoutOptions) (*cairn.CheckoutResult, error)
	Compare(ctx context.Context, from []cairn.MergeSource, opt cairn.CompareOptions) (*cairn.Comparison, error)

	Forks(ctx context.Context) ([]cairn.ForkInfo, error)

	GitMoved(ctx context.Context, from, to string) ([]string, error)
	GitProtection() cairn.GitProtection
	RestoreGit(ctx context.Context, spec string, opt cairn.GitRestoreOptions) (*cairn.GitResult, error)
}

// Sessions has the methods of session.Sessions that the page calls.
type Sessions interface {
	Get(ctx context.Context, id string) (*session.Session, error)
	ListAll(context.Context) ([]*session.Session, []session.Unread, error)
	Blame(ctx context.Context, path string, opt cairn.BlameOptions) (*session.Blame, error)
	History(ctx context.Context, id string) ([]session.Message, error)
	WorkOf(ctx context.Context, checkpoint string, known session.WorkCache) (*session.Work, error)
	OwnChangesOf(ctx context.Context, id string, steps []string) (*session.OwnChanges, error)
	RevertSteps(ctx context.Context, id string, steps []string, opt cairn.RevertOptions) (*cairn.Result, error)
	RevertedChanges(ctx context.Context, id string) (*session.OwnChanges, error)
	UnrevertSome(ctx context.Context, id string, opt cairn.RevertOptions) (*cairn.Result, error)
	Revert(ctx context.Context, id string, to session.Target, opt session.MoveOptions) (*session.Session, *cairn.Result, error)
	Unrevert(ctx context.Context, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error)
}
