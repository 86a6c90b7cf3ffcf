package usergit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// ErrBranch: a branch of this name cannot be made.
var ErrBranch = errors.New("no new branch")

// Linked describes a linked work tree on a branch that was made with it.
type Linked struct {
	Place  string // absolute path of the work tree
	Branch string // without refs/heads/
	Commit string // at which the branch begins
}

// CheckLinked refuses a repository of which no work tree can be linked at a commit, and a branch that cannot
// be made. root is the directory whose files the work tree will have.
func (r *Repo) CheckLinked(ctx context.Context, root, branch string) error {
	if r.Prefix != "" {
		return fmt.Errorf("%w is %s: its top is %s, and a linked work tree is of the whole repository", ErrNoRepository, root, r.Top)
	}
	if err := r.Ready(ctx); err != nil {
		return err
	}
	return r.checkBranch(ctx, branch)
}

func (r *Repo) checkBranch(ctx context.Context, branch string) error {
	out, err := r.output(ctx, call{args: []string{"check-ref-format", "--branch", branch}})
	if err != nil || string(out) != branch+"\n" {
		return fmt.Errorf("%w: git allows no branch called %q", ErrBranch, branch)
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
// The branch and the work tree's directory in the repository are there first. After a failure, and after the
// process was killed, Unlink takes back what is there. After ErrBranch nothing is.
func (r *Repo) Link(ctx context.Context, w *Linked, tree, empty string, index *git.Index, withSHA256 bool) error {
	if err := r.checkBranch(ctx, w.Branch); err != nil {
		return err
	}
	if _, err := r.output(ctx, call{args: []string{"worktree", "add", "-q", "--no-checkout", "-b", w.Branch, "--", empty, w.Commit}}); err != nil {
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
	return writeSynced(filepath.Join(gitDir, "gitdir"), filepath.ToSlash(back)+"\n")
}

// stage gives a work tree its index.
func (r *Repo) stage(ctx context.Context, gitDir, tree string, index *git.Index, withSHA256 bool) error {
	at := []string{"GIT_DIR=" + gitDir, "GIT_WORK_TREE=" + tree}
	if index == nil {
		if _, err := r.output(ctx, call{args: []string{"-C", tree, "read-tree", "HEAD"}, env: at}); err != nil {
			return err
		}
	} else if err := writeSynced(filepath.Join(gitDir, "index"), string(index.Encode(withSHA256))); err != nil {
		return err
	}
	// It fails where files differ from the index, which is no fault.
	_, err := r.output(ctx, call{args: []string{"-C", tree, "update-index", "-q", "--refresh"}, env: at})
	if ctx.Err() != nil {
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

// linkedDirs returns the directories in the repository of the work trees at some paths.
func (r *Repo) linkedDirs(places ...string) (dirs []string, err error) {
	within := filepath.Join(r.common, "worktrees")
	list, err := os.ReadDir(within)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range list {
		dir := filepath.Join(within, entry.Name())
		text, err := os.ReadFile(filepath.Join(dir, "gitdir"))
		if err != nil {
			continue // git prunes it
		}
		at := filepath.FromSlash(strings.TrimSuffix(string(text), "\n"))
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		for _, place := range places {
			if at == filepath.Join(place, ".git") {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs, err
}

// Unlink takes back a Link whose work tree never got its name. empty is as for Link. The branch goes where it
// still is at its beginning and no work tree has it checked out.
func (r *Repo) Unlink(ctx context.Context, w *Linked, empty string) error {
	if err := r.dropDirs(w.Place, empty); err != nil {
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

// dropDirs removes what the repository has of work trees at some paths, as git worktree prune does.
func (r *Repo) dropDirs(places ...string) error {
	dirs, err := r.linkedDirs(places...)
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
	out, err := r.output(ctx, call{args: []string{"for-each-ref", "--format=%(objectname)", ref}})
	return strings.TrimSpace(string(out)), err
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
		if s.Detached, err = r.detached(ctx, dir, w); err != nil {
			return s, err
		}
	}
	return s, err
}

// detached counts the commits of a detached HEAD that no ref leads to.
func (r *Repo) detached(ctx context.Context, gitDir string, w *Linked) (int, error) {
	at := []string{"GIT_DIR=" + gitDir}
	if _, err := r.output(ctx, call{args: []string{"symbolic-ref", "-q", "HEAD"}, env: at}); err == nil {
		return 0, nil
	}
	id, err := r.output(ctx, call{args: []string{"rev-parse", "-q", "--verify", "HEAD^{commit}"}, env: at})
	if err != nil {
		return 0, ctx.Err() // HEAD names nothing
	}
	return r.count(ctx, strings.TrimSpace(string(id)), "--not", w.Commit, "--glob=refs/*")
}

func (r *Repo) ownCommits(ctx context.Context, tip string, w *Linked) (int, error) {
	return r.count(ctx, tip, "--not", w.Commit, "--exclude="+branches+w.Branch, "--glob=refs/*")
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
	if err := r.dropDirs(w.Place); err != nil {
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
