package cairn

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// userIndex answers for the index of the user's own repository: what is tracked
// there is captured although ignored. Only its paths count; its ids, stats and
// flags do not. Reading a large index costs milliseconds, so what matters of it is
// kept with the stat cache until the file changes: the tracked paths that the last
// capture did not hold (captured ones stay captured anyway).
type userIndex struct {
	signature git.Signature
	prefix    string     // of the root inside the repository
	full      *git.Index // nil while the signature is the known one
	kept      auxiliary
}

func (s *ruleSource) loadUserIndex(r *Repo) error {
	if r.user == nil {
		return nil
	}
	prefix, ok := r.userPrefix()
	if !ok {
		return nil
	}
	signature, err := git.IndexSignature(r.user.IndexPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	u := &userIndex{signature: signature, prefix: prefix}
	if err == nil && s.before.UserIndex != nil && *s.before.UserIndex == signature {
		u.kept, s.user = s.before, u
		return nil
	}
	if u.full, err = git.ReadIndex(r.user.IndexPath(), r.user.SHA256); err != nil {
		r.log.Warn("index of the repository not read: files that it tracks although ignored may be left out", "error", err)
		return nil
	}
	s.user = u
	return nil
}

// userPrefix is the root as the user's index sees it, "" or ending in '/'.
func (r *Repo) userPrefix() (string, bool) {
	if r.root == r.user.Top {
		return "", true
	}
	rel, ok := strings.CutPrefix(r.root, r.user.Top+"/")
	return rel + "/", ok
}

// holds reports whether the user's index has the file, or something below the
// directory.
func (u *userIndex) holds(path string, dir bool) bool {
	if u.full == nil {
		return listHolds(u.kept.Held, path, dir)
	}
	if dir {
		return u.full.HasUnder(u.prefix + path)
	}
	return u.full.Contains(u.prefix + path)
}

func listHolds(sorted []pathText, path string, dir bool) bool {
	if dir {
		path += "/"
	}
	i, found := slices.BinarySearch(sorted, pathText(path))
	return found || dir && i < len(sorted) && strings.HasPrefix(string(sorted[i]), path)
}

// updateAux works out, after a scan, what has to be kept of the user's index. What
// was dropped from the capture may be tracked there and come back, so then it has to
// be read again next time.
func (s *ruleSource) updateAux(x *index.Index, dropped bool) {
	switch {
	case s.user == nil:
	case s.user.full != nil:
		s.user.kept = s.user.excerpt(x)
		s.aux.keep(s.user.kept)
	case !dropped:
		s.aux.keep(s.user.kept)
	}
}

// keep takes over what is known of the user's index.
func (a *auxiliary) keep(of auxiliary) {
	a.UserIndex, a.Held, a.Sparse = of.UserIndex, of.Held, of.Sparse
}

// excerpt lists the user's tracked paths that the capture in x does not hold.
func (u *userIndex) excerpt(x *index.Index) auxiliary {
	aux := auxiliary{UserIndex: &u.signature}
	captured := capturedNames{index: x}
	for e := range u.full.All() {
		path, ok := strings.CutPrefix(strings.TrimSuffix(e.Name, "/"), u.prefix)
		if !ok || captured.has(path) {
			continue
		}
		if e.SkipWorktree {
			aux.Sparse = append(aux.Sparse, pathText(path))
		} else if e.Mode != object.Gitlink {
			aux.Held = append(aux.Held, pathText(path))
		}
	}
	slices.Sort(aux.Held)
	aux.Held = slices.Compact(aux.Held)
	aux.Sparse = topmostAbsent(x, aux.Sparse)
	return aux
}

// capturedNames looks paths up that come in the order of a git index. That order goes
// back and forth between a directory and those below it, but the names in each come
// sorted, as they are here: one pass over every directory is enough.
type capturedNames struct {
	index *index.Index
	dir   string
	rest  []byte            // of the current directory: what does not come before the last name asked for
	other map[string][]byte // the same for the directories that were left
}

func (c *capturedNames) has(path string) bool {
	dir, name := index.Split(path)
	if dir != c.dir || c.other == nil {
		c.enter(dir)
	}
	for len(c.rest) > 0 {
		rec, rest := index.Next(c.rest)
		switch order := strings.Compare(string(rec.Name()), name); {
		case order > 0:
			return false
		case order == 0:
			return rec.Skip() == index.Captured && rec.Mode() != object.Dir
		}
		c.rest = rest
	}
	return false
}

func (c *capturedNames) enter(dir string) {
	if c.other == nil {
		c.other = make(map[string][]byte)
	} else {
		c.other[c.dir] = c.rest
	}
	rest, visited := c.other[dir]
	if d := c.index.Dirs[dir]; d != nil && !visited {
		rest = d.Raw
	}
	c.dir, c.rest = dir, rest
}

// topmostAbsent replaces paths that a sparse checkout leaves out by the highest
// directories that are absent with them.
func topmostAbsent(x *index.Index, paths []pathText) []pathText {
	var out []pathText
	for _, p := range paths {
		path := string(p)
		for {
			dir, _ := index.Split(path)
			if dir == "" || x.Dirs[dir] != nil {
				break
			}
			path = dir
		}
		out = append(out, pathText(path))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sparse lists what is absent because the user's sparse checkout leaves it out: not
// deleted, so never to be treated as such.
func (u *userIndex) sparse(x *index.Index) []Skipped {
	var out []Skipped
	for _, p := range u.kept.Sparse {
		path := string(p)
		if x.Dirs[path] == nil && x.Lookup(path) == nil {
			out = append(out, Skipped{Path: path, Reason: index.Sparse.String()})
		}
	}
	return out
}
