package capture

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// userIndex tells which paths the index of the user's own repository tracks: they are captured
// although ignored. Its ids, stats and flags do not count. Reading a large index costs
// milliseconds, so an excerpt is stored with the stat cache until the index file changes. The
// excerpt lists the tracked paths that the last capture did not hold; captured paths stay captured
// anyway. Paths that were dropped from the capture since may be tracked, too. Only their names are
// stored, and the index is read again when one of them comes back and is ignored. So it is with
// paths that a sparse checkout leaves out.
type userIndex struct {
	signature git.Signature
	repo      *git.Repo
	prefix    string                   // the root inside the repository
	full      *git.Index               // nil while the signature is the recorded one
	sum       func() gitstate.IndexSum // of full; nil = not begun
	kept      auxiliary
	allLent   bool // the capture holds every entry of full, and none is marked in any way

	warn func(text string, about ...any)
	read func() *git.Index // reads the index on demand, once; nil if that fails
	late atomic.Bool       // read was called
}

// maxDropped is the largest number of dropped paths. Beyond it the index is read again.
const maxDropped = 1000

func (s *ruleSource) loadUserIndex(r *Capturer, repo *git.Repo) {
	if repo == nil {
		return
	}
	prefix, ok := prefixBelow(repo.Top, r.Root)
	if !ok {
		return
	}
	signature, err := git.IndexSignature(repo.IndexPath())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	read := func() *git.Index { return r.readUserIndex(repo) }
	u := &userIndex{repo: repo, signature: signature, prefix: prefix, warn: r.Log.Warn, read: sync.OnceValue(read)}
	if err == nil && s.before.UserIndex != nil && *s.before.UserIndex == signature {
		u.kept, s.user = s.before, u
		return
	}
	if u.full = read(); u.full == nil {
		return
	}
	if s.user = u; !r.Opt.NoGit {
		u.sum = beginSum(func() gitstate.IndexSum { return gitstate.SumOf(u.full, repo.SHA256) })
	}
}

// contents returns the contents of the index file, nil if they were not read for this capture, or have changed since. A
// file without a checksum may have changed.
func (u *userIndex) contents() []byte {
	if u.sum == nil || u.signature.Trailer == [20]byte{} {
		return nil
	}
	if now, err := git.IndexSignature(u.repo.IndexPath()); err != nil || now != u.signature {
		return nil
	}
	return u.full.Contents()
}

// readUserIndex returns nil where the index cannot be read.
func (r *Capturer) readUserIndex(repo *git.Repo) *git.Index {
	x, err := git.ReadIndex(repo.IndexPath(), repo.SHA256)
	if err != nil {
		r.Log.Warn("index of the repository not read: files that it tracks although ignored may be left out", "error", err)
		return nil
	}
	return x
}

// prefixBelow returns the path of the root below the top of its repository, "" or ending in '/'.
func prefixBelow(top, root string) (string, bool) {
	if root == top {
		return "", true
	}
	rel, ok := strings.CutPrefix(root, top+"/")
	return rel + "/", ok
}

// holds reports whether the user's index has the file, or a file below the directory.
func (u *userIndex) holds(path string, dir bool) bool {
	x := u.full
	if x == nil {
		if listHolds(u.kept.Held, path, dir) {
			return true
		}
		if !listHolds(u.kept.Dropped, path, dir) && !u.leftOut(path, dir) {
			return false
		}
		u.late.Store(true)
		if x = u.read(); x == nil {
			return false
		}
	}
	if dir {
		return x.HasUnder(u.prefix + path)
	}
	return x.Contains(u.prefix + path)
}

// leftOut reports whether the sparse checkout leaves out the path, or something above it, or below the directory. The
// file may be back, for instance by a restore.
func (u *userIndex) leftOut(path string, dir bool) bool {
	list := u.kept.Sparse
	for above := path; above != "" && len(list) > 0; above, _ = index.Split(above) {
		if listHolds(list, above, false) {
			return true
		}
	}
	return dir && listHolds(list, path, true)
}

func listHolds(sorted []state.Path, path string, dir bool) bool {
	if dir {
		path += "/"
	}
	i, found := slices.BinarySearch(sorted, state.Path(path))
	return found || dir && i < len(sorted) && strings.HasPrefix(string(sorted[i]), path)
}

// updateAux computes the excerpt of the user's index after a scan that dropped some files. It
// stores none if the index must be read again next time.
func (s *ruleSource) updateAux(x *index.Index, dropped []state.Path) {
	if s.user == nil {
		return
	}
	full := s.user.full
	if full == nil && (s.user.late.Load() || s.user.isCoarse(x)) {
		full = s.user.read()
	}
	switch {
	case full != nil:
		s.user.kept = s.user.excerpt(full, x)
	case len(dropped) > 0 && !s.user.kept.remember(dropped):
		return
	}
	s.aux.copyUserIndex(s.user.kept)
}

// isCoarse reports whether a directory of which a sparse checkout left nothing is there again: the excerpt names it for
// everything in it that is left out.
func (u *userIndex) isCoarse(x *index.Index) bool {
	return slices.ContainsFunc(u.kept.Sparse, func(p state.Path) bool { return x.Dirs[string(p)] != nil })
}

// remember adds dropped paths to the excerpt. It returns false if the excerpt does not suffice:
// there are too many, or a sparse checkout may leave one of them out.
func (a *auxiliary) remember(dropped []state.Path) bool {
	if !a.NoneSkipped || len(a.Dropped)+len(dropped) > maxDropped {
		return false
	}
	all := slices.Concat(a.Dropped, dropped)
	slices.Sort(all)
	a.Dropped = slices.Compact(all)
	return true
}

// forget prepares for a scan to which captured paths are unknown. The excerpt lacks those that the user's
// index has, because captured paths need no reason.
func (s *ruleSource) forget(paths map[string]bool) {
	if len(paths) == 0 || s.user == nil || s.user.full != nil {
		return
	}
	list := make([]state.Path, 0, len(paths))
	for path := range paths {
		list = append(list, state.Path(path))
	}
	if !s.user.kept.remember(list) {
		s.user.full = s.user.read()
	}
}

// copyUserIndex copies the excerpt of the user's index.
func (a *auxiliary) copyUserIndex(of auxiliary) {
	a.UserIndex, a.Held, a.Sparse, a.Dropped, a.NoneSkipped = of.UserIndex, of.Held, of.Sparse, of.Dropped, of.NoneSkipped
	a.Submodules = of.Submodules
}

// droppedOf lists the files that the directories had captured before a scan and no longer have.
func droppedOf(before map[string]*index.Dir, x *index.Index) (paths []state.Path) {
	for dir, old := range before {
		for was, is := range index.Differences(old, x.Dirs[dir]) {
			if isCaptured(was) && !isCaptured(is) {
				paths = append(paths, state.Path(index.Join(dir, string(was.Name()))))
			}
		}
	}
	return paths
}

func isCaptured(rec index.Record) bool {
	return rec != nil && rec.Skip() == index.Captured && rec.Mode() != object.Dir
}

// excerpt lists the tracked paths that the capture in x does not hold.
func (u *userIndex) excerpt(full *git.Index, x *index.Index) auxiliary {
	aux := auxiliary{UserIndex: &u.signature, NoneSkipped: true}
	if u.allLent {
		return aux
	}
	lookup := inOrder(x)
	for e := range full.All() {
		path, ok := strings.CutPrefix(strings.TrimSuffix(e.Name, "/"), u.prefix)
		if aux.NoneSkipped = aux.NoneSkipped && !(ok && e.SkipWorktree); !ok || isCaptured(lookup(path)) {
			continue
		}
		switch {
		case e.SkipWorktree && e.Mode == object.Dir && x.Dirs[path] != nil:
			aux.Sparse = append(aux.Sparse, u.unfold(path, e.ID, x)...)
		case e.SkipWorktree:
			aux.Sparse = append(aux.Sparse, state.Path(path))
		case e.Mode == object.Gitlink:
			aux.Submodules = append(aux.Submodules, state.Path(path))
		default:
			aux.Held = append(aux.Held, state.Path(path))
		}
	}
	slices.Sort(aux.Held)
	aux.Held = slices.Compact(aux.Held)
	aux.Sparse = topmostAbsent(x, aux.Sparse)
	return aux
}

// inOrder returns Lookup of an index for paths in the order of git's index: most of them lie in the
// directory of the path before, which is looked up once.
func inOrder(x *index.Index) func(path string) index.Record {
	at, d := "", x.Dirs[""]
	return func(path string) index.Record {
		dir, name := index.Split(path)
		if dir != at {
			at, d = dir, x.Dirs[dir]
		}
		if d == nil {
			return nil
		}
		return d.Find(name)
	}
}

// topmostAbsent replaces each path that a sparse checkout leaves out by its highest absent
// directory.
func topmostAbsent(x *index.Index, paths []state.Path) []state.Path {
	var out []state.Path
	for _, p := range paths {
		path := string(p)
		for {
			dir, _ := index.Split(path)
			if dir == "" || x.Dirs[dir] != nil {
				break
			}
			path = dir
		}
		out = append(out, state.Path(path))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sparse lists the paths that are absent because of the user's sparse checkout. They are not
// deleted and must not be treated as deleted.
func (u *userIndex) sparse(x *index.Index) []state.Skipped {
	var out []state.Skipped
	for _, p := range u.kept.Sparse {
		path := string(p)
		if x.Dirs[path] == nil && x.Lookup(path) == nil {
			out = append(out, state.Skipped{Path: state.Path(path), Reason: index.Sparse.String()})
		}
	}
	return out
}

// ignoredSubmodules lists the submodules that the user's index has and that lie below an ignored
// directory. The index names none of their files, so nothing in them is held.
func (u *userIndex) ignoredSubmodules(root string, x *index.Index, of *state.Metadata) []state.Skipped {
	var out []state.Skipped
	for _, p := range u.kept.Submodules {
		path := string(p)
		if x.Dirs[path] != nil || x.Lookup(path) != nil || !state.NewCoverage(of).Covers(path) {
			continue
		}
		// One that cannot be looked at is there.
		found, err := dir.Find(root, path, nil)
		if err != nil || found != nil && found.Path == path && found.Mode == object.Dir && !found.Empty {
			out = append(out, state.Skipped{Path: p, Reason: index.Ignored.String()})
		}
	}
	return out
}
