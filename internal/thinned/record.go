package thinned

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Record is one thinned commit.
type Record struct {
	At      int64     // when it was thinned, in seconds since 1970
	Rule    string    // the setting that kept another one in its place, as "hourly"
	Nearest object.ID // the checkpoint that was kept in its place; it may be thinned or gone by now
	End     bool      // its line ends here: its parents do not count
	Commit  []byte    // the commit, without the header of a loose object

	blob object.ID // that holds the record as it is; zero for a new one
}

// recordVersion is the version of the first line of a record.
const recordVersion = 1

// recordHead is the first line of a record, in JSON. The bytes of the commit follow it.
type recordHead struct {
	Version int    `json:"v"`
	At      int64  `json:"at"`
	Rule    string `json:"rule"`
	Nearest string `json:"nearest"`
	End     bool   `json:"end,omitempty"`
}

// encode returns the contents of the record's blob.
func (r *Record) encode() ([]byte, error) {
	head, err := json.Marshal(recordHead{recordVersion, r.At, r.Rule, r.Nearest.String(), r.End})
	if err != nil {
		return nil, err
	}
	return append(append(head, '\n'), r.Commit...), nil
}

// decode reads the record of a commit. The error wraps pack.ErrCorrupt for bytes of another commit.
func decode(id object.ID, data []byte) (*Record, error) {
	head, commit, _ := bytes.Cut(data, []byte("\n"))
	var h recordHead
	if err := json.Unmarshal(head, &h); err != nil {
		return nil, pack.Corrupt("record of thinned checkpoint %s: %w", id, err)
	}
	if h.Version != recordVersion {
		return nil, fmt.Errorf("record of thinned checkpoint %s has version %d (a later release of cairn wrote it)", id, h.Version)
	}
	if object.Sum(object.Commit, commit) != id {
		return nil, pack.Corrupt("record of thinned checkpoint %s holds another commit", id)
	}
	r := &Record{At: h.At, Rule: h.Rule, End: h.End, Commit: commit}
	if nearest, err := object.ParseID(h.Nearest); err == nil {
		r.Nearest = nearest
	}
	return r, nil
}

// Parent returns the commit before this one on its line, zero for the first one.
func (r *Record) Parent() object.ID {
	if r.End {
		return object.ID{}
	}
	c, err := object.ParseCommit(r.Commit)
	if err != nil || len(c.Parents) == 0 {
		return object.ID{}
	}
	return c.Parents[0]
}

// Ended returns the record of a commit at which its line ends, or no longer ends.
func (r *Record) Ended(end bool) *Record {
	if r.End == end {
		return r
	}
	with := *r
	with.End, with.blob = end, object.ID{}
	return &with
}

// With returns the record of a rewritten commit, with the checkpoint that was kept in its place.
func (r *Record) With(commit []byte, nearest object.ID) *Record {
	with := *r
	with.Commit, with.Nearest, with.blob = commit, nearest, object.ID{}
	return &with
}
