package best

import (
	"cmp"
	"slices"
)

// rank orders attempts: first those whose command ended with 0 and whose test passed, then those whose test
// passed, then the others. Among equals an attempt that changed nothing is last, and fewer changed paths,
// then fewer changed lines are better.
func rank(list []Attempt) {
	slices.SortStableFunc(list, func(a, b Attempt) int {
		return cmp.Or(
			cmp.Compare(class(&a), class(&b)),
			cmp.Compare(idle(&a), idle(&b)),
			cmp.Compare(a.Files, b.Files),
			cmp.Compare(a.Additions+a.Deletions, b.Additions+b.Deletions),
			cmp.Compare(a.Number, b.Number),
		)
	})
}

func class(a *Attempt) int {
	switch {
	case a.Good():
		return 0
	case a.Error != "":
		return 3
	case a.Test != nil && a.Test.Passed():
		return 1
	}
	return 2
}

// idle is 1 for an attempt that changed nothing.
func idle(a *Attempt) int {
	if a.Files == 0 {
		return 1
	}
	return 0
}
