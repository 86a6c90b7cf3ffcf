package index_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// history writes a base and a delta of several records, of all that a record can
// hold. states and ends tell what each record leads to and where it ends.
type history struct {
	files       index.File
	base, delta []byte
	states      []state
	ends        []int
}

func newHistory(t *testing.T) history {
	t.Helper()
	h := history{files: files(t)}
	x := sample()
	x.SetPrivate([]string{"p"}, []byte("aux"))
	save(t, x, h.files)
	h.base = read(t, h.files.Base)
	h.states, h.ends = []state{stateOf(x)}, []int{0}
	for i, edit := range []func(){
		func() { x.Put(dir("c", "i", "j")) },
		func() { x.Remove("a"); x.SetPrivate([]string{"p", "q"}, nil) },
		func() { x.Put(dir("a", "again", "more")); x.Put(dir("", "a/", "c/", "z/")); x.Remove("z") },
	} {
		edit()
		x.SetPrivate(x.Packs, fmt.Append(x.Aux, i))
		save(t, x, h.files)
		h.states, h.ends = append(h.states, stateOf(x)), append(h.ends, len(read(t, h.files.Delta)))
	}
	h.delta = read(t, h.files.Delta)
	return h
}

// at is the state after the records that end within the first n bytes.
func (h *history) at(n int) state {
	last := 0
	for i, end := range h.ends {
		if end <= n {
			last = i
		}
	}
	return h.states[last]
}

// goesOn saves once more and fails unless that can be loaded again.
func (h *history) goesOn(t *testing.T) {
	t.Helper()
	x := load(t, h.files)
	x.Put(dir("c", "after the crash"))
	save(t, x, h.files)
	wantState(t, h.files, stateOf(x))
}

// TestTornDelta cuts the delta at every byte, as a crash in the middle of a save
// does, and puts what a file system may show there instead behind the cut.
func TestTornDelta(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	rng := rand.New(rand.NewPCG(5, 5))
	for n := 0; n <= len(h.delta); n += gittest.Step() {
		garbage := make([]byte, len(h.delta)-n)
		for i := range garbage {
			garbage[i] = byte(rng.Uint32())
		}
		for name, tail := range map[string][]byte{
			"cut": nil, "zeros": make([]byte, len(h.delta)-n), "more zeros": make([]byte, 1000), "garbage": garbage,
			"older bytes": h.delta[:len(h.delta)-n],
		} {
			torn := append(h.delta[:n:n], tail...)
			want := h.at(firstDifference(torn, h.delta)) // zeros may stand for zeros
			write(t, h.files.Delta, torn)
			if diff := want.diff(stateOf(load(t, h.files))); diff != "" {
				t.Fatalf("%s after %d bytes:\n%s", name, n, diff)
			}
			if name == "cut" || name == "older bytes" {
				h.goesOn(t)
			}
			if name == "more zeros" {
				h.goesOn(t)
				if size := int(stat(t, h.files.Delta).Size()); size >= len(torn) {
					t.Fatalf("the torn tail is still there: %d bytes, were %d", size, len(torn))
				}
			}
		}
	}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestDamagedDelta changes every byte; the records before it still count.
func TestDamagedDelta(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for n := 0; n < len(h.delta); n += gittest.Step() {
		for _, flip := range []byte{0x01, 0x80} {
			damaged := []byte(string(h.delta))
			damaged[n] ^= flip
			write(t, h.files.Delta, damaged)
			if diff := h.at(n).diff(stateOf(load(t, h.files))); diff != "" {
				t.Fatalf("byte %d changed by %#x:\n%s", n, flip, diff)
			}
		}
		h.goesOn(t)
	}
}

// TestRecordsInOtherOrder: a record counts only behind those it was written behind.
func TestRecordsInOtherOrder(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	record := func(i int) string { return string(h.delta[max(16, h.ends[i-1]):h.ends[i]]) }
	head := string(h.delta[:16])
	for name, tc := range map[string]struct {
		delta string
		want  state
	}{
		"first missing":  {head + record(2) + record(3), h.states[0]},
		"second missing": {head + record(1) + record(3), h.states[1]},
		"twice":          {head + record(1) + record(1), h.states[1]},
		"swapped":        {head + record(2) + record(1), h.states[0]},
		"header twice":   {head + head + record(1), h.states[0]},
		"as it was":      {head + record(1) + record(2) + record(3), h.states[3]},
	} {
		write(t, h.files.Delta, []byte(tc.delta))
		if diff := tc.want.diff(stateOf(load(t, h.files))); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		h.goesOn(t)
	}
}

// TestDamagedBase changes every byte and cuts behind it; some it cuts before, and
// some it loses with all that follows.
func TestDamagedBase(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	damaged := map[string]string{
		"longer": string(h.base) + "x", "zeros": strings.Repeat("\x00", len(h.base)), "twice": string(h.base) + string(h.base),
		"delta": string(h.delta), "text": "not an index",
	}
	for n := 0; n < len(h.base); n += gittest.Step() {
		damaged[fmt.Sprintf("cut at %d", n)] = string(h.base[:n])
		if n%8 == 0 {
			damaged[fmt.Sprintf("cut before %d", n+1)] = string(h.base[n+1:])
			damaged[fmt.Sprintf("zeros from %d", n)] = string(h.base[:n]) + strings.Repeat("\x00", len(h.base)-n)
		}
		for _, flip := range []byte{0x01, 0x80} {
			changed := []byte(string(h.base))
			changed[n] ^= flip
			damaged[fmt.Sprintf("byte %d changed by %#x", n, flip)] = string(changed)
		}
	}
	for name, base := range damaged {
		if base == string(h.base) {
			continue // zeros in the place of zeros
		}
		write(t, h.files.Base, []byte(base))
		x, err := index.Load(h.files)
		if !errors.Is(err, index.ErrMalformed) || !strings.Contains(err.Error(), h.files.Base) {
			t.Fatalf("%s: %v, want ErrMalformed with the path", name, err)
		}
		if x == nil || x.Dirty() || len(x.Dirs) > 0 || x.Aux != nil || x.Packs != nil {
			t.Fatalf("%s: %+v, want an empty index", name, x)
		}
	}
	x, _ := index.Load(h.files)
	x.Put(dir("", "a"))
	save(t, x, h.files)
	wantState(t, h.files, stateOf(x))
}
