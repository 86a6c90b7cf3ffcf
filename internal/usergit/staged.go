package usergit

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// stagedOnly lists the paths whose staged contents are neither those of the file nor those of HEAD, and that are
// not staged in the first work tree either. A path that git does not look at (update-index --assume-unchanged,
// --skip-worktree) counts as one whose file differs. A work tree whose directory is gone has none. gitDir is its
// directory in the repository.
func (r *Repo) stagedOnly(ctx context.Context, place, gitDir string) (paths []string, err error) {
	if _, err := os.Lstat(filepath.Join(place, ".git")); err != nil {
		return nil, nil
	}
	at := []string{"GIT_DIR=" + gitDir, "GIT_WORK_TREE=" + place, "GIT_OPTIONAL_LOCKS=0"}
	status := []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=no"}
	out, err := r.output(ctx, call{args: status, env: at})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	there, unseen, err := r.staged(ctx, at)
	if err != nil {
		return nil, err
	}
	here, _, err := r.staged(ctx, nil)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(string(out), "\x00") {
		if len(line) <= 3 {
			continue
		}
		path, staged := line[3:], strings.IndexByte("AMTU", line[0]) >= 0 || line[1] == 'U'
		if staged && (line[1] != ' ' || unseen[path]) && there[path] != here[path] {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// staged returns mode, id and stage of the entries of an index by path, and the paths that git does not look at.
func (r *Repo) staged(ctx context.Context, env []string) (entries map[string]string, unseen map[string]bool, err error) {
	out, err := r.output(ctx, call{args: []string{"ls-files", "--stage", "-v", "-z", "--full-name", ":/"}, env: env})
	entries, unseen = make(map[string]string), make(map[string]bool)
	for line := range strings.SplitSeq(string(out), "\x00") {
		tag, line, _ := strings.Cut(line, " ")
		if entry, path, ok := strings.Cut(line, "\t"); ok {
			entries[path] += entry + "\n" // one for each side of a conflict
			unseen[path] = tag == "S" || tag != strings.ToUpper(tag)
		}
	}
	return entries, unseen, err
}
