package usergit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// ErrUnderWay: a commit would become part of something that git has begun.
var ErrUnderWay = errors.New("git is in the middle of something")

// Head is what HEAD names.
type Head struct {
	Commit  string // "" before the first commit
	Parents string // of the commit, with blanks between
	Tree    string // the empty one before the first commit
	Branch  string // "" = detached
}

const branches = "refs/heads/"

// Head reads what HEAD names.
func (r *Repo) Head(ctx context.Context) (Head, error) {
	out, err := r.output(ctx, call{args: []string{"rev-parse", "HEAD^{commit}", "HEAD^{tree}", "HEAD^@", "--symbolic-full-name", "HEAD"}})
	if err == nil {
		lines := strings.Fields(string(out))
		if len(lines) < 3 {
			return Head{}, fmt.Errorf("git rev-parse: cannot use %q", out)
		}
		last := len(lines) - 1
		branch, _ := strings.CutPrefix(lines[last], branches)
		if lines[last] == "HEAD" {
			branch = ""
		}
		return Head{lines[0], strings.Join(lines[2:last], " "), lines[1], branch}, nil
	}
	if _, named := r.output(ctx, call{args: []string{"rev-parse", "-q", "--verify", "HEAD"}}); named == nil {
		return Head{}, err // of a commit that cannot be read
	}
	return r.unborn(ctx)
}

// unborn is the Head of a branch without a commit.
func (r *Repo) unborn(ctx context.Context) (h Head, err error) {
	out, err := r.output(ctx, call{args: []string{"symbolic-ref", "-q", "HEAD"}})
	if err != nil {
		return h, err
	}
	h.Branch = strings.TrimPrefix(strings.TrimSpace(string(out)), branches)
	out, err = r.output(ctx, call{args: []string{"hash-object", "-t", "tree", "--stdin"}})
	h.Tree = strings.TrimSpace(string(out))
	return h, err
}

// Reached reports which of some commits are part of HEAD's history.
func (r *Repo) Reached(ctx context.Context, commits []string) (map[string]bool, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	list := strings.Join(commits, "\n") + "\n"
	out, err := r.output(ctx, call{args: []string{"cat-file", "--batch-check"}, stdin: strings.NewReader(list + "HEAD\n")})
	if err != nil {
		return nil, err
	}
	reached := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && f[1] == "commit" {
			reached[f[0]] = true
		}
	}
	if strings.HasSuffix(strings.TrimSpace(string(out)), "missing") || len(reached) == 0 { // HEAD has no commit
		return nil, nil
	}
	var ids strings.Builder
	for id := range reached {
		ids.WriteString(id + "\n")
	}
	out, err = r.output(ctx, call{args: []string{"rev-list", "--stdin"}, stdin: strings.NewReader(ids.String() + "^HEAD\n")})
	for id := range strings.Lines(string(out)) {
		delete(reached, strings.TrimSpace(id))
	}
	return reached, err
}

// endings say of the files of git.InProgress what git is in the middle of, and what ends it.
var endings = map[string]struct{ what, next string }{
	"rebase-merge":          {"a rebase", "git rebase --continue finishes it, git rebase --abort ends it"},
	"rebase-apply/applying": {"git am", "git am --continue finishes it, git am --abort ends it"},
	"rebase-apply":          {"a rebase", "git rebase --continue finishes it, git rebase --abort ends it"},
	"MERGE_HEAD":            {"a merge", "git commit finishes it, git merge --abort ends it"},
	"CHERRY_PICK_HEAD":      {"a cherry-pick", "git cherry-pick --continue finishes it, git cherry-pick --abort ends it"},
	"REVERT_HEAD":           {"a revert", "git revert --continue finishes it, git revert --abort ends it"},
	"sequencer":             {"a cherry-pick or revert of several commits", "git status tells how to finish or end it"},
	"BISECT_LOG":            {"a bisect", "git bisect reset ends it"},
}

// Ready refuses a repository in which a commit would become part of something else.
func (r *Repo) Ready(ctx context.Context) error {
	for _, p := range git.InProgress {
		there, err := r.has(ctx, p.File)
		if err != nil {
			return err
		}
		if there {
			return fmt.Errorf("%w: %s is under way: %s", ErrUnderWay, endings[p.File].what, endings[p.File].next)
		}
	}
	out, err := r.output(ctx, call{args: []string{"ls-files", "-u", "-z"}})
	if err == nil && len(out) > 0 {
		err = fmt.Errorf("%w: the index has unmerged paths: git status names them, git add marks them as resolved", ErrUnderWay)
	}
	return err
}

// has reports whether the git directory has a file. The reftable format keeps some of them as refs.
func (r *Repo) has(ctx context.Context, file string) (bool, error) {
	if _, err := os.Lstat(filepath.Join(r.GitDir, filepath.FromSlash(file))); err == nil {
		return true, nil
	}
	if !strings.HasSuffix(file, "_HEAD") {
		return false, nil
	}
	if _, err := os.Lstat(filepath.Join(r.common, "reftable")); err != nil {
		return false, nil
	}
	out, err := r.output(ctx, call{args: []string{"cat-file", "--batch-check"}, stdin: strings.NewReader(file + "\n")})
	return err == nil && !strings.HasSuffix(strings.TrimSpace(string(out)), "missing"), err
}
