package linediff

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestPartsAreAPatch has the parts of random texts applied by the test's own patch program: they
// are the difference, and no two show the same line.
func TestPartsAreAPatch(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		a := numberLines(randomNumbers(r))
		b := mutant(r, a)
		for _, context := range []int{0, -1, 1, 100} {
			var patch []byte
			end := 0
			for _, p := range Parts(a, b, Options{Context: context}) {
				if p.Shown.A0 < end {
					t.Fatalf("%q to %q, context %d: line %d is shown twice", a, b, context, p.Shown.A0)
				}
				end = p.Shown.A1
				patch = append(append(append(patch, p.Header...), '\n'), p.Text...)
			}
			if got, err := patched(a, patch); err != nil || !bytes.Equal(got, b) {
				t.Fatalf("%q to %q, context %d: %v, %q\n%s", a, b, context, err, got, patch)
			}
		}
	}
}

func randomNumbers(r *rand.Rand) []int {
	numbers := make([]int, r.IntN(40))
	for i := range numbers {
		numbers[i] = r.IntN(12)
	}
	return numbers
}

// TestPartsFarApart prints the hunks of WriteUnified where no two edits are near.
func TestPartsFarApart(t *testing.T) {
	t.Parallel()
	a := []byte("func f() {\n" + numbered("", 1, 30))
	b := bytes.Replace(bytes.Replace(a, []byte("5\n"), []byte("five\n"), 1), []byte("20\n"), nil, 1)
	var want bytes.Buffer
	if _, err := WriteUnified(&want, a, b, Options{}); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for _, p := range Parts(a, b, Options{}) {
		got = append(append(append(got, p.Header...), '\n'), p.Text...)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("got\n%swant\n%s", got, want.Bytes())
	}
}
