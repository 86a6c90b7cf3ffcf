package capture

import (
	"bytes"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// oldIndex takes the index files of the last record where only stat data differ, so that a refresh
// of the index makes no new record. An index that was named is named again, if its tree is still kept.
func (r *Capturer) oldIndex(record *gitstate.Record, last object.ID, same bool) {
	if !same && len(record.Nested) == 0 {
		return
	}
	parts, err := r.Store.GitRecord(last)
	if err != nil {
		return
	}
	was, err := gitstate.Parse(parts)
	if err != nil {
		return
	}
	if same && was.IndexTree == "" {
		record.TakeIndex(was)
	}
	oldNested(record, was)
}

// oldNested takes the indexes of the last record where only stat data differ.
func oldNested(record, was *gitstate.Record) {
	for place, sub := range record.Nested {
		if old := was.Nested[place]; old != nil && old.IndexTree == "" && gitstate.SameIndex(sub, old) {
			sub.TakeIndex(old)
		}
	}
}

// beginSum begins to compute the sum of an index, and returns a function that waits for it.
func beginSum(sum func() gitstate.IndexSum) func() gitstate.IndexSum {
	out := make(chan gitstate.IndexSum, 1)
	go func() { out <- sum() }()
	return sync.OnceValue(func() gitstate.IndexSum { return <-out })
}

// summing is beginSum for the index of a record. Where that is the index that the capture has read for its rules, the
// sum has been begun.
func (c *Snapshot) summing(record *gitstate.Record) func() gitstate.IndexSum {
	if u := c.rules.user; u != nil && u.sum != nil && u.isOf(record) {
		return u.sum
	}
	only := &gitstate.Record{SHA256: record.SHA256, Files: make(map[string][]byte)}
	only.TakeIndex(record) // to be read while the record changes
	return beginSum(func() gitstate.IndexSum { return indexSum(only) })
}

// isOf reports whether a record has the index that was read, and that builds on no shared one.
func (u *userIndex) isOf(record *gitstate.Record) bool {
	for name := range record.Files {
		if name != "index" && gitstate.IsIndex(name) {
			return false
		}
	}
	return u.repo.SHA256 == record.SHA256 && bytes.Equal(u.full.Contents(), record.Files["index"])
}

// indexSum is the sum of the recorded index, the zero one if there is none.
func indexSum(record *gitstate.Record) gitstate.IndexSum {
	if !record.HasIndex() {
		return gitstate.IndexSum{}
	}
	return record.IndexSum()
}

// nameIndexes replaces the indexes that equal the tree of their repository's commit. The commit is kept alive, and its
// tree with it.
func nameIndexes(repo *git.Repo, nested []*git.Repo, record *gitstate.Record, sum gitstate.IndexSum) {
	nameIndex(repo, record, sum)
	for _, n := range nested {
		for _, sub := range record.Nested {
			if sub.GitDir == n.GitDir {
				nameIndex(n, sub, indexSum(sub))
			}
		}
	}
}

func nameIndex(repo *git.Repo, record *gitstate.Record, sum gitstate.IndexSum) {
	if sum.Tree != "" && sum.Tree == treeOf(repo, record.Commit()) {
		record.NameIndex(sum)
	}
}

// treeOf returns the tree of a commit, "" if it cannot be read, as none of a SHA-256 repository can.
func treeOf(repo *git.Repo, commit string) string {
	id, err := object.ParseID(commit)
	if err != nil {
		return ""
	}
	dirs := odb.OpenObjectDirs(repo.ObjectDirs())
	defer dirs.Close()
	c, err := dirs.Commit(id)
	if err != nil {
		return ""
	}
	return c.Tree.String()
}
