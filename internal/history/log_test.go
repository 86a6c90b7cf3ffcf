package history_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// TestInterruptedLog has a log whose context has ended say so every time, and never end as if the
// store had no checkpoint.
func TestInterruptedLog(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	f.track("1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 200 {
		var got error
		for _, err := range f.LogOf(ctx, history.LogOptions{}) {
			got = err
		}
		if !errors.Is(got, context.Canceled) {
			t.Fatalf("the log ended with %v", got)
		}
	}
}

// TestLogOfALostCheckpoint: where a checkpoint is lost behind one that was the first of its state, the log ends with an
// error.
func TestLogOfALostCheckpoint(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	batch := f.DB.NewBatch()
	defer batch.Discard()
	tip := object.Sum(object.Commit, []byte("lost"))
	for _, content := range []string{"1", "2"} {
		s := statetest.NewState(t, f.Store, map[string]string{"a": content})
		meta, err := s.Meta.Encode()
		if err != nil {
			t.Fatal(err)
		}
		tip, err = history.AddCommit(batch, history.CommitRequest{
			Tree: s.Tree, Meta: meta, Message: "step", When: f.Now(), Parents: []object.ID{tip},
			Extra: []object.Header{{Key: history.LineHeader, Value: `{"v":1}`}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Commit(odb.RefUpdate{Name: history.LineRef("s"), ID: tip}); err != nil {
		t.Fatal(err)
	}
	var got error
	for _, err := range f.LogOf(t.Context(), history.LogOptions{}) {
		got = err
	}
	wantError(t, got, odb.ErrNotFound)
}
