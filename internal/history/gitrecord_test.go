package history_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// TestLargePart: a part of many pieces has one id, whichever goroutine adds which piece, and reads
// back as it was; a part below the largest piece is one blob.
func TestLargePart(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	parts := map[string][]byte{
		"index": gittest.Prose(1, 3<<20), "below/index": gittest.Prose(2, 1<<20), "edge": gittest.Prose(3, 256<<10), "empty": {},
	}
	add := func() object.ID {
		batch := f.DB.NewBatch()
		defer batch.Discard()
		id, err := history.AddGitRecord(batch, parts)
		if n := batch.Len(); n > 0 && n < 24 {
			t.Errorf("%d objects of 4 MiB", n)
		}
		if err == nil {
			err = batch.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	id := add()
	got, err := f.GitRecord(id)
	if err != nil || len(got) != len(parts) {
		t.Fatalf("%d parts, %v", len(got), err)
	}
	for name, want := range parts {
		if !bytes.Equal(got[name], want) {
			t.Errorf("part %s: %d bytes, want %d", name, len(got[name]), len(want))
		}
	}
	for range 3 {
		if again := add(); again != id {
			t.Errorf("tree %s, then %s", id, again)
		}
	}
}

// TestPieceFails: an error of one piece fails the part.
func TestPieceFails(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	batch := f.DB.NewBatch()
	full := errors.New("no room")
	batch.Limit(func(int64) error { return full })
	defer batch.Discard()
	_, err := history.AddGitRecord(batch, map[string][]byte{"index": gittest.Prose(1, 12<<20)})
	if err == nil {
		err = batch.Commit()
	}
	if !errors.Is(err, full) {
		t.Errorf("a batch without room takes a part: %v", err)
	}
}
