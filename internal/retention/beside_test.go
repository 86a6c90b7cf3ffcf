package retention

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// recorded adds a checkpoint with a record to the session, some time ago, after some parents.
func (f *aged) recorded(ago time.Duration, content string, parents ...string) string {
	f.Helper()
	f.time = noon.Add(-ago)
	defer func() { f.time = noon }()
	s := statetest.NewState(f, f.Store, map[string]string{"a": content})
	meta, err := s.Meta.Encode()
	if err != nil {
		f.Fatal(err)
	}
	q := history.CommitRequest{
		Tree: s.Tree, Meta: meta, When: f.time, Message: "m",
		Extra: []object.Header{{Key: history.LineHeader, Value: `{"v":1}`}},
	}
	for _, p := range parents {
		q.Parents = append(q.Parents, f.id(p))
	}
	batch := f.DB.NewBatch()
	defer batch.Discard()
	id, err := history.AddCommit(batch, q)
	if err = errors.Join(err, batch.Commit(odb.RefUpdate{Name: session, ID: id})); err != nil {
		f.Fatal(err)
	}
	return id.String()
}

// resumedLine is a session that was resumed here again and again, while it went on elsewhere: steps has its
// checkpoints in order, beside those that were the newest here at the next resume.
func (f *aged) resumedLine(rounds int, every time.Duration) (steps, beside []string) {
	f.Helper()
	for i := range rounds {
		ago := time.Duration(rounds-i) * every
		var after []string
		if i > 0 {
			after = []string{steps[len(steps)-1]}
		}
		content := fmt.Sprint("content ", i)
		steps = append(steps, f.recorded(ago, content, after...))
		after = []string{steps[len(steps)-1]}
		if i > 0 {
			after = append(after, beside[i-1])
		}
		beside = append(beside, f.recorded(ago-time.Minute, content, after...))
	}
	return steps, beside
}

// A line that has what it held before as further parents loses its oldest part like any other, once.
func TestCleanLineWithParentsBeside(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	steps, beside := f.resumedLine(8, time.Hour)
	got := f.clean(CleanOptions{Retention: settings.Retention{KeepLast: 1, MaxCount: 6}, Thorough: true})
	if got.Checkpoints != 10 || got.Kept != 6 {
		t.Errorf("cleaned %+v", got)
	}
	f.wantOnly(steps, 5, 6, 7)
	f.wantOnly(beside, 4, 5, 6, 7) // the fifth is a parent of the sixth, and has none here
	if again := f.clean(CleanOptions{Retention: settings.Retention{KeepLast: 1, MaxCount: 6}}); again.Checkpoints != 0 || len(again.Shortened) > 0 {
		t.Errorf("cleaned again: %+v", again)
	}
	if f.clean(CleanOptions{Retention: settings.Retention{KeepLast: 1}}); !f.has(beside[7]) {
		t.Error("the newest checkpoint has gone")
	}
}

// Such a line is thinned like any other. Checkpoints beside it keep their states, as the target of a revert does.
func TestThinLineWithParentsBeside(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	steps, beside := f.resumedLine(40, 6*time.Hour)
	for range 3 {
		f.clean(thinning())
	}
	if kept := f.kept(steps); len(kept) != 31 || len(f.kept(beside)) != 40 {
		t.Errorf("checkpoints %v of 40 are left, and beside them %v", kept, f.kept(beside))
	}
	f.Store.Now = func() time.Time { return noon.Add(100 * day) }
	f.clean(CleanOptions{Retention: settings.Retention{KeepLast: 1, MaxAge: day}})
	if !f.has(beside[39]) {
		t.Error("the newest checkpoint has gone")
	}
}
