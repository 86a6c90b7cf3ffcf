package gitrestore

import "testing"

// TestStashText: the number of stashes that come back and go is right, with the noun that fits it.
func TestStashText(t *testing.T) {
	t.Parallel()
	list := func(ids string) (stashes []Stash) {
		for _, id := range ids {
			stashes = append(stashes, Stash{ID: string(id)})
		}
		return stashes
	}
	for _, c := range []struct{ now, want, text string }{
		{"", "a", "bring back 1 stash"},
		{"a", "ba", "bring back 1 stash"},
		{"", "abc", "bring back 3 stashes"},
		{"a", "", "drop 1 stash"},
		{"ab", "", "drop 2 stashes"},
		{"ab", "b", "drop 1 of 2 stashes"},
		{"abc", "b", "drop 2 of 3 stashes"},
		{"aa", "a", "drop 1 of 2 stashes"},
		{"a", "b", "bring back 1 stash and drop 1 stash"},
		{"ab", "cdb", "bring back 2 stashes and drop 1 stash"},
		{"ab", "ba", "put the list of stashes in order"},
		{"a", "a", "put the list of stashes in order"},
	} {
		if got := stashText(list(c.now), list(c.want)); got != c.text {
			t.Errorf("from %q to %q: %q, want %q", c.now, c.want, got, c.text)
		}
	}
}
