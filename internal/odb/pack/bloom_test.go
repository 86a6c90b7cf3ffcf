package pack

import (
	"fmt"
	"testing"
)

func TestIDFilter(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 3, 4, 5, 1000, 5000} {
		f := newBloom(n)
		for i := range n {
			id := blobID(fmt.Sprint("there ", i))
			f.add(id[:])
		}
		wrong := 0
		for i := range max(n, 100) {
			if i < n && !f.mayHave(blobID(fmt.Sprint("there ", i))) {
				t.Errorf("%d ids: number %d is denied", n, i)
			}
			if f.mayHave(blobID(fmt.Sprint("absent ", i))) {
				wrong++
			}
		}
		if wrong > 2+max(n, 100)/50 {
			t.Errorf("%d ids: %d of %d others are not ruled out", n, wrong, max(n, 100))
		}
	}
}
