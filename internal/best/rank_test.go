package best

import (
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// TestRank: ties are broken by changed lines and then by number, an error is last.
func TestRank(t *testing.T) {
	t.Parallel()
	passed, failed := &cairn.TestResult{}, &cairn.TestResult{Status: 1}
	list := []Attempt{
		{Number: 1, Error: "e"},
		{Number: 2, Files: 1, Test: failed},
		{Number: 3, Files: 1, Additions: 5, Test: passed},
		{Number: 4, Files: 1, Additions: 1, Deletions: 1, Test: passed},
		{Number: 5, Files: 1, Additions: 2, Test: passed},
		{Number: 6, Test: passed},
		{Number: 7, Files: 9, Status: 1, Test: passed},
		{Number: 8, Files: 9, Test: passed},
	}
	rank(list)
	if got, want := order(&Result{Forks: list}), []int{4, 5, 3, 8, 6, 7, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

func order(res *Result) (numbers []int) {
	for i := range res.Forks {
		numbers = append(numbers, res.Forks[i].Number)
	}
	return numbers
}
