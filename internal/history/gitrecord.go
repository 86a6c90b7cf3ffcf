package history

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/keep"
	"github.com/seed-fb9cbc17/cairn/internal/parallel"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// RefGit begins the refs to records of the user's git repository, one for each record, named by the
// id of its tree. A checkpoint names its record in its metadata. A ref goes with the last checkpoint
// that names its record.
const RefGit = RefRoot + "git/"

// Vault returns the place of the objects of the user's git repository that are kept alive.
func (r *Store) Vault() *keep.Vault { return keep.At(r.DB.PrivatePath(odb.KeptDir), !r.Opt.NoSync) }

// piecesSuffix ends the name of a tree that stands for one large part of a record: its blobs, in the
// order of their names, are the part. Equal pieces of different records are stored once.
const piecesSuffix = ".pieces"

// AddGitRecord adds the tree of a record to a batch: a blob for each part.
func AddGitRecord(batch *odb.Batch, parts map[string][]byte) (object.ID, error) {
	var entries []object.Entry
	below := make(map[string]map[string][]byte)
	for path, data := range parts {
		name, rest, deeper := strings.Cut(path, "/")
		if deeper {
			if below[name] == nil {
				below[name] = make(map[string][]byte)
			}
			below[name][rest] = data
			continue
		}
		e, err := addPart(batch, name, data)
		if err != nil {
			return object.ID{}, err
		}
		entries = append(entries, e)
	}
	for name, sub := range below {
		id, err := AddGitRecord(batch, sub)
		if err != nil {
			return id, err
		}
		entries = append(entries, object.Entry{Name: name, Mode: object.Dir, ID: id})
	}
	object.SortEntries(entries)
	return batch.Add(object.Tree, object.AppendTree(nil, entries))
}

func addPart(batch *odb.Batch, name string, data []byte) (object.Entry, error) {
	if len(data) <= maxPiece {
		id, err := batch.Add(object.Blob, data)
		return object.Entry{Name: name, Mode: object.Regular, ID: id}, err
	}
	list, err := addPieces(batch, data)
	if err != nil {
		return object.Entry{}, err
	}
	id, err := batch.Add(object.Tree, object.AppendTree(nil, list))
	return object.Entry{Name: name + piecesSuffix, Mode: object.Dir, ID: id}, err
}

// addPieces adds a blob for each piece. The goroutines of all processors hash and compress: the
// index of a large repository has a hundred pieces, and a first capture waits for them. One goroutine
// at a time finds where the next piece ends.
func addPieces(batch *odb.Batch, data []byte) ([]object.Entry, error) {
	var mu sync.Mutex // guards all of these
	var list []object.Entry
	var failed error
	next := func() (piece []byte, at int) {
		mu.Lock()
		defer mu.Unlock()
		if len(data) == 0 {
			return nil, 0
		}
		n := pieceOf(data)
		piece, data = data[:n], data[n:]
		list = append(list, object.Entry{Name: fmt.Sprintf("%08d", len(list)), Mode: object.Regular})
		return piece, len(list) - 1
	}
	parallel.Run(min(runtime.GOMAXPROCS(0), len(data)/minPiece), func() {
		for piece, at := next(); piece != nil; piece, at = next() {
			id, err := batch.Add(object.Blob, piece)
			mu.Lock()
			list[at].ID, failed = id, errors.Join(failed, err)
			mu.Unlock()
		}
	})
	return list, failed
}

const (
	minPiece  = 16 << 10
	maxPiece  = 256 << 10
	pieceMask = 1<<16 - 1 // a piece has 80 KiB on average
)

// pieceOf returns the length of the first piece. A rolling hash of the contents decides where a piece
// ends, so an insertion changes one or two pieces.
func pieceOf(data []byte) int {
	hash := uint64(0)
	for i, c := range data[:min(len(data), maxPiece)] {
		hash = hash<<1 + gear[c]
		if i >= minPiece && hash>>40&pieceMask == 0 {
			return i + 1
		}
	}
	return min(len(data), maxPiece)
}

// gear gives each byte a random number, the same on every machine (SplitMix64).
var gear = func() (table [256]uint64) {
	x := uint64(0)
	for i := range table {
		x += 0x9e3779b97f4a7c15
		z := (x ^ x>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		table[i] = z ^ z>>31
	}
	return table
}()

// GitRecord returns the parts of a record. The error wraps ErrNotFound if the store has no such
// record: the checkpoint that names it came from another machine, or a purge has removed it.
func (r *Store) GitRecord(id object.ID) (map[string][]byte, error) {
	ok, err := r.DB.Has(id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, state.NotFound("the state of git at that time is not in this store")
	}
	parts := make(map[string][]byte)
	return parts, r.gitParts(id, "", parts)
}

func (r *Store) gitParts(tree object.ID, prefix string, parts map[string][]byte) error {
	entries, err := r.ReadTree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name, pieces := strings.CutSuffix(e.Name, piecesSuffix); {
		case e.Mode == object.Dir && pieces:
			parts[prefix+name], err = r.pieces(e.ID)
		case e.Mode == object.Dir:
			err = r.gitParts(e.ID, prefix+e.Name+"/", parts)
		default:
			_, parts[prefix+e.Name], err = r.DB.Read(e.ID)
		}
		if err != nil {
			return fmt.Errorf("state of git, %s%s: %w", prefix, e.Name, err)
		}
	}
	return nil
}

func (r *Store) pieces(tree object.ID) ([]byte, error) {
	entries, err := r.ReadTree(tree)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	for _, e := range entries {
		_, data, err := r.DB.Read(e.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return slices.Concat(all...), nil
}

// GitRecordOf returns the id of the record that a checkpoint names, zero for none.
func GitRecordOf(c *Checkpoint) (object.ID, error) {
	m, err := MetadataOf(c)
	if err != nil || m.Git == "" {
		return object.ID{}, err
	}
	return object.ParseID(m.Git)
}
