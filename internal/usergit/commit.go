package usergit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Base is the state on which a commit is planned.
type Base struct {
	Head  Head
	Index IndexFile
}

// Base reads HEAD and the index.
func (r *Repo) Base(ctx context.Context) (b Base, err error) {
	if b.Index, err = readIndex(r.indexPath()); err != nil {
		return b, err
	}
	b.Head, err = r.Head(ctx)
	return b, err
}

// Wanted is a commit to be made: the entries by which its tree differs from that of HEAD, those that
// the user's index gets, and the message.
type Wanted struct {
	Entries, Staged map[string]Entry
	Message         string
}

// Made is a commit that was made.
type Made struct {
	Commit, Output string
	Next           Base // for the next commit
	AsPlanned      bool // no hook has changed the commit
}

// Commit makes a commit. The user's index gets its entries first. So a process that dies midway
// leaves the changes staged, which loses nothing, until Recover puts the index back; in the other
// order the index would take the commit back. If git makes no commit, the index is put back. If the repository is no longer as in base,
// nothing is done, and the error wraps ErrMoved.
func (s *Scratch) Commit(ctx context.Context, base Base, w Wanted) (Made, error) {
	r := s.repo
	if err := s.publish(ctx, &w); err != nil {
		return Made{}, err
	}
	index := filepath.Join(s.dir, "commit-index")
	tree, err := s.prepare(ctx, index, &base, w.Entries)
	if err != nil {
		return Made{}, err
	}
	staged, err := s.staged(ctx, &base.Index, w.Staged)
	if err != nil {
		return Made{}, err
	}
	if err := s.noteIndex(&base); err != nil {
		return Made{}, err
	}
	if err := r.replaceIndex(&base.Index, &staged); err != nil {
		return Made{}, err
	}
	made, err := s.make(ctx, base.Head, tree, index, w.Message)
	if errors.Is(err, errUnclear) {
		return made, err
	}
	if err != nil {
		if back := s.unstaged(context.WithoutCancel(ctx), &base.Index, &staged); back != nil {
			err = errors.Join(err, fmt.Errorf("what was to be committed stays staged: %v", back))
		}
		return made, err
	}
	made.Next.Index, made.AsPlanned = staged, made.Next.Head.Tree == tree
	if !made.AsPlanned {
		err = s.follow(context.WithoutCancel(ctx), tree, made.Next.Head.Tree)
	}
	return made, err
}

// unstaged puts the user's index back, where it was changed.
func (s *Scratch) unstaged(ctx context.Context, before, staged *IndexFile) error {
	if before.same(staged) {
		return nil
	}
	return s.repo.unstage(ctx, s.dir)
}

// prepare makes the index of the commit and its tree: that of HEAD with some entries. It begins with
// a copy of the user's index, so that git need not read every file again.
func (s *Scratch) prepare(ctx context.Context, index string, base *Base, changed map[string]Entry) (tree string, err error) {
	if err := errors.Join(os.RemoveAll(index), base.Index.copyTo(index)); err != nil {
		return "", err
	}
	env := s.env(indexFile + index)
	args := []string{"-c", "core.splitIndex=false", "read-tree", "--reset", base.Head.Commit}
	if base.Head.Commit == "" {
		args = []string{"-c", "core.splitIndex=false", "read-tree", "--empty"}
	}
	if _, err := s.repo.output(ctx, call{args: args, env: env}); err != nil {
		return "", err
	}
	if err := s.setEntries(ctx, index, changed); err != nil {
		return "", err
	}
	out, err := s.repo.output(ctx, call{args: []string{"write-tree"}, env: env})
	return strings.TrimSpace(string(out)), err
}

// errUnclear: git failed, and HEAD has moved.
var errUnclear = errors.New("HEAD has moved meanwhile, and what was to be committed stays staged: git status tells more")

// make lets git make a commit of an index that has the tree, and finds out whether it did.
func (s *Scratch) make(ctx context.Context, before Head, tree, index, message string) (Made, error) {
	if now, err := s.repo.Head(ctx); err != nil || now != before {
		return Made{}, errors.Join(err, moved(now != before))
	}
	if err := s.writeEmpty(ctx, tree); err != nil {
		return Made{}, err
	}
	output, failed := s.run(ctx, index, message)
	ctx = context.WithoutCancel(ctx) // the commit may be made although git was told to end
	now, err := s.repo.Head(ctx)
	made := Made{Commit: now.Commit, Output: output, Next: Base{Head: now}}
	switch {
	case err != nil:
		return Made{Output: output}, errors.Join(failed, errUnclear, err)
	case now.Commit == before.Commit && failed == nil:
		return Made{Output: output}, errors.New("git commit made no commit")
	case now.Commit == before.Commit:
		return Made{Output: output}, errors.Join(failed, s.repo.leftLocks(before))
	case now.Tree == tree && now.Parents == before.Commit:
		return made, nil // also where a hook that runs after the commit was killed
	case failed != nil:
		return Made{Output: output}, errors.Join(failed, errUnclear)
	}
	if err := s.checkParent(ctx, before, now, tree); err != nil {
		return Made{Output: output}, err
	}
	return made, nil
}

// leftLocks names the locks that a git leaves behind that was killed.
func (r *Repo) leftLocks(h Head) (err error) {
	for _, name := range []string{filepath.Join(r.GitDir, "HEAD"), r.indexPath(), filepath.Join(r.common, "refs", "heads", filepath.FromSlash(h.Branch))} {
		if _, missing := os.Lstat(name + ".lock"); missing == nil {
			err = errors.Join(err, fmt.Errorf("%s.lock exists: remove it if no git runs", name))
		}
	}
	return err
}

func moved(yes bool) error {
	if yes {
		return fmt.Errorf("%w: HEAD has moved", ErrMoved)
	}
	return nil
}

// checkParent takes a commit back that undoes another one: that other one was made after HEAD was
// read, and before git read it.
func (s *Scratch) checkParent(ctx context.Context, before, now Head, tree string) error {
	if now.Tree != tree || now.Parents == before.Commit || strings.Contains(now.Parents, " ") {
		return nil // hooks changed it
	}
	out, err := s.repo.output(ctx, call{args: []string{"rev-parse", now.Parents + "^{tree}"}})
	if err != nil || strings.TrimSpace(string(out)) == tree {
		return err // a hook made another commit, which changes nothing
	}
	_, err = s.repo.output(ctx, call{args: []string{"update-ref", "-m", "cairn commit: another commit came first", "HEAD", now.Parents, now.Commit}})
	return errors.Join(moved(true), err)
}

// run lets git make the commit, with the hooks of the user.
func (s *Scratch) run(ctx context.Context, index, message string) (string, error) {
	file := filepath.Join(s.dir, "message")
	if err := os.WriteFile(file, []byte(message), 0o600); err != nil {
		return "", err
	}
	cmd := s.repo.command(ctx, call{args: []string{"commit", "-q", "--cleanup=whitespace", "-F", file}, env: []string{indexFile + index}})
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if s.Output != nil {
		cmd.Stdout, cmd.Stderr = s.Output, s.Output
	}
	if err := cmd.Run(); err != nil {
		return said.String(), &failure{"commit", strings.TrimSpace(said.String()), err, ctx.Err()}
	}
	return said.String(), nil
}

// follow gives the user's index what hooks changed in a commit, at paths where the index has what
// was planned.
func (s *Scratch) follow(ctx context.Context, planned, made string) error {
	byHooks, err := s.repo.moved(ctx, s.env(), "diff-tree", planned, made)
	if err != nil {
		return err
	}
	index, err := readIndex(s.repo.indexPath())
	if err != nil {
		return err
	}
	others, err := s.repo.moved(ctx, s.env(), "diff-index", "--cached", planned)
	if err != nil {
		return err
	}
	changed := make(map[string]Entry)
	for path, m := range byHooks {
		if _, differs := others[path]; !differs {
			changed[path] = m.To
		}
	}
	next, err := s.staged(ctx, &index, changed)
	if err != nil {
		return err
	}
	return s.repo.replaceIndex(&index, &next)
}
