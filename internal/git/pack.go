package git

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// PackLimits limits the cost of a search for deltas. The zero value is modest: one thread, 64 MiB
// of candidates.
type PackLimits struct {
	Threads int   // 0 = 1
	Memory  int64 // bytes of the objects that are compared, for each thread; 0 = 64 MiB

	// If set, git compares and compresses everything again. Otherwise git copies objects that are
	// compressed or deltas already. It also compares no two objects of the same pack, because it
	// assumes an earlier comparison: a pack that git did not make would stay without deltas.
	Anew bool

	Progress Progress // may be nil
}

// PackObjects makes one delta-compressed pack, <dir>/pack-<hex>.pack and its index,
// out of objects of the repository gitDir, which it does not change. It reads lines
// of an id and, after a blank, a name: objects of similar names are tried as each
// other's bases. An object that is missing is an error.
//
// When ctx ends, git and what it has started are killed. Temporary files are then
// left, in dir only, which is the caller's to remove. Nothing is flushed to the disk.
func (b *Binary) PackObjects(ctx context.Context, gitDir, dir string, objects io.Reader, limits PackLimits) error {
	if limits.Memory <= 0 {
		limits.Memory = 64 << 20
	}
	args := []string{
		"-c", "core.bigFileThreshold=8m", // larger files are streamed
		"-c", "pack.deltaCacheSize=16m", "-c", "pack.packSizeLimit=0", "-c", "pack.writeReverseIndex=false",
		"--git-dir=" + gitDir,
		"pack-objects", "--non-empty", "--delta-base-offset", "--window=10", "--depth=50",
		"--threads=" + strconv.Itoa(max(1, limits.Threads)), "--window-memory=" + strconv.FormatInt(limits.Memory, 10),
	}
	if limits.Anew {
		args = append(args, "--no-reuse-object")
	}
	if limits.Progress != nil {
		args = append(args, "--progress")
	} else {
		args = append(args, "-q")
	}
	cmd := b.Command(ctx, gitDir, append(args, filepath.Join(dir, "pack"))...)
	cmd.Env = append(cmd.Env, // git writes nowhere else
		"GIT_OBJECT_DIRECTORY="+dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+filepath.Join(gitDir, "objects"))
	complaint := Talk{Tell: limits.Progress}
	cmd.Stdin, cmd.Stderr = objects, &complaint
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("git pack-objects: %w: %s", err, strings.TrimSpace(complaint.String()))
	}
	return nil
}
