package blame_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/blame"
)

// BenchmarkOf blames a file of 5,000 lines with 500 changes, in memory.
func BenchmarkOf(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	lines := make([]string, 5000)
	for i := range lines {
		lines[i] = fmt.Sprintf("\tresult = append(result, value%d)\n", i)
	}
	var list []blame.Version
	var texts [][]byte
	for n := range 501 {
		for range 3 {
			lines[random.IntN(len(lines))] = fmt.Sprintf("\tchanged by %d: %d\n", n, random.IntN(1000))
		}
		text := strings.Join(lines, "")
		list, texts = append(list, blame.Version{Key: fmt.Sprint(n)}), append(texts, []byte(text))
	}
	for b.Loop() {
		if _, err := blame.Of(list, func(i int) ([]byte, error) { return texts[i], nil }, blame.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
