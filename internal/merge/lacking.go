package merge

import (
	"path"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// forked is the record of a source as a fork. It is empty for one that is none.
func (src *Source) forked() history.ForkRecord {
	if src.Store != nil {
		if rec := src.Store.Forked(); rec != nil {
			return *rec
		}
	}
	return history.ForkRecord{}
}

// addLacking gives theirs the paths that its directory could not be made with, as they are at the base: no process has
// deleted them there. A path that something has taken since stays as it is.
func (f *follower) addLacking() error {
	for _, lacked := range f.lacks {
		path := string(lacked)
		was, err := f.Store.EndOf(f.base, path)
		if err != nil {
			return err
		}
		free, err := f.isFree(f.theirs, path)
		if err != nil {
			return err
		}
		if _, set := f.atTheirs[path]; was.Entry != nil && free && !set {
			f.atTheirs[path] = was
		}
	}
	return nil
}

// isFree reports whether a state has nothing at a path, and no file above it.
func (m *Merger) isFree(s state.State, at string) (bool, error) {
	e, err := m.Store.EntryOrNil(s.Tree, at)
	for err == nil && e == nil {
		if at = path.Dir(at); at == "." {
			return true, nil
		}
		if e, err = m.Store.EntryOrNil(s.Tree, at); e != nil {
			return e.Mode == object.Dir, err
		}
	}
	return false, err
}

// notLacking leaves out the deletions of paths that a directory could not be made with.
func notLacking(list []history.Change, lacks []state.Path) []history.Change {
	if len(lacks) == 0 {
		return list
	}
	lacking := history.PathSet(lacks)
	var rest []history.Change
	for i := range list {
		if c := &list[i]; c.Status != history.Deleted || !lacking[c.Path] {
			rest = append(rest, *c)
		}
	}
	return rest
}
