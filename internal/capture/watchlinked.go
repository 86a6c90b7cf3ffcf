package capture

import (
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/watch"
)

// A write through one name of a file causes no event in the directories of its other names. So each
// capture looks at the files that are known to have several. Where a scan of a part finds one that
// was not known, everything is scanned: its other names may be in the tree, and written to already.
// A name that is made while the tree is watched, outside of it or in an ignored directory, causes no
// event either, and is not known until the next scan of everything.

// mostLinked is the number of such files up to which a look at each is cheaper than a scan of
// everything.
const mostLinked = 1000

const manyLinked = "more than 1,000 files have several names (hard links)"

// linkedRules is the reason to scan everything each time, because a changed .gitignore affects
// directories that did not change, and a scan of a part finds out too late.
const linkedRules = "a .gitignore has several names (hard links)"

// linkedFiles are files with several names, up to one more than mostLinked.
type linkedFiles struct {
	mu    sync.Mutex
	count int
	rules bool // a .gitignore is among them
	files watch.Changes
}

// add adds a file. A scan calls it from several goroutines.
func (f *linkedFiles) add(dir, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count > mostLinked || f.has(dir, name) {
		return
	}
	f.count++
	f.rules = f.rules || name == ".gitignore"
	f.files.Merge(watch.Changes{Dirs: map[string]map[string]struct{}{dir: {name: {}}}})
}

func (f *linkedFiles) has(dir, name string) bool {
	_, has := f.files.Dirs[dir][name]
	return has
}

// all yields the files, by directory and name.
func (f *linkedFiles) all(yield func(dir, name string) bool) {
	for dir, names := range f.files.Dirs {
		for name := range names {
			if !yield(dir, name) {
				return
			}
		}
	}
}

// merge adds the files of another list.
func (f *linkedFiles) merge(other *linkedFiles) {
	for dir, name := range other.all {
		f.add(dir, name)
	}
}

// reset empties the list.
func (f *linkedFiles) reset() { f.count, f.rules, f.files = 0, false, watch.Changes{} }

// tooMuch returns why a look at each of the files is not enough, "" if it is.
func (f *linkedFiles) tooMuch() string {
	switch {
	case f.count > mostLinked:
		return manyLinked
	case f.rules:
		return linkedRules
	}
	return ""
}

// foundLinks reports whether a scan of a part found a file with several names that was not known.
// All are forgotten then, and the caller scans everything.
func (w *watching) foundLinks(found *linkedFiles) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for dir, name := range found.all {
		if !w.linked.has(dir, name) {
			w.linked.reset()
			return true
		}
	}
	return false
}
