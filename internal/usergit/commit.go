package usergit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Wanted is a commit to be made: the entries by which its tree differs from that of HEAD, those that
// the user's index gets, and the message.
type Wanted struct {
	Entries, Staged map[string]Entry
	Message         string
}

// ErrHeadMoved: another process made a commit meanwhile.
var ErrHeadMoved = errors.New("HEAD has moved meanwhile")

// Commit makes a commit on top of a head. The user's index gets its entries first. So a process that
// dies midway leaves the changes staged, which loses nothing; in the other order the index would
// take the commit back. If git makes no commit, the index is put back.
func (s *Scratch) Commit(ctx context.Context, head Head, w Wanted) (commit, output string, err error) {
	r := s.repo
	before, err := os.ReadFile(r.index)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", err
	}
	if err := s.publish(ctx, &w); err != nil {
		return "", "", err
	}
	index := filepath.Join(s.dir, "commit-index")
	if err := s.prepare(ctx, index, before, head, w.Entries); err != nil {
		return "", "", err
	}
	if now := r.Head(ctx); now != head {
		return "", "", ErrHeadMoved
	}
	if err := r.update(ctx, nil, w.Staged, len(head.Commit)); err != nil {
		return "", "", err
	}
	staged, err := os.ReadFile(r.index)
	if err == nil {
		output, err = s.run(ctx, index, w.Message)
	}
	if err != nil {
		return "", output, errors.Join(err, r.putBack(before, staged))
	}
	commit = r.Head(ctx).Commit
	return commit, output, r.follow(ctx, head.Commit, commit, w.Entries)
}

// follow gives the user's index what hooks changed in a commit, at paths that are not staged.
func (r *Repo) follow(ctx context.Context, before, after string, entries map[string]Entry) error {
	wanted, err := r.Tree(ctx, before)
	if err != nil {
		return err
	}
	maps.Copy(wanted, entries)
	maps.DeleteFunc(wanted, func(_ string, e Entry) bool { return e == Entry{} })
	got, err := r.Tree(ctx, after)
	if err != nil || maps.Equal(wanted, got) {
		return err
	}
	index, err := r.Index(ctx)
	if err != nil {
		return err
	}
	changed := make(map[string]Entry)
	for _, list := range []map[string]Entry{wanted, got} {
		for path := range list {
			if wanted[path] != got[path] && index[path] == wanted[path] {
				changed[path] = got[path]
			}
		}
	}
	return r.update(ctx, nil, changed, len(after))
}

// prepare makes the index of the commit: that of HEAD with some entries. It begins with a copy of
// the user's, so that git need not read every file again.
func (s *Scratch) prepare(ctx context.Context, index string, copied []byte, head Head, changed map[string]Entry) error {
	if len(copied) > 0 {
		if err := os.WriteFile(index, copied, 0o600); err != nil {
			return err
		}
	}
	args := []string{"-c", "core.splitIndex=false", "read-tree", "--reset", head.Commit}
	if head.Commit == "" {
		args = []string{"-c", "core.splitIndex=false", "read-tree", "--empty"}
	}
	env := []string{indexFile + index}
	if _, err := s.repo.output(ctx, call{args: args, env: env}); err != nil {
		return err
	}
	return s.repo.update(ctx, env, changed, len(head.Commit))
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
	if err := cmd.Run(); err != nil {
		return said.String(), fmt.Errorf("git commit: %w: %s", err, strings.TrimSpace(said.String()))
	}
	return said.String(), nil
}

// idLength is the length of an object name of the usual repository.
const idLength = 40

// update sets entries of an index.
func (r *Repo) update(ctx context.Context, env []string, changed map[string]Entry, length int) error {
	if len(changed) == 0 {
		return nil
	}
	if length == 0 {
		length = idLength
		for _, e := range changed {
			length = max(length, len(e.ID))
		}
	}
	var gone, set strings.Builder
	for _, path := range slices.Sorted(maps.Keys(changed)) {
		if e := changed[path]; e == (Entry{}) {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", strings.Repeat("0", length), path)
		} else {
			fmt.Fprintf(&set, "%s %s\t%s\x00", e.Mode, e.ID, path)
		}
	}
	_, err := r.output(ctx, call{args: []string{"update-index", "-z", "--index-info"}, env: env, stdin: strings.NewReader(gone.String() + set.String())})
	return err
}

// putBack writes the user's index as it was, unless another process has changed it since. It holds
// the lock that git holds.
func (r *Repo) putBack(before, staged []byte) error {
	lock, err := os.OpenFile(r.index+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("put the index back: %w", err)
	}
	now, err := os.ReadFile(r.index)
	if err != nil || !bytes.Equal(now, staged) || bytes.Equal(before, staged) {
		return errors.Join(err, lock.Close(), os.Remove(lock.Name()))
	}
	if before == nil {
		return errors.Join(lock.Close(), os.Remove(r.index), os.Remove(lock.Name()))
	}
	_, err = lock.Write(before)
	if err = errors.Join(err, lock.Close()); err != nil {
		return errors.Join(err, os.Remove(lock.Name()))
	}
	return os.Rename(lock.Name(), r.index)
}
