package odb

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// minPrefix is the shortest prefix of an id that is looked up, as in git.
const minPrefix = 4

// Prefix returns the ids that begin with the hexadecimal digits prefix, sorted, and at most limit
// of them unless limit is 0. It passes over packs that cannot be searched.
func (db *DB) Prefix(prefix string, limit int) ([]object.ID, error) {
	prefix = strings.ToLower(prefix)
	low, err := object.ParseID(prefix + strings.Repeat("0", max(0, 2*idSize-len(prefix))))
	if err != nil || len(prefix) < minPrefix {
		return nil, fmt.Errorf("%q is not the beginning of an object id: want %d to %d hexadecimal digits",
			prefix, minPrefix, 2*idSize)
	}
	for n := range maxSearches {
		if err := db.refresh(n > 0); err != nil {
			return nil, err
		}
		var ids []object.ID
		if ids, err = db.prefixOnce(prefix, low, limit); !errors.Is(err, pack.ErrGone) {
			return ids, err
		}
	}
	return nil, err
}

func (db *DB) prefixOnce(prefix string, low object.ID, limit int) ([]object.ID, error) {
	var ids []object.ID
	for _, p := range db.packs.Load().packs {
		found, err := p.Prefix(prefix, low, limit)
		if err != nil && !errors.Is(err, pack.ErrCorrupt) {
			return nil, err
		}
		ids = append(ids, found...)
	}
	if err := db.loosePrefix(prefix, func(id object.ID) { ids = append(ids, id) }); err != nil {
		return nil, fmt.Errorf("list loose objects: %w", err)
	}
	slices.SortFunc(ids, func(a, b object.ID) int { return bytes.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	if limit > 0 && len(ids) > limit {
		ids = ids[:limit]
	}
	return ids, nil
}
