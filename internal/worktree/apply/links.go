package apply

import (
	"io/fs"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// isLinked reports whether the file has several hard links.
func isLinked(fi fs.FileInfo) bool { return dir.Links(fi) > 1 }

// sameBits counts the names that get the same permission bits, by the file that they had when the plan was
// made.
type sameBits map[bitsOf]int

type bitsOf struct {
	stat index.Stat
	perm uint16
}

func newSameBits(changes []Change) sameBits {
	s := sameBits{}
	for i := range changes {
		if c := &changes[i]; c.Action == Chmod && c.Mode.IsFile() && c.Was != nil && c.Was.Stat.Ino != 0 {
			s[bitsOf{c.Was.Stat, c.Perm}]++
		}
	}
	return s
}

// bitsAreShared reports whether a file has other names, of which some are to keep the bits that they have.
// A change of the bits then needs a file of its own. A file whose stat is not known counts as such.
func (w *worker) bitsAreShared(c *Change, fi fs.FileInfo) bool {
	return c.Mode.IsFile() && isLinked(fi) && !c.ID.IsZero() && w.bits[bitsOf{c.Was.Stat, c.Perm}] < dir.Links(fi)
}
