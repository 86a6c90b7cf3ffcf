package copies

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/usergit"
)

// ErrWorktree: git allows no linked work tree here, or not now. Nothing was done.
var ErrWorktree = errors.New("no linked work tree of git")

// linking is a fork that becomes a linked work tree of the user's repository.
type linking struct {
	repo   *usergit.Repo
	work   usergit.Linked
	sha256 bool
	index  *git.Index // nil = that of the commit
}

// userGit opens the user's repository around the root. env is as in ForkOptions.
func (r *Copier) userGit(ctx context.Context, env []string) (*usergit.Repo, error) {
	if r.Opt.GitDir != "" {
		return nil, fmt.Errorf("%w: the repository %s is not one in the directory, so that no work tree of it can be linked", ErrWorktree, r.Opt.GitDir)
	}
	if env == nil {
		env = []string{"HOME=" + r.Opt.Home, "XDG_CONFIG_HOME=" + r.Opt.ConfigHome}
	}
	repo, err := usergit.Open(ctx, r.Root, env)
	if errors.Is(err, usergit.ErrNoRepository) {
		err = fmt.Errorf("%w: %w", ErrWorktree, err)
	}
	return repo, err
}

// checkGit refuses a fork that cannot be a linked work tree.
func (f *fork) checkGit(ctx context.Context) error {
	if !f.opt.GitWorktree {
		return nil
	}
	repo, err := f.userGit(ctx, f.opt.Env)
	if err != nil {
		return err
	}
	l := &linking{repo: repo, work: usergit.Linked{Place: f.at, Branch: f.opt.Branch}}
	if l.work.Branch == "" {
		l.work.Branch = branchName(filepath.Base(f.at))
	}
	if user := f.Repository(); user != nil {
		l.sha256 = user.SHA256
	}
	f.link = l
	err = taken(repo.CheckLinked(ctx, f.Root, &l.work))
	if errors.Is(err, usergit.ErrUnderWay) || errors.Is(err, usergit.ErrNoRepository) || errors.Is(err, usergit.ErrRegistered) {
		err = fmt.Errorf("%w: %w", ErrWorktree, err)
	}
	return err
}

// taken adds the next step to an error about a branch that cannot be made.
func taken(err error) error {
	kind := history.ErrExists
	switch {
	case errors.Is(err, usergit.ErrBranchName):
		kind = history.ErrName
	case !errors.Is(err, usergit.ErrBranch):
		return err
	}
	return fmt.Errorf("%w: %w; --git-worktree=BRANCH names another one", kind, err)
}

// findCommit decides where the branch begins and what the index holds: as the checkpoint records it, else as it
// is now.
func (f *fork) findCommit(ctx context.Context) error {
	if f.link == nil {
		return nil
	}
	record, err := f.GitRecords().At(ctx, f.start.ID)
	if err != nil {
		return err
	}
	if record != nil {
		if under := record.Under(); under != "" {
			return fmt.Errorf("%w: the checkpoint %s is from the middle of a %s", ErrWorktree, f.start.ID, under)
		}
		f.link.work.Commit = record.Commit()
	} else {
		head, err := f.link.repo.Head(ctx)
		if err != nil {
			return err
		}
		f.link.work.Commit = head.Commit
	}
	if f.link.work.Commit == "" {
		return fmt.Errorf("%w: no commit is there yet, and a linked work tree begins at one", ErrWorktree)
	}
	there, err := f.link.repo.HasAll(ctx, f.link.work.Commit+"\n")
	if err == nil && !there {
		err = fmt.Errorf("%w: the repository has lost commit %s of the checkpoint; cairn restore %s --git brings it back", ErrWorktree, f.link.work.Commit, f.start.ID)
	}
	if err != nil {
		return err
	}
	return f.findIndex(ctx, record)
}

// findIndex reads the recorded index. The present one takes its place for the present state, and none for an
// earlier state whose objects are gone.
func (f *fork) findIndex(ctx context.Context, record *gitstate.Record) (err error) {
	l, present := f.link, f.present != nil && f.start.ID == f.present.ID
	switch {
	case record != nil && record.IndexTree != "":
		l.index, err = l.repo.TreeIndex(ctx, record.IndexTree, l.sha256)
	case record != nil && record.HasIndex():
		l.index, err = git.ParseIndex(record.Files["index"], l.sha256, func(name string) []byte { return record.Files[name] })
	case present:
		l.index, err = l.repo.ReadIndex(l.sha256)
	}
	if err != nil || l.index == nil {
		return err
	}
	if err := l.repo.CheckModules(l.index); err != nil {
		return fmt.Errorf("%w: %w", ErrWorktree, err)
	}
	if present {
		return nil
	}
	var ids strings.Builder
	for e, id := range l.index.WithIDs() {
		if !e.IntentToAdd {
			ids.WriteString(hex.EncodeToString(id) + "\n")
		}
	}
	there, err := l.repo.HasAll(ctx, ids.String())
	if err == nil && !there {
		l.index = nil
	}
	return err
}

// linkTree makes the finished files the work tree of the new branch.
func (f *fork) linkTree(ctx context.Context, tree string) error {
	if f.link == nil {
		return nil
	}
	empty, err := f.emptyPlace()
	if err == nil {
		err = errors.Join(os.RemoveAll(filepath.Dir(empty)), os.MkdirAll(filepath.Dir(empty), 0o700))
	}
	if err != nil {
		return err
	}
	if err := f.link.repo.Link(ctx, &f.link.work, tree, empty, f.link.index, f.link.sha256); err != nil {
		if errors.Is(err, usergit.ErrBranch) { // the branch is not of this fork
			err = errors.Join(err, clearPlace(empty))
		}
		return taken(err)
	}
	f.res.Branch = f.link.work.Branch
	return clearPlace(empty)
}

// emptyPlace is where git makes the work tree whose place the fork takes, in a directory of its own. The data
// directory belongs to the user alone.
func (f *fork) emptyPlace() (string, error) {
	dir, err := realpath.Of(f.Opt.DataDir)
	return filepath.Join(dir, "linking-"+state.ProjectID(f.at), filepath.Base(f.at)), err
}

func clearPlace(empty string) error { return os.RemoveAll(filepath.Dir(empty)) }

// unlink takes back what an unfinished fork has made in the user's repository.
func (f *fork) unlink(ctx context.Context, db *odb.DB) error {
	rec, err := history.ReadForkRecord(db.Dir())
	if err != nil || rec == nil || rec.Git == nil {
		return err
	}
	repo, err := f.linkedIn(ctx, f.opt.Env)
	if err != nil || repo == nil {
		return err
	}
	empty, err := f.emptyPlace()
	if err != nil {
		return err
	}
	return errors.Join(repo.Unlink(ctx, linkedOf(f.at, rec), empty), clearPlace(empty))
}

// linkedIn opens the repository of linked work trees, nil where it is gone. Its top was the root: one around the
// root is another repository. git fails for other reasons, too, such as a damaged configuration.
func (r *Copier) linkedIn(ctx context.Context, env []string) (*usergit.Repo, error) {
	if _, err := os.Lstat(filepath.Join(r.Root, ".git")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return r.userGit(ctx, env)
}

func linkedOf(at string, rec *history.ForkRecord) *usergit.Linked {
	return &usergit.Linked{Place: at, Branch: rec.Git.Branch, Commit: rec.Git.Commit}
}

// LookAtGit adds to a removal what git would lose: commits, and what it is in the middle of.
func (r *Copier) LookAtGit(ctx context.Context, env []string, res *RemovedFork) error {
	if res.Branch == "" {
		return nil
	}
	repo, work, err := r.linked(ctx, env, &res.ForkInfo)
	if err != nil || repo == nil {
		return err
	}
	s, err := repo.Linked(ctx, work)
	if err != nil {
		return err
	}
	lose := func(reason string) {
		res.Lost = append(res.Lost, state.PathReason{Path: ".git", Reason: reason})
	}
	switch s.Detached {
	case 0:
	case 1:
		lose("HEAD is detached, with 1 commit that is on no branch")
	default:
		lose(fmt.Sprintf("HEAD is detached, with %d commits that are on no branch", s.Detached))
	}
	if s.Under != "" {
		lose(s.Under + " is under way")
	}
	if s.Locked {
		lose("locked by git worktree lock")
	}
	if s.IndexErr != nil {
		lose(fmt.Sprintf("the staged contents cannot be read: %v", s.IndexErr))
	}
	for _, path := range s.Staged {
		res.Lost = append(res.Lost, state.PathReason{Path: state.Path(path), Reason: "the staged contents are neither in the file nor in a commit"})
	}
	if s.Own > 0 {
		res.BranchKept = usergit.OwnText(s.Own)
	}
	return nil
}

// linked returns the user's repository and the work tree of a fork, nil where the repository is gone.
func (r *Copier) linked(ctx context.Context, env []string, f *ForkInfo) (*usergit.Repo, *usergit.Linked, error) {
	rec, err := history.ReadForkRecord(string(f.Store))
	if err != nil {
		return nil, nil, err
	}
	if rec == nil || rec.Git == nil { // another process removes the fork, too
		return nil, nil, state.NotFound("the record of the fork %s (cairn forks lists what is there)", string(f.Root))
	}
	repo, err := r.linkedIn(ctx, env)
	return repo, linkedOf(string(f.Root), rec), err
}

// removeLinked removes the work tree of a fork from the user's repository.
func (r *Copier) removeLinked(ctx context.Context, env []string, res *RemovedFork) error {
	if res.Branch == "" {
		return nil
	}
	repo, work, err := r.linked(ctx, env, &res.ForkInfo)
	if err != nil || repo == nil {
		return err
	}
	res.BranchKept, err = repo.RemoveLinked(ctx, work)
	return err
}
