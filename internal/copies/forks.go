package copies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// ErrUnmerged: a fork has changes that are nowhere else. Nothing was done.
var ErrUnmerged = errors.New("the fork has what is nowhere else")

// ForkInfo is a fork of a root, with its changes since.
type ForkInfo struct {
	Root    state.Path `json:"root" doc:"The directory of the fork."`
	Store   state.Path `json:"store"`
	Session string     `json:"sessionID,omitempty" doc:"Whose state it began with."`
	When    time.Time  `json:"time" doc:"When it was made."`
	Missing bool       `json:"missing,omitempty" doc:"The directory is gone. Its store is there."`
	Branch  string     `json:"branch,omitempty" doc:"Of a linked work tree of git: the branch that was made with it."`

	Base       string `json:"base,omitempty" doc:"The checkpoint that it began with."`
	Checkpoint string `json:"checkpoint,omitempty" doc:"Its newest one, of the present state where the directory is there."`
	Changed    int    `json:"changed" doc:"Paths that differ from the base."`
	Unmerged   int    `json:"unmerged" doc:"Paths that a merge of the fork would change here, or could not merge."`
	Error      string `json:"error,omitempty" doc:"Why the fork could not be looked at."`

	Test *history.TestResult `json:"test,omitempty" doc:"The newest result of a test of its newest checkpoint."`
}

// Forks lists the forks that were made of this root, ordered by directory. A fork of a fork is not among
// them. Nothing but the records of the stores is read. Sealed ones are opened by Unseal, whose error is returned.
func (r *Copier) Forks() ([]ForkInfo, error) {
	stores, err := odb.List(filepath.Dir(state.StorePath(r.Opt.DataDir, r.Root)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", state.ErrStore, err)
	}
	for _, dir := range stores {
		if err := r.unsealFork(dir); err != nil {
			return nil, err
		}
	}
	return r.openForks(stores)
}

// unsealFork opens a store if it is sealed and that of a fork of this root: one that has a ref here.
func (r *Copier) unsealFork(dir string) error {
	if !odb.IsSealed(dir) || !history.IsFork(dir) {
		return nil
	}
	_, err := r.DB.Ref(history.RefForks + filepath.Base(dir))
	if errors.Is(err, odb.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = r.Unseal(dir)
	}
	return err
}

// openForks lists the forks among some stores. Those that are sealed are left out.
func (r *Copier) openForks(stores []string) ([]ForkInfo, error) {
	id, err := r.DB.Identity(false)
	if errors.Is(err, odb.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []ForkInfo
	for _, dir := range stores {
		f, err := history.ReadForkRecord(dir)
		if err != nil || f == nil || f.Store != id {
			continue // a store with a damaged record is no fork
		}
		root, err := odb.RecordedRoot(dir)
		if err != nil {
			continue
		}
		info, err := os.Stat(root)
		fork := ForkInfo{
			Root: state.Path(root), Store: state.Path(dir), Session: f.Session,
			When: time.Unix(0, f.At), Missing: err != nil || !info.IsDir(),
		}
		if f.Git != nil {
			fork.Branch = f.Git.Branch
		}
		list = append(list, fork)
	}
	slices.SortFunc(list, func(a, b ForkInfo) int { return strings.Compare(string(a.Root), string(b.Root)) })
	return list, nil
}

// FindFork returns the fork at a path. The error wraps ErrNotFound.
func (r *Copier) FindFork(dir string) (ForkInfo, error) {
	if dir == "" { // would be the current directory, which may be a fork
		return ForkInfo{}, state.NotFound("fork of %s: an empty path", r.Root)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ForkInfo{}, err
	}
	if real, err := realpath.Of(abs); err == nil {
		abs = real
	} else if parent, err := realpath.Of(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(parent, filepath.Base(abs))
	}
	store := state.StorePath(r.Opt.DataDir, abs)
	if err := r.unsealFork(store); err != nil {
		return ForkInfo{}, err
	}
	list, err := r.openForks([]string{store})
	if err != nil {
		return ForkInfo{}, err
	}
	for _, f := range list {
		if string(f.Root) == abs {
			return f, nil
		}
	}
	return ForkInfo{}, state.NotFound("fork %s of %s (cairn forks lists them)", abs, r.Root)
}

// Look fills in the states of a fork, and returns the newest and what changed up to it. other is its store.
// The present state of its directory is captured, unless that is gone.
func (f *ForkInfo) Look(ctx context.Context, other *capture.Capturer) (now *history.Checkpoint, changes []history.Change, err error) {
	start, err := other.DB.Ref(history.RefForked)
	if err != nil {
		return nil, nil, err
	}
	base, err := other.ReadCheckpoint(start)
	if err != nil {
		return nil, nil, err
	}
	spec := "@"
	if !f.Missing {
		t, err := other.Track(ctx, capture.TrackOptions{})
		if err != nil {
			return nil, nil, err
		}
		spec = t.Checkpoint
	}
	if now, err = other.Lookup(ctx, spec); err != nil {
		return nil, nil, err
	}
	from, err := history.StateOf(base)
	if err != nil {
		return nil, nil, err
	}
	to, err := history.StateOf(now)
	if err != nil {
		return nil, nil, err
	}
	changes, err = other.Changes(ctx, from, to, nil)
	f.Base, f.Checkpoint, f.Changed = base.ID, now.ID, len(changes)
	f.findTest(ctx, other)
	return now, changes, err
}

// findTest finds the newest result of a test of the newest checkpoint. Results that cannot be read are logged.
func (f *ForkInfo) findTest(ctx context.Context, other *capture.Capturer) {
	results, err := other.TestResults(ctx)
	if err != nil {
		other.Log.Warn("the results of tests of a fork are not read", "fork", f.Root, "error", err)
	}
	for i := range results {
		if results[i].Checkpoint == f.Checkpoint {
			f.Test = &results[i]
		}
	}
}

// RemovedFork describes a fork that was removed, or in a dry run would be.
type RemovedFork struct {
	ForkInfo

	Lost     []state.PathReason `json:"lost" doc:"Changes that were not merged. The saved checkpoint has them."`
	NotSaved Amount             `json:"notSaved,omitzero" doc:"Files that no checkpoint holds and that the root does not have as they are: they are gone."`
	Paths    state.Paths        `json:"notSavedPaths,omitempty" doc:"The first of these."`
	Saved    string             `json:"saved,omitempty" doc:"Checkpoint of the last state, in the store of this root."`
	DryRun   bool               `json:"dryRun,omitempty"`

	BranchKept string `json:"branchKept,omitempty" doc:"Why the branch of a linked work tree stays."`
}

// MarshalJSON implements json.Marshaler: lists are never null.
func (r RemovedFork) MarshalJSON() ([]byte, error) {
	type plain RemovedFork
	r.Lost = append([]state.PathReason{}, r.Lost...)
	return json.Marshal(plain(r))
}

// maxNotSaved is how many paths a RemovedFork names.
const maxNotSaved = 100

// ListUnsaved lists the files of a fork that would be gone: those that its newest capture does not hold,
// and that the root does not have in the same size and of the same time.
func (r *Copier) ListUnsaved(ctx context.Context, other *capture.Capturer, res *RemovedFork) error {
	return other.Exclusive(ctx, func(l *history.Locked) error {
		live := other.LastIndex(l)
		return filepath.WalkDir(other.Root, func(path string, d fs.DirEntry, err error) error {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil || path == other.Root {
				return err
			}
			rel := filepath.ToSlash(strings.TrimPrefix(path, other.Root+string(filepath.Separator)))
			return r.noteUnsaved(live, rel, d, res)
		})
	})
}

func (r *Copier) noteUnsaved(live *index.Index, rel string, d fs.DirEntry, res *RemovedFork) error {
	if rel == ".git" && res.Branch != "" && d.Type().IsRegular() {
		return nil // it names the work tree's directory in the repository
	}
	ofGit := !object.SafeName(d.Name())
	if d.IsDir() && !ofGit {
		return nil
	}
	if rec := live.Lookup(rel); rec != nil && rec.Skip() == index.Captured {
		return nil
	}
	info, err := d.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	there, err := os.Lstat(filepath.Join(r.Root, filepath.FromSlash(rel)))
	if err == nil && !ofGit && there.Mode() == info.Mode() && there.Size() == info.Size() && there.ModTime().Equal(info.ModTime()) {
		return nil
	}
	res.NotSaved.add(info.Size())
	if len(res.Paths) < maxNotSaved {
		res.Paths = append(res.Paths, rel)
	}
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// RemoveFork removes the directory and the store of a fork, and the ref here. The directory must be as at
// the checkpoint of res; else the error wraps ErrMoved. A killed process leaves what a second removal
// finishes: the directory goes first, then what git has of it, the store next. env is as in ForkOptions.
func (r *Copier) RemoveFork(ctx context.Context, env []string, other *capture.Capturer, res *RemovedFork) error {
	if !res.Missing {
		if err := removeDir(ctx, other, res); err != nil {
			return err
		}
	}
	if err := r.removeLinked(ctx, env, res); err != nil {
		return err
	}
	unlock, err := r.lock(ctx, other.DB)
	if err != nil {
		return err
	}
	if err := other.DB.Remove(unlock); err != nil {
		return fmt.Errorf("%w: %w", state.ErrStore, err)
	}
	return r.Exclusive(ctx, func(*history.Locked) error {
		return r.DB.DropRef(history.RefForks + state.ProjectID(other.Root))
	})
}

func removeDir(ctx context.Context, other *capture.Capturer, res *RemovedFork) error {
	var finish func() error
	err := other.Capturing(ctx, func(l *history.Locked) error {
		t, err := other.TrackHeld(ctx, l, capture.TrackOptions{})
		if err == nil && t.Checkpoint != res.Checkpoint {
			err = fmt.Errorf("%w: %s has changed meanwhile", state.ErrMoved, other.Root)
		}
		if err == nil {
			finish, err = apply.MoveAway(other.Root)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := finish(); err != nil {
		return fmt.Errorf("remove %s: %w", other.Root, err)
	}
	return nil
}
