package blame

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// edited makes a text of lines that are all different, and one that differs from it in a few places.
func edited(r *rand.Rand) (a, b []byte) {
	var old, now []string
	for i := range r.IntN(60) {
		old = append(old, fmt.Sprint("line ", i))
	}
	now = slices.Clone(old)
	for i := range r.IntN(4) {
		at := r.IntN(len(now) + 1)
		now = slices.Replace(now, at, min(len(now), at+r.IntN(3)), fmt.Sprint("new ", i))
	}
	join := func(lines []string) []byte {
		var out bytes.Buffer
		for _, l := range lines {
			out.WriteString(l + "\n")
		}
		if r.IntN(4) == 0 {
			return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
		}
		return out.Bytes()
	}
	return join(old), join(now)
}

// TestDiffMiddle: the edits of the middle are those of the whole.
func TestDiffMiddle(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for range 5000 {
		a, b := edited(r)
		for _, margin := range []int{0, 1, 5} {
			got, want := diffMiddle(a, b, margin, linediff.Diff), linediff.Diff(a, b)
			if !slices.Equal(got, want) {
				t.Fatalf("margin %d: %v, not %v, for %q and %q", margin, got, want, a, b)
			}
		}
	}
	long := bytes.Repeat([]byte("0123456789abcde\n"), 1000)
	other := slices.Concat(long[:8000], []byte("x\n"), long[8000:])
	if got := diffMiddle(long, other, 2, linediff.Diff); len(got) != 1 || got[0].B1-got[0].B0 != 1 || got[0].A0 != 500 {
		t.Errorf("one line among equal ones is %v", got)
	}
}
