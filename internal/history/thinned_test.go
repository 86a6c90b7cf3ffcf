package history_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// alike makes commits like one of a checkpoint until two ids begin alike, and returns those two.
func alike(t *testing.T, like []byte) (ids []object.ID, data map[object.ID][]byte) {
	t.Helper()
	c, err := object.ParseCommit(like)
	if err != nil {
		t.Fatal(err)
	}
	data, begins := make(map[object.ID][]byte), make(map[string]object.ID)
	for i := 0; ; i++ {
		c.Message = fmt.Sprintln(i)
		text, err := object.AppendCommit(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		id := object.Sum(object.Commit, text)
		data[id] = text
		if other, met := begins[id.String()[:history.MinPrefix]]; met {
			return []object.ID{other, id}, data
		}
		begins[id.String()[:history.MinPrefix]] = id
	}
}

// listThinned makes a list of thinned checkpoints, whose records name one another as nearest.
func (f *past) listThinned(ids []object.ID, data map[object.ID][]byte) {
	f.Helper()
	records := make(map[object.ID]*thinned.Record)
	for i, id := range ids {
		records[id] = &thinned.Record{At: 1e9, Rule: "hourly", Nearest: ids[(i+1)%len(ids)], Commit: data[id]}
	}
	batch := f.DB.NewBatch()
	defer batch.Discard()
	list, err := thinned.Add(batch, records, nil)
	if err == nil {
		err = batch.Commit()
	}
	if err == nil {
		err = errors.Join(f.DB.SetRef(thinned.Ref, list), f.DB.SetShallow(ids[:1]))
	}
	if err != nil {
		f.Fatal(err)
	}
}

// TestThinnedLookup: a prefix of two thinned checkpoints stands for neither, their tree for the newest, and records
// that lead in a circle end no look-up.
func TestThinnedLookup(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	c := f.track("1")
	id, err := object.ParseID(c.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, like, err := f.DB.Read(id)
	if err != nil {
		t.Fatal(err)
	}
	f.removeLines()
	ids, data := alike(t, like)
	f.listThinned(ids, data)
	_, err = f.Lookup(t.Context(), ids[0].String()[:history.MinPrefix])
	wantError(t, err, state.ErrAmbiguous)
	for _, id := range ids {
		_, err := f.Lookup(t.Context(), id.String())
		var gone *history.ThinnedError
		if !errors.As(err, &gone) || gone.ID != id.String() || gone.Nearest != "" {
			t.Errorf("%s: %v", id, err)
		}
	}
	_, err = f.Lookup(t.Context(), c.Hash[:8])
	wantError(t, err, history.ErrThinned)
}
