package operation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/gitrestore"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// refuseOther refuses to bring one repository to the state of another. The environment of a caller can
// name a repository that other callers do not know. now is nil where there is none.
func (r *Operator) refuseOther(ctx context.Context, records *capture.GitRecords, now *gitstate.Record, g *gitBack) error {
	for _, w := range g.Ways {
		was, err := records.At(ctx, w.Before)
		if err != nil {
			return err
		}
		if was != nil && r.isOther(was, now) {
			return fmt.Errorf("%w: the checkpoint is of the repository %s, which is not that of the directory now (see GIT_DIR in cairn help)",
				gitrestore.ErrRefused, pathtext.Place(was.GitDir))
		}
	}
	return nil
}

// isOther reports whether a recorded repository is another one than the present one. A directory that
// was renamed or copied has its .git at another path.
func (r *Operator) isOther(was, now *gitstate.Record) bool {
	switch {
	case now != nil && now.GitDir == was.GitDir:
		return false
	case now != nil && r.Opt.GitDir != "":
		return true
	}
	_, err := os.Lstat(was.GitDir)
	return err == nil && filepath.Base(was.GitDir) != ".git"
}
