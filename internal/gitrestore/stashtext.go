package gitrestore

import "fmt"

// stashText describes how the list of stashes changes.
func stashText(now, want []Stash) string {
	back, gone := missing(want, now), missing(now, want)
	switch {
	case back == 0 && gone == 0:
		return "put the list of stashes in order"
	case gone == 0:
		return "bring back " + countStashes(back)
	case back > 0:
		return "bring back " + countStashes(back) + " and drop " + countStashes(gone)
	case len(want) == 0:
		return "drop " + countStashes(gone)
	}
	return fmt.Sprintf("drop %d of %d stashes", gone, len(now))
}

// missing counts the entries of a list that another one lacks.
func missing(list, other []Stash) (n int) {
	has := make(map[string]int)
	for _, s := range other {
		has[s.ID]++
	}
	for _, s := range list {
		if has[s.ID]--; has[s.ID] < 0 {
			n++
		}
	}
	return n
}

func countStashes(n int) string {
	if n == 1 {
		return "1 stash"
	}
	return fmt.Sprintf("%d stashes", n)
}
