package history

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// replay is the plain way to find what can be taken back: all operations, oldest
// first, on two stacks.
func replay(ops []*Operation) (done, undone []*Operation) {
	for _, op := range ops {
		switch op.Kind {
		case "undo":
			done, undone = stackWithout(done, op), append(undone, op)
		case "redo":
			done, undone = append(done, op), stackWithout(undone, op)
		default:
			done, undone = append(done, op), nil
		}
	}
	return done, undone
}

func stackWithout(stack []*Operation, by *Operation) []*Operation {
	if len(stack) == 0 {
		return nil
	}
	last := stack[len(stack)-1]
	stack = slices.Clone(stack[:len(stack)-1])
	if len(by.scope) == 0 {
		return stack
	}
	rest := *last
	rest.Paths = slices.DeleteFunc(slices.Clone(last.Paths), state.NewPathScope(by.scope).Covers)
	if len(rest.Paths) == 0 {
		return stack
	}
	return append(stack, &rest)
}

func newestFirstOf(ops []*Operation) iter.Seq2[*Operation, error] {
	return func(yield func(*Operation, error) bool) {
		for _, op := range slices.Backward(ops) {
			if !yield(op, nil) {
				return
			}
		}
	}
}

// Random histories, also such as no command would make, with undos of single paths.
func TestLatestIsWhatAReplayFinds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 7))
	kinds := []string{"restore", "revert", "undo", "undo", "undo", "redo", "redo"}
	paths := []string{"a", "b", "c"}
	for range 20_000 {
		var ops []*Operation
		for i := range random.IntN(12) {
			op := &Operation{ID: string(rune('A' + i)), Kind: kinds[random.IntN(len(kinds))], Paths: slices.Clone(paths[:1+random.IntN(3)])}
			if random.IntN(2) == 0 && (op.Kind == "undo" || op.Kind == "redo") {
				op.scope = []string{paths[random.IntN(3)]}
			}
			ops = append(ops, op)
		}
		done, undone := replay(ops)
		for kind, stack := range map[string][]*Operation{"undo": done, "redo": undone} {
			got, err := Latest(kind, newestFirstOf(ops))
			if err != nil {
				t.Fatal(err)
			}
			var want *Operation
			if len(stack) > 0 {
				want = stack[len(stack)-1]
			}
			if (got == nil) != (want == nil) || got != nil && (got.ID != want.ID || !slices.Equal(got.Paths, want.Paths)) {
				t.Fatalf("%s: %+v, want %+v, of %d operations", kind, got, want, len(ops))
			}
		}
	}
}

// Older operations are not read.
func TestLatestReadsNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	ops := []*Operation{{Kind: "restore"}, {Kind: "restore"}, {Kind: "undo"}, {Kind: "redo"}}
	read := 0
	_, err := Latest("undo", func(yield func(*Operation, error) bool) {
		for _, op := range slices.Backward(ops) {
			read++
			if !yield(op, nil) {
				return
			}
		}
	})
	if err != nil || read != 1 {
		t.Errorf("%d operations read, want 1 (%v)", read, err)
	}
}

// TestLatestOfNamedOperations: an undo takes back the operation that it names, which need not be the
// last one, and its redo brings that back.
func TestLatestOfNamedOperations(t *testing.T) {
	t.Parallel()
	restore, revert := &Operation{ID: "restore", Kind: "restore"}, &Operation{ID: "revert", Kind: "revert"}
	undo := &Operation{ID: "undo", Kind: "undo", Undoes: "restore"}
	redo := &Operation{ID: "redo", Kind: "redo", Undoes: "undo"}
	again := &Operation{ID: "again", Kind: "undo", Undoes: "redo"}
	for _, c := range []struct {
		ops        []*Operation
		undo, redo *Operation
	}{
		{[]*Operation{restore, revert}, revert, nil},
		{[]*Operation{restore, revert, undo}, revert, undo},
		{[]*Operation{restore, undo, revert}, revert, nil},
		{[]*Operation{restore, revert, undo, redo}, redo, nil},
		{[]*Operation{restore, revert, undo, redo, again}, revert, again},
	} {
		for kind, want := range map[string]*Operation{"undo": c.undo, "redo": c.redo} {
			if got, err := Latest(kind, newestFirstOf(c.ops)); err != nil || got != want {
				t.Errorf("%s of %d operations: %+v, %v, want %+v", kind, len(c.ops), got, err, want)
			}
		}
	}
}
