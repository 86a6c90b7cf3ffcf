package signature

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Rewritings is the name of the list about purges and repairs. No line has it.
const Rewritings = "rewritings"

// Limits of a list. The oldest entries beyond maxEntries go; MaxSize is in bytes.
const (
	maxEntries = 200
	MaxSize    = 64 << 20
)

// Ref returns the ref of the list about a line, which is named below refs/cairn/.
func Ref(line string) string { return history.RefSignatures + line }

// Signable reports whether heads of a line are signed: the lines of this store that grow.
func Signable(ref string) bool {
	return strings.HasPrefix(ref, history.RefSessions) || strings.HasPrefix(ref, history.RefTracks) || ref == history.RefOperations
}

// Read returns the list of a line, the oldest first.
func Read(s *history.Store, line string) ([]Entry, error) {
	id, err := s.DB.Ref(Ref(line))
	if errors.Is(err, odb.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("signatures of %s: %w", line, err)
	}
	kind, size, err := s.DB.Stat(id)
	if err == nil && (kind != object.Blob || size > MaxSize) {
		err = fmt.Errorf("%w: %s of %d bytes", state.ErrCorrupt, kind, size)
	}
	var data []byte
	if err == nil {
		_, data, err = s.DB.Read(id)
	}
	var list []Entry
	if err == nil {
		list, err = Decode(data)
	}
	if err != nil {
		return nil, fmt.Errorf("signatures of %s: %w", line, err)
	}
	return list, nil
}

// Decode reads a list.
func Decode(data []byte) ([]Entry, error) {
	var list []Entry
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	for dec.More() {
		var e Entry
		if err := dec.Decode(&e); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// next begins the statement that follows a list.
func next(list []Entry) (*Statement, error) {
	if len(list) == 0 {
		return &Statement{Number: 1, Previous: "-"}, nil
	}
	last := &list[len(list)-1]
	s, err := Parse(last.Text)
	if err != nil {
		return nil, err
	}
	return &Statement{Number: s.Number + 1, Previous: last.Hash()}, nil
}

// grown is a list that a batch is to hold.
type grown struct {
	line string
	list []Entry
}

// add puts lists into the store, all in one change. The caller holds the lock.
func add(s *history.Store, lists []grown) error {
	batch := s.DB.NewBatch()
	defer batch.Discard()
	var refs []odb.RefUpdate
	for _, g := range lists {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		for _, e := range g.list[max(0, len(g.list)-maxEntries):] {
			if err := enc.Encode(e); err != nil {
				return err
			}
		}
		id, err := batch.Add(object.Blob, text.Bytes())
		if err != nil {
			return err
		}
		refs = append(refs, odb.RefUpdate{Name: Ref(g.line), ID: id})
	}
	return batch.Commit(refs...)
}

// Drop removes the list of a line that is gone for good. The caller holds the lock.
func Drop(s *history.Store, line string) error {
	return s.DB.DropRef(Ref(line))
}

// signer signs with the key that the options name.
type signer func(ctx context.Context, text string) (string, error)
