package copies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/usergit"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// ForkOptions controls a fork.
type ForkOptions struct {
	CheckoutOptions

	Session string // whose newest state the fork begins with; "" = the present state of the root
	State   string // with Session: the checkpoint to begin with, such as one of a sub-agent; "" = the newest of Session alone

	// GitWorktree makes the fork a linked work tree of the user's repository, whose top is the root: on
	// the new branch Branch, "" = cairn/ and the name of the directory. Env is the environment of git,
	// nil = that of Options.
	GitWorktree bool
	Branch      string
	Env         []string
}

// ForkResult says what a fork made.
type ForkResult struct {
	CheckoutResult

	Root    state.Path `json:"root" doc:"Of which the new directory is a fork."`
	Store   state.Path `json:"store" doc:"Of the new directory."`
	Session string     `json:"sessionID,omitempty" doc:"Whose state the fork began with."`

	PacksLinked Amount   `json:"packsLinked,omitzero" doc:"Packs that both stores have, in one place on the disk."`
	PacksCopied Amount   `json:"packsCopied,omitzero"`
	NotForked   []string `json:"notForked,omitempty" doc:"Sessions of several directories. They stay where they are."`

	AgentFiles state.Paths `json:"agentFiles,omitempty" doc:"What cairn setup has made for agents and no checkpoint holds. The fork has it."`

	Branch     string `json:"branch,omitempty" doc:"Of a linked work tree of git: its new branch."`
	WithoutGit bool   `json:"withoutGit,omitempty" doc:"The root is in a git repository, and the fork has no .git."`
}

// MarshalJSON implements json.Marshaler: lists are never null.
func (r ForkResult) MarshalJSON() ([]byte, error) {
	type copied CheckoutResult
	type plain struct {
		copied
		Root        state.Path `json:"root"`
		Store       state.Path `json:"store"`
		Session     string     `json:"sessionID,omitempty"`
		PacksLinked Amount     `json:"packsLinked,omitzero"`
		PacksCopied Amount     `json:"packsCopied,omitzero"`
		NotForked   []string   `json:"notForked,omitempty"`

		AgentFiles state.Paths `json:"agentFiles,omitempty"`
		Branch     string      `json:"branch,omitempty"`
		WithoutGit bool        `json:"withoutGit,omitempty"`
	}
	c := copied(r.CheckoutResult)
	c.LeftOut, c.Conflicts = append([]state.PathReason{}, r.LeftOut...), append([]state.PathReason{}, r.Conflicts...)
	return json.Marshal(plain{c, r.Root, r.Store, r.Session, r.PacksLinked, r.PacksCopied, r.NotForked, r.AgentFiles, r.Branch, r.WithoutGit})
}

// fork is one fork.
type fork struct {
	*Copier
	opt ForkOptions
	at  string // the new directory

	db      *odb.DB // of the new directory, locked
	unlock  func() error
	start   *history.Checkpoint // with whose state the fork begins
	present *history.Checkpoint
	link    *linking // nil = no linked work tree
	res     *ForkResult
}

// Fork makes a directory with the present state of the root, or with the newest state of a session, and
// a store for it with the history of this one. cairn.Repo.Fork states the contract.
//
// The order lets a process die anywhere. The store comes first, with a mark in it
// ([odb.PrivateForking]); then the files; the directory gets its name last.
func (r *Copier) Fork(ctx context.Context, dir string, opt ForkOptions) (*ForkResult, error) {
	if err := r.Enabled(); err != nil {
		return nil, err
	}
	f := &fork{Copier: r, opt: opt, res: &ForkResult{Root: state.Path(r.Root), Session: opt.Session}}
	var err error
	if f.at, err = r.placeOf(ctx, dir); err != nil {
		return nil, err
	}
	f.res.Store = state.Path(state.StorePath(r.Opt.DataDir, f.at))
	f.res.WithoutGit = !opt.GitWorktree && r.Repository() != nil
	if err := f.begin(ctx); err != nil {
		return nil, err
	}
	if opt.DryRun {
		return f.plan(ctx)
	}
	if err := f.openStore(ctx); err != nil {
		return nil, err
	}
	c, err := f.carryOut(ctx)
	if err = errors.Join(err, f.close(ctx, err)); err != nil {
		return nil, err
	}
	f.warm(ctx, c)
	return f.res, nil
}

// begin finds the state of the fork. A dry run of a fork of the present state captures it.
func (f *fork) begin(ctx context.Context) error {
	if f.opt.Session != "" {
		tip, err := f.LineTip(f.opt.Session)
		if err != nil {
			return fmt.Errorf("fork session %q: %w", f.opt.Session, err)
		}
		if l := lineOf(tip); l.several() {
			return fmt.Errorf("%w: session %q works in several directories, and a fork is of one", ErrPlace, f.opt.Session)
		}
		f.start = tip.Checkpoint
		if f.opt.State != "" {
			if f.start, err = f.Lookup(ctx, f.opt.State); err != nil {
				return fmt.Errorf("fork session %q: %w", f.opt.Session, err)
			}
		}
	}
	if !f.opt.DryRun || f.start != nil {
		return nil
	}
	res, err := f.Track(ctx, capture.TrackOptions{})
	if err != nil {
		return err
	}
	f.present, err = f.Lookup(ctx, res.Checkpoint)
	return err
}

// plan fills the result of a dry run.
func (f *fork) plan(ctx context.Context) (*ForkResult, error) {
	if err := f.checkStore(ctx); err != nil {
		return nil, err
	}
	if f.start == nil {
		f.start = f.present
	}
	if err := f.findCommit(ctx); err != nil {
		return nil, err
	}
	c, err := f.prepareFork(ctx)
	if err == nil {
		err = c.count()
	}
	if err != nil {
		return nil, err
	}
	f.res.CheckoutResult = *c.res
	return f.res, nil
}

// prepareFork lists what the directory will hold: with the set-up of agents that captures leave out.
func (f *fork) prepareFork(ctx context.Context) (*checkout, error) {
	c, err := f.prepare(ctx, f.start, f.at, f.opt.CheckoutOptions)
	if err != nil {
		return nil, err
	}
	if f.Opt.AgentFiles != nil {
		c.listCarried(f.Opt.AgentFiles(f.Root))
	}
	f.res.AgentFiles = c.carry
	c.listSkipped()
	return c, nil
}

// carryOut fills the store and makes the directory.
func (f *fork) carryOut(ctx context.Context) (*checkout, error) {
	if err := f.checkGit(ctx); err != nil {
		return nil, err
	}
	err := f.Capturing(ctx, func(l *history.Locked) error {
		t, err := f.TrackHeld(ctx, l, capture.TrackOptions{})
		if err != nil {
			return err
		}
		if f.present, err = f.Lookup(ctx, t.Checkpoint); err != nil {
			return err
		}
		if f.start == nil {
			f.start = f.present
		}
		if err := f.findCommit(ctx); err != nil {
			return err
		}
		return f.fillStore(ctx, l)
	})
	if err != nil {
		return nil, err
	}
	c, err := f.prepareFork(ctx)
	if err != nil {
		return nil, err
	}
	c.entries = make(map[string]index.Entry)
	c.filled = func(ctx context.Context, tree string) error {
		return errors.Join(f.linkTree(ctx, tree), f.noteLacking(c))
	}
	if err := c.make(ctx); err != nil {
		return nil, err
	}
	f.res.CheckoutResult = *c.res
	return c, nil
}

// close ends the work on the new store. After a failure the store goes, unless the directory has its
// name by now.
func (f *fork) close(ctx context.Context, failed error) error {
	if failed == nil || !errors.Is(failed, apply.ErrNotNew) && errors.Is(apply.CheckNew(f.at), apply.ErrNotNew) {
		err := f.db.DropPrivate(odb.PrivateForking)
		if err != nil {
			f.Log.Warn("mark of a fork left behind", "error", err)
		}
		return errors.Join(f.unlock(), f.db.Close())
	}
	var err error
	if !errors.Is(failed, usergit.ErrBranch) { // the branch is not of this fork
		err = f.unlink(context.WithoutCancel(ctx), f.db)
	}
	if err != nil { // the next fork to this directory finds by the store what to take back
		return errors.Join(err, f.unlock(), f.db.Close())
	}
	err = f.db.Remove(f.unlock)
	return errors.Join(err, f.db.Close(), f.Exclusive(context.WithoutCancel(ctx), func(*history.Locked) error {
		return f.DB.DropRef(f.ref())
	}))
}

// ref is the ref in the first store that keeps the beginning of the fork.
func (f *fork) ref() string { return history.RefForks + state.ProjectID(f.at) }

// lineDigest is what a fork needs of the record of a session's line.
type lineDigest struct {
	Now struct {
		ID      string      `json:"id"`
		Further state.Paths `json:"further"`
	} `json:"now"`
}

func lineOf(tip *history.LineEvent) lineDigest {
	var d lineDigest
	if json.Unmarshal(tip.Record, &d) != nil {
		return lineDigest{}
	}
	return d
}

// several reports whether a session works in several directories. In a fork it would go back in those of
// the first one.
func (d lineDigest) several() bool { return len(d.Now.Further) > 0 }

// operation describes the way from the present state of the root to that of a session, so that an undo
// in the fork goes to the present state. after is the checkpoint at its end.
func (f *fork) operation(ctx context.Context, batch *odb.Batch) (op, after object.ID, err error) {
	from, err := history.StateOf(f.present)
	if err != nil {
		return op, after, err
	}
	to, err := history.StateOf(f.start)
	if err != nil {
		return op, after, err
	}
	after, err = f.AddState(batch, to, f.present, history.StateLabel{Message: "fork of session " + f.opt.Session, Author: history.Identity.Name})
	if err != nil {
		return op, after, err
	}
	changes, err := f.Changes(ctx, from, to, nil)
	if err != nil {
		return op, after, err
	}
	rec := history.OperationRecord{Kind: "restore", Target: f.start.ID, Before: f.present.ID, After: after.String()}
	for i := range changes {
		rec.Paths = append(rec.Paths, changes[i].Path)
		if changes[i].Status == history.Added {
			rec.Created = append(rec.Created, changes[i].Path)
		}
	}
	slices.Sort(rec.Paths)
	slices.Sort(rec.Created)
	op, err = f.AddOperation(batch, to, rec)
	return op, after, err
}
