package retention

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

const day = 24 * time.Hour

// noon is the present of the tests, in the middle of a day.
var noon = time.Date(2026, time.March, 14, 12, 0, 0, 0, time.UTC)

// aged is a store whose checkpoints are as old as a test wants them.
type aged struct {
	*Cleaner
	testing.TB
	time time.Time
}

func newAged(t testing.TB) *aged { return agedOf(t, statetest.NewStore(t)) }

func agedOf(t testing.TB, store *history.Store) *aged {
	f := &aged{&Cleaner{Store: store, RenamePacks: func(_ *history.Locked, _, _ []string) error { return nil }}, t, noon}
	store.Now = func() time.Time { return f.time }
	f.RunClean = f.Clean
	return f
}

// reopened opens the store as another process does.
func (f *aged) reopened() *aged {
	f.Helper()
	store := statetest.Reopen(f, f.Store)
	f.Cleanup(func() { store.DB.Close() })
	return agedOf(f, store)
}

// trackAgo adds a checkpoint to the line of that day and returns its id.
func (f *aged) trackAgo(ago time.Duration, content string) string {
	f.Helper()
	f.time = noon.Add(-ago)
	defer func() { f.time = noon }()
	return f.append(f.Today(), content)
}

func (f *aged) append(ref, content string) string {
	f.Helper()
	s := statetest.NewState(f, f.Store, map[string]string{"a": content})
	return statetest.Append(f, f.Store, ref, s, history.StateLabel{Message: "m"}).ID
}

// operation adds an operation between two checkpoints.
func (f *aged) operation(ago time.Duration, before, after string) string {
	f.Helper()
	b, a := f.id(before), f.id(after)
	record := history.OperationRecord{Version: 1, Kind: "restore", At: noon.Add(-ago).UnixNano(), Before: before, After: after}
	text, err := json.Marshal(record)
	if err != nil {
		f.Fatal(err)
	}
	c, err := f.ReadCheckpoint(a)
	if err != nil {
		f.Fatal(err)
	}
	q := history.CommitRequest{
		Tree: history.TreeOf(c), Meta: history.CommitOf(c).Header(state.MetadataHeader), When: noon.Add(-ago), Message: "restore",
		Parents: []object.ID{b, a}, Extra: []object.Header{{Key: history.OperationHeader, Value: string(text)}},
	}
	if last, err := f.DB.Ref(history.RefOperations); err == nil {
		q.Parents = append([]object.ID{last}, q.Parents...)
	}
	batch := f.DB.NewBatch()
	defer batch.Discard()
	id, err := history.AddCommit(batch, q)
	if err := errors.Join(err, batch.Commit(), f.DB.SetRef(history.RefOperations, id)); err != nil {
		f.Fatal(err)
	}
	return id.String()
}

func (f *aged) id(text string) object.ID {
	f.Helper()
	id, err := object.ParseID(text)
	if err != nil {
		f.Fatal(err)
	}
	return id
}

// setRef makes a ref lead to a checkpoint.
func (f *aged) setRef(ref, id string) {
	f.Helper()
	if err := f.DB.SetRef(ref, f.id(id)); err != nil {
		f.Fatal(err)
	}
}

func (f *aged) clean(opt CleanOptions) *CleanResult {
	f.Helper()
	got, err := f.Clean(f.Context(), opt)
	if err != nil {
		f.Fatalf("clean: %v", err)
	}
	if got.Blocked != nil {
		f.Fatalf("clean: %v", got.Blocked)
	}
	f.sound()
	return got
}

// sound asks git whether the store is whole.
func (f *aged) sound() {
	f.Helper()
	o := gittest.NewOracle(f)
	o.Fsck(f.DB.Dir())
	o.In(f.DB.Dir(), "log", "--all", "--oneline")
}

func (f *aged) has(id string) bool {
	f.Helper()
	_, err := f.Lookup(f.Context(), id)
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		f.Fatal(err)
	}
	return err == nil
}

func (f *aged) wantOnly(all []string, live ...int) {
	f.Helper()
	for i, id := range all {
		if want := slices.Contains(live, i); f.has(id) != want {
			f.Errorf("checkpoint %d is there: %v, want %v", i, !want, want)
		}
	}
}
