package usergit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// ErrBranch: a branch of this name cannot be made, because of another branch.
var ErrBranch = errors.New("no new branch")

// ErrBranchName: git allows no branch of this name.
var ErrBranchName = errors.New("no branch")

// ErrRegistered: the repository has a work tree at this path, or had one and lists it still.
var ErrRegistered = errors.New("git lists a work tree there")

// Linked describes a linked work tree on a branch that was made with it.
type Linked struct {
	Place  string // absolute path of the work tree
	Branch string // without refs/heads/
	Commit string // at which the branch begins
}

// CheckLinked refuses a repository of which no work tree can be linked at a commit, a branch that cannot be
// made, and a place that the repository lists: git prunes one of two entries for one path. root is the
// directory whose files the work tree will have.
func (r *Repo) CheckLinked(ctx context.Context, root string, w *Linked) error {
	if r.Prefix != "" {
		return fmt.Errorf("%w is %s: its top is %s, and a linked work tree is of the whole repository", ErrNoRepository, root, r.Top)
	}
	if err := r.Ready(ctx); err != nil {
		return err
	}
	if err := r.checkBranch(ctx, w.Branch); err != nil {
		return err
	}
	dirs, err := r.linkedDirs(w.Place)
	if err == nil && len(dirs) > 0 {
		err = fmt.Errorf("%w: %s; git worktree prune removes the entry of one that is gone", ErrRegistered, w.Place)
	}
	return err
}

func (r *Repo) checkBranch(ctx context.Context, branch string) error {
	out, err := r.output(ctx, call{args: []string{"check-ref-format", "--branch", branch}})
	if err != nil || string(out) != branch+"\n" {
		return fmt.Errorf("%w: git allows none called %q", ErrBranchName, branch)
	}
	out, err = r.output(ctx, call{args: []string{"for-each-ref", "--format=%(refname)", branches}})
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(out)) {
		name = strings.TrimPrefix(name, branches)
		switch {
		case name == branch:
			return fmt.Errorf("%w: %s exists; git branch -d %s deletes it", ErrBranch, branch, branch)
		case strings.HasPrefix(name, branch+"/"), strings.HasPrefix(branch, name+"/"):
			return fmt.Errorf("%w: %s cannot be beside the branch %s", ErrBranch, branch, name)
		}
	}
	return nil
}

// CheckModules refuses an index with submodules that are checked out: a linked work tree has their files,
// and not their repositories.
func (r *Repo) CheckModules(x *git.Index) error {
	for e := range x.All() {
		if e.Mode != object.Gitlink {
			continue
		}
		if _, err := os.Lstat(filepath.Join(r.Top, filepath.FromSlash(e.Name), ".git")); err == nil {
			return fmt.Errorf("the submodule %q is checked out; git submodule deinit takes it out", e.Name)
		}
	}
	return nil
}

// ReadIndex returns the index, an empty one where there is no file.
func (r *Repo) ReadIndex(withSHA256 bool) (*git.Index, error) {
	x, err := git.ReadIndex(r.indexPath(), withSHA256)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return x, err
}

// TreeIndex returns the index that git read-tree makes of a tree.
func (r *Repo) TreeIndex(ctx context.Context, tree string, withSHA256 bool) (*git.Index, error) {
	list, err := r.output(ctx, call{args: []string{"ls-tree", "-r", "-z", "--full-tree", tree}})
	if err != nil {
		return nil, err
	}
	data, err := git.IndexOfTree(string(list), nil, withSHA256)
	if err != nil {
		return nil, err
	}
	return git.ParseIndex(data, withSHA256, nil)
}

// HasAll reports whether the repository has all of some objects.
func (r *Repo) HasAll(ctx context.Context, ids string) (bool, error) {
	out, err := r.output(ctx, call{args: []string{"cat-file", "--batch-check=%(objecttype)"}, stdin: strings.NewReader(ids)})
	return err == nil && !strings.Contains(string(out), " missing\n"), err
}

// Link adds a linked work tree on its new branch. The work tree itself is made elsewhere: tree is the directory
// that gets the name w.Place next. empty is a path at which nothing is, with a name like that of w.Place; the
// directory above it exists and is only used meanwhile. index is that of the work tree, nil for that of the
// commit.
//
// The branch is there first, then the work tree's directory in the repository. After a failure, and
// after the process was killed, Unlink takes the unfinished link back. After ErrBranch nothing is:
// another process has made the branch.
func (r *Repo) Link(ctx context.Context, w *Linked, tree, empty string, index *git.Index, withSHA256 bool) error {
	if err := r.makeBranch(ctx, w); err != nil {
		return err
	}
	if _, err := r.output(ctx, call{args: []string{"worktree", "add", "-q", "--no-checkout", "--", empty, w.Branch}}); err != nil {
		return err
	}
	link, err := os.ReadFile(filepath.Join(empty, ".git"))
	if err != nil {
		return err
	}
	at, _ := strings.CutPrefix(strings.TrimSuffix(string(link), "\n"), "gitdir: ")
	gitDir, relative := filepath.FromSlash(at), false
	if !filepath.IsAbs(gitDir) { // worktree.useRelativePaths
		gitDir, relative = filepath.Join(empty, gitDir), true
	}
	if err := r.stage(ctx, gitDir, tree, index, withSHA256); err != nil {
		return err
	}
	there, back := gitDir, filepath.Join(w.Place, ".git")
	if relative {
		if there, err = filepath.Rel(w.Place, gitDir); err == nil {
			back, err = filepath.Rel(gitDir, back)
		}
		if err != nil {
			return err
		}
	}
	if err := writeSynced(filepath.Join(tree, ".git"), "gitdir: "+filepath.ToSlash(there)+"\n"); err != nil {
		return err
	}
	file := filepath.Join(gitDir, "gitdir")
	if err := writeSynced(file+".new", filepath.ToSlash(back)+"\n"); err != nil {
		return err
	}
	return os.Rename(file+".new", file) // without a path in it, Unlink would not find the directory
}

// makeBranch makes the branch. Of several processes one succeeds, and the others get ErrBranch.
func (r *Repo) makeBranch(ctx context.Context, w *Linked) error {
	if err := r.checkBranch(ctx, w.Branch); err != nil {
		return err
	}
	_, err := r.output(ctx, call{args: []string{"branch", "-q", "--no-track", "--", w.Branch, w.Commit}})
	if err != nil && ctx.Err() == nil {
		if now := r.checkBranch(ctx, w.Branch); errors.Is(now, ErrBranch) {
			return now
		}
	}
	return err
}

// stage gives a work tree its index.
func (r *Repo) stage(ctx context.Context, gitDir, tree string, index *git.Index, withSHA256 bool) error {
	at := []string{"GIT_DIR=" + gitDir, "GIT_WORK_TREE=" + tree}
	inTree := func(args ...string) error {
		// A monitor would watch a directory that gets another name.
		_, err := r.output(ctx, call{args: append([]string{"-C", tree, "-c", "core.fsmonitor=false"}, args...), env: at})
		return err
	}
	if index == nil {
		if err := inTree("read-tree", "HEAD"); err != nil {
			return err
		}
	} else if err := writeSynced(filepath.Join(gitDir, "index"), string(index.Encode(withSHA256))); err != nil {
		return err
	}
	// It fails where files differ from the index, which is no fault.
	if err := inTree("update-index", "-q", "--refresh"); ctx.Err() != nil {
		return err
	}
	return nil
}

func writeSynced(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// linkedDirs returns the directories in the repository of the work trees at a path.
func (r *Repo) linkedDirs(place string) (dirs []string, err error) {
	within := filepath.Join(r.common, "worktrees")
	list, err := os.ReadDir(within)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range list {
		dir := filepath.Join(within, entry.Name())
		text, err := os.ReadFile(filepath.Join(dir, "gitdir"))
		if err != nil {
			continue // of no path: damaged, or a git that was killed has come no further
		}
		at := filepath.FromSlash(strings.TrimSuffix(string(text), "\n"))
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		if at == filepath.Join(place, ".git") {
			dirs = append(dirs, dir)
		}
	}
	return dirs, err
}
