package gitstate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// IsIndex reports whether a file of a record is the index, or a shared index that it builds on.
func IsIndex(name string) bool { return name == "index" || strings.HasPrefix(name, "sharedindex.") }

// SameIndex reports whether two recorded indexes have the same entries, whatever their stat data.
func SameIndex(a, b *Record) bool {
	return a.IndexTree == b.IndexTree && bytes.Equal(a.Files["index"], b.Files["index"]) || a.IndexID() == b.IndexID()
}

// HasIndex reports whether the repository has an index.
func (r *Record) HasIndex() bool { return r.IndexTree != "" || r.Files["index"] != nil }

// TakeIndex replaces the index by that of another record.
func (r *Record) TakeIndex(from *Record) {
	maps.DeleteFunc(r.Files, func(name string, _ []byte) bool { return IsIndex(name) })
	for name, data := range from.Files {
		if IsIndex(name) {
			r.Files[name] = data
		}
	}
	r.IndexTree = from.IndexTree
}

// NameIndex replaces an index that is a tree, no more and no less, by the name of that tree, which takes a line and not
// a hundred bytes for each file. Only the stat data of the index are lost. sum is that of the index. The caller knows
// that the tree is as safe as the commits that the record names.
func (r *Record) NameIndex(sum IndexSum) {
	if sum.Tree != "" {
		r.TakeIndex(&Record{IndexTree: sum.Tree})
	}
}

// IndexSum identifies an index.
type IndexSum struct {
	ID   string // of its entries without their stat data
	Tree string // the tree that it equals, "" if it holds more
}

// treeID begins the IDs of indexes whose entries a tree can hold.
const treeID = "tree "

// IndexSum returns the sum of the recorded index. An index that cannot be read is identified by its bytes.
func (r *Record) IndexSum() IndexSum {
	if r.IndexTree != "" {
		return IndexSum{treeID + r.IndexTree, r.IndexTree}
	}
	data := r.Files["index"]
	x, err := git.ParseIndex(data, r.SHA256, func(name string) []byte { return r.Files[name] })
	if err != nil {
		return IndexSum{ID: fmt.Sprintf("%x of %d bytes", sha256.Sum256(data), len(data))}
	}
	return SumOf(x, r.SHA256)
}

// SumOf returns the sum of an index. withSHA256 is as for git.ReadIndex.
func SumOf(x *git.Index, withSHA256 bool) IndexSum {
	tree, ok := x.Tree(withSHA256)
	switch {
	case !ok:
		return IndexSum{ID: EntriesSum(x)}
	case x.HasMore():
		return IndexSum{ID: treeID + tree}
	}
	return IndexSum{treeID + tree, tree}
}

// IndexID identifies the entries of the index without their stat data.
func (r *Record) IndexID() string { return r.IndexSum().ID }

// EntriesSum identifies the entries of an index without their stat data.
func EntriesSum(x *git.Index) string {
	h := sha256.New()
	var line []byte
	for e, id := range x.WithIDs() {
		line = append(append(line[:0], id...), ' ')
		line = append(strconv.AppendUint(line, uint64(e.Mode), 8), ' ')
		line = append(strconv.AppendInt(line, int64(e.Stage), 10), ' ')
		for _, mark := range []bool{e.AssumeValid, e.SkipWorktree, e.IntentToAdd} {
			line = append(strconv.AppendBool(line, mark), ' ')
		}
		line = append(append(line, e.Name...), 0)
		h.Write(line)
	}
	return hex.EncodeToString(h.Sum(nil))
}
