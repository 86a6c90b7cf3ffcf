package statetest

import (
	"encoding/json"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// AppendLine adds a checkpoint with a record to the line of a ref.
func AppendLine(t testing.TB, store *history.Store, ref string, s state.State, record json.RawMessage) *history.Checkpoint {
	t.Helper()
	meta, err := s.Meta.Encode()
	if err != nil {
		t.Fatal(err)
	}
	value, err := json.Marshal(history.LineRecord{Version: history.LineVersion, Record: record})
	if err != nil {
		t.Fatal(err)
	}
	var parents []object.ID
	tip, err := store.Tip(ref)
	if err != nil {
		t.Fatal(err)
	}
	if tip != nil {
		parents = []object.ID{history.IDOf(tip)}
	}
	batch := store.DB.NewBatch()
	defer batch.Discard()
	q := history.CommitRequest{
		Tree: s.Tree, Meta: meta, Message: "step", When: store.Now(), Parents: parents,
		Extra: []object.Header{{Key: history.LineHeader, Value: string(value)}},
	}
	id, err := history.AddCommit(batch, q)
	if err != nil {
		t.Fatal(err)
	}
	if err := batch.Commit(odb.RefUpdate{Name: ref, ID: id}); err != nil {
		t.Fatal(err)
	}
	c, err := store.ReadCheckpoint(id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
