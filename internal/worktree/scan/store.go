package scan

import (
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// maxRoot is the largest size in bytes of a store's root record. Paths of real systems are shorter.
const maxRoot = 64 << 10

// storesDir is the directory of a data directory that holds the stores.
const storesDir = "snapshot"

// passStore removes n from the capture if it is a cairn store. The store of another data directory
// grows with each of its checkpoints. Restoring a capture that holds such a store would roll it
// back and lose its later checkpoints.
func (w *worker) passStore(n *node) bool {
	if n.parent == nil || !isStore(n) {
		return false
	}
	n.absent = true
	if n.prev != nil {
		w.remove(n.path)
	}
	if !w.survey {
		w.skip(Skipped{Path: n.path, Reason: index.Store, Dir: true})
	}
	at, err := n.handle.Stat()
	if err != nil {
		at = n.at
	}
	n.parent.replace(n.slot, &index.Entry{Name: n.name, Mode: object.Dir, Perm: at.Perm, Skip: index.Store})
	return true
}

// isStore reports whether a directory is a cairn store. The name of a store is the hash of the root
// that it records, so a project's directory does not become a store through files that are put into
// it. A store with a damaged root record counts if it lies in a directory of stores.
func isStore(n *node) bool {
	if !odb.IsProjectID(n.name) || !hasDirs(n.handle, "objects", "refs", "cairn") {
		return false
	}
	if root, ok := readIn(n.handle, "cairn", "root"); ok && odb.Proves(n.name, string(root)) {
		return true
	}
	_, head := readIn(n.handle, "", "HEAD")
	_, lock := readIn(n.handle, "cairn", "lock")
	return n.parent.name == storesDir && head && lock
}

func hasDirs(h *dir.Handle, names ...string) bool {
	for _, name := range names {
		sub, err := h.OpenDir(name)
		if err != nil {
			return false
		}
		sub.Close()
	}
	return true
}

// readIn reads a small regular file in a directory of h, or in h itself.
func readIn(h *dir.Handle, dir, name string) ([]byte, bool) {
	if dir != "" {
		sub, err := h.OpenDir(dir)
		if err != nil {
			return nil, false
		}
		defer sub.Close()
		h = sub
	}
	f, err := h.OpenFile(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode.IsFile() {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRoot))
	return data, err == nil
}
