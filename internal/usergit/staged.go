package usergit

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// stagedOnly lists the paths whose staged contents are neither those of the file nor those of HEAD, and that are
// not staged in the first work tree either. A work tree whose directory is gone has none. gitDir is its directory in the repository.
func (r *Repo) stagedOnly(ctx context.Context, place, gitDir string) (paths []string, err error) {
	if _, err := os.Lstat(filepath.Join(place, ".git")); err != nil {
		return nil, nil
	}
	at := []string{"GIT_DIR=" + gitDir, "GIT_WORK_TREE=" + place, "GIT_OPTIONAL_LOCKS=0"}
	status := []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=no"}
	out, err := r.output(ctx, call{args: status, env: at})
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(string(out), "\x00") {
		if len(line) > 3 && strings.IndexByte("AMT", line[0]) >= 0 && line[1] != ' ' {
			paths = append(paths, line[3:])
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	there, err := r.staged(ctx, at)
	if err != nil {
		return nil, err
	}
	here, err := r.staged(ctx, nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(paths, func(path string) bool { return there[path] == here[path] }), nil
}

// staged returns mode, id and stage of the entries of an index by path.
func (r *Repo) staged(ctx context.Context, env []string) (map[string]string, error) {
	out, err := r.output(ctx, call{args: []string{"ls-files", "--stage", "-z", "--full-name", ":/"}, env: env})
	entries := make(map[string]string)
	for line := range strings.SplitSeq(string(out), "\x00") {
		if entry, path, ok := strings.Cut(line, "\t"); ok {
			entries[path] = entry
		}
	}
	return entries, err
}
