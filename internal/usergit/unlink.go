package usergit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Unlink takes back a Link whose work tree never got its name. empty is as for Link, and the directory above it
// tells that Link has begun. A work tree at w.Place that is not on the branch is another one, and stays. The
// branch goes where it still is at its beginning and no work tree has it checked out.
func (r *Repo) Unlink(ctx context.Context, w *Linked, empty string) error {
	dirs, err := r.unfinishedDirs(ctx, w, empty)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Dir(empty)); errors.Is(err, fs.ErrNotExist) && len(dirs) == 0 {
		return nil // a branch of this name is not that of the Link
	}
	err = os.MkdirAll(filepath.Dir(empty), 0o700) // so that a second Unlink completes this one
	if err == nil {
		err = r.dropDirs(dirs)
	}
	if err != nil {
		return err
	}
	tip, err := r.tip(ctx, branches+w.Branch)
	if err != nil || tip != w.Commit {
		return err
	}
	list, err := r.output(ctx, call{args: []string{"worktree", "list", "--porcelain"}})
	if err != nil || strings.Contains(string(list), "\nbranch "+branches+w.Branch+"\n") {
		return err
	}
	return r.deleteBranch(ctx, w.Branch)
}

// unfinishedDirs returns the directories in the repository that a Link has made.
func (r *Repo) unfinishedDirs(ctx context.Context, w *Linked, empty string) ([]string, error) {
	dirs, err := r.linkedDirs(empty)
	if err != nil {
		return nil, err
	}
	named, err := r.linkedDirs(w.Place)
	for _, dir := range named {
		if r.isOn(ctx, dir, w.Branch) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, err
}

// isOn reports whether the HEAD in a work tree's directory names a branch, or is gone: dropDir removes it first.
func (r *Repo) isOn(ctx context.Context, dir, branch string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	head, err := r.output(ctx, call{args: []string{"symbolic-ref", "-q", "HEAD"}, env: []string{"GIT_DIR=" + dir}})
	return err == nil && strings.TrimSpace(string(head)) == branches+branch
}

// dropDirs removes what the repository has of some work trees, as git worktree prune does.
func (r *Repo) dropDirs(dirs []string) (err error) {
	for _, dir := range dirs {
		err = errors.Join(err, dropDir(dir))
	}
	if len(dirs) > 0 && err == nil {
		_ = os.Remove(filepath.Join(r.common, "worktrees")) // as git does with an empty one
	}
	return err
}

// dropDir removes the file that names the work tree last: a second removal finds the directory by it.
func dropDir(dir string) error {
	list, err := os.ReadDir(dir)
	for _, entry := range list {
		if entry.Name() != "gitdir" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// tip returns what a ref names, "" for no ref.
func (r *Repo) tip(ctx context.Context, ref string) (string, error) {
	out, err := r.output(ctx, call{args: []string{"for-each-ref", "--format=%(refname) %(objectname)", ref}})
	for line := range strings.Lines(string(out)) { // the refs below it, too
		if id, ok := strings.CutPrefix(line, ref+" "); ok {
			return strings.TrimSpace(id), err
		}
	}
	return "", err
}

// deleteBranch deletes a branch that no work tree has checked out.
func (r *Repo) deleteBranch(ctx context.Context, branch string) error {
	_, err := r.output(ctx, call{args: []string{"branch", "-q", "-D", "--", branch}})
	return err
}

// LinkedState says what a removal of a linked work tree would lose, or leaves.
type LinkedState struct {
	Own      int    // commits of its branch that no other ref leads to
	Detached int    // commits of its HEAD that no ref leads to
	Locked   bool   // by git worktree lock
	Under    string // what git is in the middle of there, "" for nothing

	Staged   []string // paths whose contents in its index are neither in the file nor in HEAD
	IndexErr error    // why that cannot be told
}

// Linked reads the state of a linked work tree, whose directory may be gone.
func (r *Repo) Linked(ctx context.Context, w *Linked) (s LinkedState, err error) {
	tip, err := r.tip(ctx, branches+w.Branch)
	if err == nil && tip != "" {
		s.Own, err = r.ownCommits(ctx, tip, w)
	}
	if err != nil {
		return s, err
	}
	dirs, err := r.linkedDirs(w.Place)
	for _, dir := range dirs {
		if _, err := os.Lstat(filepath.Join(dir, "locked")); err == nil {
			s.Locked = true
		}
		for _, p := range git.InProgress {
			if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(p.File))); err == nil && s.Under == "" {
				s.Under = endings[p.File].what
			}
		}
		n, err := r.detached(ctx, dir)
		if err != nil {
			return s, err
		}
		s.Detached += n
		staged, err := r.stagedOnly(ctx, w.Place, dir)
		if err != nil {
			s.IndexErr = err
		}
		s.Staged = append(s.Staged, staged...)
	}
	return s, errors.Join(err, ctx.Err())
}

// detached counts the commits of a detached HEAD that no ref leads to.
func (r *Repo) detached(ctx context.Context, gitDir string) (int, error) {
	at := []string{"GIT_DIR=" + gitDir}
	if _, err := r.output(ctx, call{args: []string{"symbolic-ref", "-q", "HEAD"}, env: at}); err == nil {
		return 0, nil
	}
	id, err := r.output(ctx, call{args: []string{"rev-parse", "-q", "--verify", "HEAD^{commit}"}, env: at})
	if err != nil {
		return 0, ctx.Err() // HEAD names nothing
	}
	return r.count(ctx, strings.TrimSpace(string(id)), "--not", "--glob=refs/*")
}

func (r *Repo) ownCommits(ctx context.Context, tip string, w *Linked) (int, error) {
	return r.count(ctx, tip, "--not", "--exclude="+branches+w.Branch, "--glob=refs/*")
}

// OwnText says how many commits a branch has of its own.
func OwnText(n int) string { return wording.Count(n, "commit") + " of its own" }

func (r *Repo) count(ctx context.Context, revisions ...string) (int, error) {
	out, err := r.output(ctx, call{args: append([]string{"rev-list", "--count", "--ignore-missing"}, revisions...)})
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// RemoveLinked removes what the repository has of a linked work tree whose directory is gone, and its branch,
// unless that has commits of its own or another work tree has it. kept says why the branch stays, "" where it
// is gone.
func (r *Repo) RemoveLinked(ctx context.Context, w *Linked) (kept string, err error) {
	dirs, err := r.linkedDirs(w.Place)
	if err == nil {
		err = r.dropDirs(dirs)
	}
	if err != nil {
		return "", err
	}
	tip, err := r.tip(ctx, branches+w.Branch)
	if err != nil || tip == "" {
		return "", err
	}
	n, err := r.ownCommits(ctx, tip, w)
	if err != nil {
		return "", err
	}
	if n > 0 {
		return OwnText(n), nil
	}
	if err := r.deleteBranch(ctx, w.Branch); err != nil {
		return err.Error(), nil
	}
	return "", nil
}
