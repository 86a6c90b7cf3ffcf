package copies

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// Reasons why a path of the live directory is not brought along.
const (
	reasonRepository = "the files of a nested git repository"
	reasonStore      = "a cairn store"
	reasonRoot       = "a directory with checkpoints of its own"
	reasonSpecial    = "a special file"
	reasonTaken      = "the checkpoint has something else there"
	reasonUnreadable = "cannot be read: "
	reasonCopy       = "a copy that is being made"
)

// ignoredWalk looks for what the live directory has and no capture holds.
type ignoredWalk struct {
	*checkout
	ctx      context.Context
	patterns *ignore.Patterns       // nil = everything
	target   map[string]object.Mode // paths of the checkpoint
	stores   []string               // paths from the root
	within   string                 // of the new directory, "" if it lies outside of the root
	roots    map[string]bool        // paths from the root: directories with stores of their own
	buf      []byte
	pending  []apply.Item // the directories above that are no items yet
}

// listIgnored lists the files to be brought along.
func (c *checkout) listIgnored(ctx context.Context) error {
	w := &ignoredWalk{checkout: c, ctx: ctx, target: make(map[string]object.Mode, len(c.items)), buf: make([]byte, dir.ListBuffer)}
	if len(c.opt.Ignored) > 0 {
		w.patterns = ignore.Parse([]byte(strings.Join(c.opt.Ignored, "\n")+"\n"), false)
	}
	for i := range c.items {
		w.target[c.items[i].Path] = c.items[i].Mode
	}
	for _, at := range []string{c.Opt.DataDir, c.DB.Dir()} {
		if real, err := realpath.Of(at); err == nil && realpath.Within(real, c.Root) {
			if rel, err := filepath.Rel(c.Root, real); err == nil {
				w.stores = append(w.stores, filepath.ToSlash(rel))
			}
		}
	}
	if realpath.Within(c.dir, c.Root) {
		if rel, err := filepath.Rel(c.Root, c.dir); err == nil {
			w.within = filepath.ToSlash(rel)
		}
	}
	if err := w.leaveRootsOut(); err != nil {
		return err
	}
	h, err := dir.Open(c.Root)
	if err != nil {
		return err
	}
	defer h.Close()
	return w.folder(h, "", w.patterns == nil)
}

// leaveRootsOut leaves out directories inside the root that have a store of their own, such as forks.
func (w *ignoredWalk) leaveRootsOut() error {
	dirs, err := odb.List(filepath.Dir(state.StorePath(w.Opt.DataDir, w.Root)))
	if err != nil {
		return err
	}
	w.roots = make(map[string]bool)
	for _, store := range dirs {
		root, err := odb.RecordedRoot(store)
		if err != nil || root == w.Root || !realpath.Within(root, w.Root) {
			continue
		}
		if rel, err := filepath.Rel(w.Root, root); err == nil {
			w.roots[filepath.ToSlash(rel)] = true
		}
	}
	return nil
}

// wants reports whether a path is to be brought along. above says so of its directory.
func (w *ignoredWalk) wants(path string, isDir, above bool) bool {
	if w.patterns == nil {
		return true
	}
	switch w.patterns.Match(path, isDir) {
	case ignore.Ignore:
		return true
	case ignore.Include:
		return false
	}
	return above
}

func (w *ignoredWalk) folder(h *dir.Handle, at string, wanted bool) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	var list dir.Listing
	if err := h.List(&list, w.buf); err != nil {
		return w.unreadable(at, wanted, err)
	}
	block := w.live.Dirs[at]
	for _, listed := range list.Names {
		name := string(listed)
		path := index.Join(at, name)
		captured, leaf := capturedIn(block, name)
		if leaf {
			continue // the checkpoint has it, or had it captured
		}
		if !object.SafeName(name) {
			if at != "" && wanted && name == ".git" {
				w.leaveOut(path, reasonRepository)
			}
			continue
		}
		st, err := h.Lstat(listed)
		if err != nil {
			if dir.Classify(err) == dir.Fatal {
				return err
			}
			continue // gone meanwhile
		}
		wants := w.wants(path, st.Mode == object.Dir, wanted)
		if st.Mode == object.Dir {
			err = w.subfolder(h, name, path, st, captured, wants)
		} else if wants {
			w.file(path, st)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// capturedIn reports whether the capture holds a name, and whether it is a file or link.
func capturedIn(block *index.Dir, name string) (captured, leaf bool) {
	if block == nil {
		return false, false
	}
	rec := block.Find(name)
	captured = rec != nil && rec.Skip() == index.Captured
	return captured, captured && rec.Mode() != object.Dir
}

func (w *ignoredWalk) subfolder(parent *dir.Handle, name, path string, st dir.Info, captured, wanted bool) error {
	if path == w.within || !captured && apply.IsAside(name) {
		if wanted && path != w.within {
			w.leaveOut(path, reasonCopy)
		}
		return nil
	}
	for _, store := range w.stores {
		if path == store {
			w.leaveOut(path, reasonStore)
			return nil
		}
	}
	if w.roots[path] && !captured {
		w.leaveOut(path, reasonRoot)
		return nil
	}
	if rec := w.live.Lookup(path); rec != nil && rec.Skip() == index.Store {
		return nil // the checkpoint lists it as left out
	}
	if !wanted && w.patterns != nil && !w.patterns.Leads(path) {
		return nil
	}
	mode, there := w.target[path]
	if there && mode != object.Dir {
		w.leaveOut(path, reasonTaken)
		return nil
	}
	h, err := parent.OpenDir(name)
	if err != nil {
		return w.unreadable(path, wanted, err)
	}
	defer h.Close()
	if !there {
		w.pending = append(w.pending, apply.Item{Path: path, Mode: object.Dir, Perm: st.Perm, Live: index.Stat{MTime: st.Stat.MTime}})
		if wanted && !captured {
			w.addPending()
		}
	}
	err = w.folder(h, path, wanted)
	if n := len(w.pending); n > 0 && w.pending[n-1].Path == path {
		w.pending = w.pending[:n-1]
	}
	return err
}

// addPending adds the pending directories above a path to the items.
func (w *ignoredWalk) addPending() {
	for _, it := range w.pending {
		w.ignored = append(w.ignored, it)
		w.target[it.Path] = object.Dir
	}
	w.pending = w.pending[:0]
}

func (w *ignoredWalk) file(path string, st dir.Info) {
	if _, there := w.target[path]; there {
		w.leaveOut(path, reasonTaken)
		return
	}
	if st.Mode == 0 {
		w.leaveOut(path, reasonSpecial)
		return
	}
	w.addPending()
	it := apply.Item{Path: path, Mode: st.Mode, Live: st.Stat, FromLive: true}
	if st.Mode != object.Symlink {
		it.Perm = st.Perm
	}
	w.ignored = append(w.ignored, it)
}

func (w *ignoredWalk) unreadable(path string, wanted bool, err error) error {
	switch dir.Classify(err) {
	case dir.Fatal:
		return err
	case dir.Unreadable:
		if wanted {
			w.leaveOut(path, reasonUnreadable+withoutPath(err).Error())
		}
	}
	return nil
}

func (w *ignoredWalk) leaveOut(path, reason string) {
	w.res.LeftOut = append(w.res.LeftOut, state.PathReason{Path: state.Path(path), Reason: reason})
}
