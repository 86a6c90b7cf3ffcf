package usergit

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// stagedOnly lists the paths whose staged contents are neither those of the file nor those of HEAD. A work tree
// whose directory is gone has none. gitDir is its directory in the repository.
func (r *Repo) stagedOnly(ctx context.Context, place, gitDir string) (paths []string, err error) {
	if _, err := os.Lstat(filepath.Join(place, ".git")); err != nil {
		return nil, nil
	}
	out, err := r.output(ctx, call{
		args: []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=no"},
		env:  []string{"GIT_DIR=" + gitDir, "GIT_WORK_TREE=" + place, "GIT_OPTIONAL_LOCKS=0"},
	})
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(string(out), "\x00") {
		if len(line) > 3 && strings.IndexByte("AMT", line[0]) >= 0 && line[1] != ' ' {
			paths = append(paths, line[3:])
		}
	}
	return paths, nil
}
