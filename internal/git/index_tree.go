package git

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// maxTreeDepth is how many directories deep an entry of a tree may lie. Git itself stops at 2,048.
const maxTreeDepth = 4096

// Tree returns the name of the tree that git write-tree makes of the index. ok is false if a tree cannot hold all
// that the entries say: sides of a conflict, marks, folded directories. The extensions do not count.
func (x *Index) Tree(withSHA256 bool) (name string, ok bool) {
	t := newTreeSum(withSHA256)
	for e, id := range x.WithIDs() {
		if e.Stage != 0 || e.AssumeValid || e.SkipWorktree || e.IntentToAdd || e.Mode == object.Dir || !t.add(&e, id) {
			return "", false
		}
	}
	return hex.EncodeToString(t.root()), true
}

// HasMore reports whether the index file holds more than its entries and what git computes from them and from the
// work tree: how conflicts were resolved, or an extension that is not known.
func (x *Index) HasMore() bool { return x.files[0].more || x.files[1].more }

// IndexOfTree returns an index file of version 3 for the output of git ls-tree -r -z. Entries that like has, too, keep
// the stat data from there; nil knows none. withSHA256 is as for ReadIndex.
func IndexOfTree(list string, like *Index, withSHA256 bool) ([]byte, error) {
	known := like.stats()
	var failed error
	data := EncodeIndex(func(yield func(IndexEntry, []byte) bool) {
		for line := range strings.SplitSeq(list, "\x00") {
			if line == "" {
				return // behind the last one
			}
			e, id, err := parseTreeLine(line)
			if failed = err; err != nil {
				return
			}
			if was, ok := known[e.Name]; ok && was.mode == e.Mode && was.id == string(id) {
				e.Stat = was.stat
			}
			if !yield(e, id) {
				return
			}
		}
	}, withSHA256)
	return data, failed
}

// parseTreeLine reads a line of git ls-tree: "<mode> <kind> <id>\t<path>". The id is binary.
func parseTreeLine(line string) (e IndexEntry, id []byte, err error) {
	head, name, ok := strings.Cut(line, "\t")
	fields := strings.Fields(head)
	if !ok || len(fields) != 3 {
		return e, nil, fmt.Errorf("git ls-tree: line %.80q", line)
	}
	mode, err := strconv.ParseUint(fields[0], 8, 32)
	if err == nil {
		id, err = hex.DecodeString(fields[2])
	}
	if err != nil {
		return e, nil, fmt.Errorf("git ls-tree: line %.80q: %w", line, err)
	}
	e.Name, e.Mode = name, object.Mode(mode)
	return e, id, nil
}

// knownStat is what an index knows of a file.
type knownStat struct {
	mode object.Mode
	id   string // binary
	stat IndexStat
}

// stats returns the stat data of an index by path.
func (x *Index) stats() map[string]knownStat {
	if x == nil {
		return nil
	}
	known := make(map[string]knownStat, x.Len())
	for e, id := range x.WithIDs() {
		if e.Stage == 0 {
			known[e.Name] = knownStat{e.Mode, string(id), e.Stat}
		}
	}
	return known
}

// treeSum computes the name of a tree from the entries of an index. The order of an index is that of trees, in
// which the name of a directory ends with '/'.
type treeSum struct {
	hash hash.Hash
	open []openTree // the top, and directories below each other
	path string     // of the innermost one, with '/' at its end, "" for the top
}

// openTree is a directory of which more entries may follow.
type openTree struct {
	name    string
	entries []byte
}

func newTreeSum(withSHA256 bool) *treeSum {
	t := &treeSum{hash: sha1.New(), open: make([]openTree, 1)}
	if withSHA256 {
		t.hash = sha256.New()
	}
	return t
}

// add reports false for an entry that lies too deep.
func (t *treeSum) add(e *IndexEntry, id []byte) bool {
	for !strings.HasPrefix(e.Name, t.path) {
		t.close()
	}
	for {
		name, _, below := strings.Cut(e.Name[len(t.path):], "/")
		if !below {
			t.put(e.Mode, name, id)
			return true
		}
		if len(t.open) == maxTreeDepth {
			return false
		}
		t.enter(name)
	}
}

// enter takes over the memory of a directory that was closed at the same depth.
func (t *treeSum) enter(name string) {
	n := len(t.open)
	if t.path = t.path + name + "/"; n < cap(t.open) {
		t.open = t.open[:n+1]
		t.open[n].name, t.open[n].entries = name, t.open[n].entries[:0]
		return
	}
	t.open = append(t.open, openTree{name: name})
}

// close ends the innermost directory and adds it to the one above.
func (t *treeSum) close() {
	n := len(t.open) - 1
	id, name := t.sum(t.open[n].entries), t.open[n].name
	t.open, t.path = t.open[:n], t.path[:len(t.path)-len(name)-1]
	t.put(object.Dir, name, id)
}

func (t *treeSum) put(mode object.Mode, name string, id []byte) {
	last := &t.open[len(t.open)-1]
	b := append(strconv.AppendUint(last.entries, uint64(mode), 8), ' ')
	last.entries = append(append(append(b, name...), 0), id...)
}

func (t *treeSum) sum(entries []byte) []byte {
	t.hash.Reset()
	fmt.Fprintf(t.hash, "tree %d\x00", len(entries))
	t.hash.Write(entries)
	return t.hash.Sum(nil)
}

func (t *treeSum) root() []byte {
	for len(t.open) > 1 {
		t.close()
	}
	return t.sum(t.open[0].entries)
}
