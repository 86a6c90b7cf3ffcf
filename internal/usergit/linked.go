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
// The branch is there first, then the work tree's directory in the repository. After a failure, and after the
// process was killed, Unlink takes back what is there. After ErrBranch nothing is: another process has made the
// branch.
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
