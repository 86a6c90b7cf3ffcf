package purge

import (
	"context"
	"maps"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

func TestMain(m *testing.M) {
	gittest.Prepare()
	m.Run()
}

type files = map[string]string

// written is a store of literal states, whose history a test rewrites.
type written struct {
	*Rewriter
	testing.TB
}

func newWritten(t testing.TB) *written {
	t.Helper()
	store := statetest.NewStore(t)
	around, err := capture.UserRepo(store.Root)
	if err != nil {
		t.Fatal(err)
	}
	return &written{&Rewriter{Capturer: capture.New(store, around)}, t}
}

func (w *written) track(f files) *history.Checkpoint {
	w.Helper()
	return statetest.Track(w, w.Store, statetest.NewState(w, w.Store, f))
}

func (w *written) purge(paths ...string) *PurgeResult {
	w.Helper()
	got, err := w.Purge(context.Background(), paths)
	if err != nil {
		w.Fatalf("purge: %v", err)
	}
	gittest.NewOracle(w).Fsck(w.DB.Dir())
	return got
}

func (w *written) wantContents(spec string, want files) {
	w.Helper()
	if got := statetest.Contents(w, w.Store, spec); !maps.Equal(got, want) {
		w.Errorf("%.12s holds %q, want %q", spec, got, want)
	}
}

// skipped returns the paths that a checkpoint lists as purged, with their sizes.
func (w *written) skipped(spec string) map[string]int64 {
	w.Helper()
	c, err := w.Lookup(context.Background(), spec)
	if err != nil {
		w.Fatal(err)
	}
	list, err := c.Skipped()
	if err != nil {
		w.Fatal(err)
	}
	sizes := make(map[string]int64)
	for _, s := range list {
		if s.Reason != state.Purged {
			w.Errorf("%.12s lists %+v", spec, s)
		}
		sizes[string(s.Path)] = s.Size
	}
	return sizes
}

// purged lists the purged paths.
func (w *written) purged() []string {
	w.Helper()
	list, err := w.PurgedPaths()
	if err != nil {
		w.Fatal(err)
	}
	return list
}

// holds reports whether the store has a blob with a content.
func (w *written) holds(content string) bool {
	w.Helper()
	ok, err := w.DB.Has(object.Sum(object.Blob, []byte(content)))
	if err != nil {
		w.Fatal(err)
	}
	return ok
}
