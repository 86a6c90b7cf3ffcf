package thinned

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// signature is that of the commit that Ref leads to. Equal lists have equal ids, so the time is that of
// the newest record.
var signature = object.Signature{Name: "cairn", Email: "cairn@localhost"}

// message tells a reader of git log what the commit is.
const message = "checkpoints whose states were thinned, and the kept ones between them\n"

// IsList reports whether a commit is a list, whatever leads to it.
func IsList(c *object.CommitData) bool {
	return c.Message == message && c.Author.Name == signature.Name && len(c.Extra) == 0
}

// Add adds a list of records to a batch, and returns the commit that Ref has to lead to. kept are the
// commits that the list is to keep alive. It returns zero for an empty list.
//
// A record that was read before is not read again. Its blob is there as long as Ref has not moved, so
// commit the batch with the lock held, if Ref leads where it led.
func Add(b *odb.Batch, records map[object.ID]*Record, kept []object.ID) (object.ID, error) {
	if len(records) == 0 && len(kept) == 0 {
		return object.ID{}, nil
	}
	id, err := add(b, records, kept)
	if err != nil {
		return id, fmt.Errorf("list of thinned checkpoints: %w", err)
	}
	return id, nil
}

func add(b *odb.Batch, records map[object.ID]*Record, kept []object.ID) (id object.ID, err error) {
	dirs := make(map[string][]object.Entry)
	for id, r := range records {
		blob := r.blob
		if blob.IsZero() {
			if blob, err = addRecord(b, r); err != nil {
				return id, err
			}
		}
		name := id.String()
		dirs[name[:fanDigits]] = append(dirs[name[:fanDigits]], object.Entry{Name: name[fanDigits:], Mode: object.Regular, ID: blob})
	}
	var top []object.Entry
	for name, entries := range dirs {
		tree, err := addTree(b, entries)
		if err != nil {
			return id, err
		}
		top = append(top, object.Entry{Name: name, Mode: object.Dir, ID: tree})
	}
	tree, err := addTree(b, top)
	if err != nil {
		return id, err
	}
	return addCommit(b, tree, kept, slices.Collect(maps.Values(records)))
}

func addRecord(b *odb.Batch, r *Record) (object.ID, error) {
	data, err := r.encode()
	if err != nil {
		return object.ID{}, err
	}
	return b.Add(object.Blob, data)
}

func addTree(b *odb.Batch, entries []object.Entry) (object.ID, error) {
	object.SortEntries(entries)
	return b.Add(object.Tree, object.AppendTree(nil, entries))
}

func addCommit(b *odb.Batch, tree object.ID, kept []object.ID, records []*Record) (object.ID, error) {
	at := int64(0)
	for _, r := range records {
		at = max(at, r.At)
	}
	who := signature
	who.When = time.Unix(at, 0).UTC()
	parents := slices.Clone(kept)
	slices.SortFunc(parents, compareIDs)
	data, err := object.AppendCommit(nil, &object.CommitData{
		Tree: tree, Parents: slices.Compact(parents), Author: who, Committer: who, Message: message,
	})
	if err != nil {
		return object.ID{}, err
	}
	return b.Add(object.Commit, data)
}
