package scan

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// blocks holds directories as they were in the index before a change; nil for those that it did not
// have.
type blocks map[string]*index.Dir

func (b blocks) add(x *index.Index, path string) {
	if _, known := b[path]; !known {
		b[path] = x.Dirs[path]
	}
}

// addAll adds a directory and everything below it.
func (b blocks) addAll(x *index.Index, path string) {
	d := x.Dirs[path]
	if d == nil {
		return
	}
	b.add(x, path)
	for rec := range d.All {
		if rec.Mode() == object.Dir {
			b.addAll(x, index.Join(path, string(rec.Name())))
		}
	}
}

// differ counts the captured files and symlinks that a comparison of the two trees would list.
func (b blocks) differ(x *index.Index) (n int) {
	for path, before := range b {
		n += differing(before, x.Dirs[path])
	}
	return n
}

// differing counts the names that are captured differently in two states of a directory.
func differing(old, new *index.Dir) (n int) {
	for was, is := range index.Differences(old, new) {
		if !sameFile(was, is) {
			n++
		}
	}
	return n
}

func sameFile(a, b index.Record) bool {
	if !isFile(a) || !isFile(b) {
		return isFile(a) == isFile(b)
	}
	return a.Mode() == b.Mode() && a.ID() == b.ID()
}

func isFile(rec index.Record) bool {
	return rec != nil && rec.Skip() == index.Captured && rec.Mode() != object.Dir
}
