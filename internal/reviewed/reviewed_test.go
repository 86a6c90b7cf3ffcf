package reviewed_test

import (
	"context"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	. "github.com/seed-fb9cbc17/cairn/internal/reviewed"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

func TestMain(m *testing.M) {
	gittest.Prepare()
	m.Run()
}

// book is a store with the sessions a and b.
type book struct {
	store *history.Store
	testing.TB
	tip *history.Checkpoint
}

func newBook(t *testing.T) *book {
	t.Helper()
	t.Parallel()
	store := statetest.NewStore(t)
	b := &book{store: store, TB: t}
	for _, id := range []string{"a", "b"} {
		s := statetest.NewState(t, store, map[string]string{"f": id})
		b.tip = statetest.Append(t, store, history.LineRef(id), s, history.StateLabel{})
	}
	return b
}

func (b *book) change(remove, add []Mark) {
	b.Helper()
	if err := Change(context.Background(), b.store, remove, add); err != nil {
		b.Fatal(err)
	}
}

func (b *book) want(want ...Mark) {
	b.Helper()
	again := statetest.Reopen(b, b.store)
	defer again.DB.Close()
	if got := Load(again); !slices.Equal(got, want) {
		b.Errorf("there are %v, want %v", got, want)
	}
}

func mark(session, path, hunk string) Mark {
	return Mark{Session: session, Turn: "1", Path: state.Path(path), Hunk: hunk}
}

// TestChange: a decision is there once, for every process, whatever bytes its path has.
func TestChange(t *testing.T) {
	b := newBook(t)
	b.want()
	one, two := mark("a", "x\xff\n", "0123"), mark("b", "y", "4567")
	b.change(nil, []Mark{one, two})
	b.change(nil, []Mark{one})
	b.want(two, one)
	b.change([]Mark{two}, nil)
	b.want(one)
	back := one
	back.Operation = "op"
	b.change(nil, []Mark{back})
	b.want(one, back)
}

// TestForget: the decisions about a session go with it, and those of another stay.
func TestForget(t *testing.T) {
	b := newBook(t)
	one, two := mark("a", "x", "0123"), mark("b", "x", "0123")
	b.change(nil, []Mark{one, two})
	if err := Forget(b.store, "a"); err != nil {
		t.Fatal(err)
	}
	b.want(two)
}

// TestForgetPaths: a purge takes the decisions about what lies below a path, too.
func TestForgetPaths(t *testing.T) {
	b := newBook(t)
	below, beside, turn := mark("a", "dir/x", "01"), mark("a", "dir2", "02"), mark("a", "", "")
	b.change(nil, []Mark{below, beside, turn})
	if err := ForgetPaths(b.store, []string{"dir"}); err != nil {
		t.Fatal(err)
	}
	b.want(beside, turn)
}

// TestCleanedAway: a change drops the decisions about what the store no longer has.
func TestCleanedAway(t *testing.T) {
	b := newBook(t)
	kept := Mark{Turn: b.tip.ID + "..", Path: "x", Hunk: "01"}
	lost := Mark{Turn: object.Sum(object.Blob, []byte("lost")).String() + "..", Path: "x", Hunk: "02"}
	damaged := Mark{Turn: "no ids", Path: "x", Hunk: "03"}
	b.change(nil, []Mark{mark("a", "x", "04"), mark("b", "x", "05"), kept, lost, damaged})
	if err := b.store.DB.DeleteRef(history.LineRef("a")); err != nil {
		t.Fatal(err)
	}
	b.change(nil, []Mark{mark("b", "y", "06")})
	b.want(mark("b", "x", "05"), kept, mark("b", "y", "06"))
}

// TestDamaged: a file that is no list counts as one without decisions, and is replaced.
func TestDamaged(t *testing.T) {
	b := newBook(t)
	if err := b.store.DB.WritePrivate(odb.PrivateReviewed, []byte("{")); err != nil {
		t.Fatal(err)
	}
	b.want()
	if err := Forget(b.store, "a"); err != nil {
		t.Fatal(err)
	}
	b.change(nil, []Mark{mark("a", "x", "01")})
	b.want(mark("a", "x", "01"))
}
