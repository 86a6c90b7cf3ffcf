package history_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// fetchedStores are two stores as a fetch leaves them. Each has two days; "beside" is a file of the second alone.
const firstStore, secondStore = "1111111111111111", "2222222222222222"

// day adds a line with one checkpoint to those of a fetched store, and returns its id.
func (f *past) day(store, name string, files map[string]string) string {
	f.Helper()
	c := statetest.Track(f, f.Store, statetest.NewState(f, f.Store, files))
	f.set(history.RefRemotes+store+"/"+name, history.IDOf(c))
	f.removeLines()
	return c.ID
}

func (f *past) set(ref string, id object.ID) {
	f.Helper()
	if err := f.DB.SetRef(ref, id); err != nil {
		f.Fatal(err)
	}
}

// logged lists what LogOf yields, as "id store" with "<id" of what it is compared with.
func (f *past) logged(opt history.LogOptions) (list []string, err error) {
	for c, err := range f.LogOf(f.Context(), opt) {
		if err != nil {
			return list, err
		}
		text := c.ID
		if from, ok := c.From(); ok {
			text += " " + from.Store
		}
		if before := c.ComparedWith(); before != "" {
			text += " <" + before
		}
		list = append(list, text)
	}
	return list, nil
}

// TestFetchedLog: checkpoints of other stores are listed in the order of time, each compared with what was before on
// its own disk. The own log has none of them, and theirs none of the own.
func TestFetchedLog(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	if got, err := f.logged(history.LogOptions{Fetched: true}); err != nil || len(got) > 0 {
		t.Errorf("without a fetch %q, %v", got, err)
	}
	one := f.day(firstStore, "tracks/2026-01-01", map[string]string{"a": "1"})
	two := f.day(secondStore, "tracks/2026-01-01", map[string]string{"a": "2", "beside": "2"})
	three := f.day(firstStore, "tracks/2026-01-02", map[string]string{"a": "3"})
	four := f.day(secondStore, "tracks/2026-01-02", map[string]string{"a": "4", "beside": "2"})
	imported := statetest.Track(f, f.Store, statetest.NewState(f, f.Store, map[string]string{"a": "5"}))
	f.removeLines()
	f.set(history.RefImported+imported.ID, history.IDOf(imported))
	f.set(history.RefRemotes+firstStore+"/pins/name", history.IDOf(imported)) // is on no line
	own := f.track("own")

	want := []string{
		imported.ID + " ", four + " " + secondStore + " <" + two, three + " " + firstStore + " <" + one, two + " " + secondStore, one + " " + firstStore,
	}
	if got, err := f.logged(history.LogOptions{Fetched: true}); err != nil || !slices.Equal(got, want) {
		t.Errorf("fetched %q, %v, want %q", got, err, want)
	}
	if got, err := f.logged(history.LogOptions{}); err != nil || !slices.Equal(got, []string{own.ID}) {
		t.Errorf("own %q, %v", got, err)
	}

	// A path is looked for on each disk alone: what two of them have in turns is no change of either.
	want = []string{two + " " + secondStore}
	if got, err := f.logged(history.LogOptions{Fetched: true, Paths: []string{"beside"}}); err != nil || !slices.Equal(got, want) {
		t.Errorf("of a path of one store %q, %v, want %q", got, err, want)
	}
	if _, err := f.logged(history.LogOptions{Fetched: true, Paths: []string{"never"}}); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("of a path that none had: %v", err)
	}
}

// TestFetchedLogOfALostCheckpoint: a line of another store that cannot be read further ends there. The rest is listed.
func TestFetchedLogOfALostCheckpoint(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	gone := f.track("1")
	kept := f.track("2")
	f.removeLines()
	f.set(history.RefRemotes+firstStore+"/tracks/2026-01-01", history.IDOf(kept))
	whole := f.day(secondStore, "tracks/2026-01-01", map[string]string{"a": "3"})
	batch := f.DB.NewBatch()
	defer batch.Discard()
	lost := object.Sum(object.Commit, []byte("lost"))
	s := statetest.NewState(t, f.Store, map[string]string{"a": "4"})
	meta, err := s.Meta.Encode()
	if err != nil {
		t.Fatal(err)
	}
	tip, err := history.AddCommit(batch, history.CommitRequest{Tree: s.Tree, Meta: meta, Message: "m", When: f.Now(), Parents: []object.ID{lost}})
	if err != nil {
		t.Fatal(err)
	}
	if err := batch.Commit(odb.RefUpdate{Name: history.RefRemotes + firstStore + "/tracks/2026-01-02", ID: tip}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.DB.Dir(), filepath.FromSlash(history.RefRemotes), firstStore, "tracks", "2026-01-03"), []byte("no id\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := f.logged(history.LogOptions{Fetched: true})
	for i := range got {
		got[i] = got[i][:len(gone.ID)]
	}
	want := []string{whole, kept.ID, gone.ID, tip.String()}
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("listed %q, %v, want %q", got, err, want)
	}
}

// TestFetchedLogStopsEarly: a caller that has enough ends the reading of all stores.
func TestFetchedLogStopsEarly(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	for i := range 3 {
		f.day(firstStore, fmt.Sprintf("tracks/2026-01-0%d", i+1), map[string]string{"a": fmt.Sprint(i)})
		f.day(secondStore, fmt.Sprintf("tracks/2026-01-0%d", i+1), map[string]string{"a": fmt.Sprint("b", i)})
	}
	n := 0
	for _, err := range f.LogOf(t.Context(), history.LogOptions{Fetched: true}) {
		if n++; err != nil || n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d were listed", n)
	}
}
