package gitrestore

import (
	"fmt"
	"slices"
	"strings"
)

const stashRef = "refs/stash"

// Stash is an entry of the list of stashes.
type Stash struct{ ID, Message string }

// Stashes reads a reflog of refs/stash, newest first.
func Stashes(log []byte) (list []Stash) {
	for line := range strings.Lines(string(log)) {
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.SplitN(head, " ", 3); len(fields) == 3 {
			list = append(list, Stash{fields[1], message})
		}
	}
	slices.Reverse(list)
	return list
}

// stashLog is the inverse of Stashes, as far as a plan needs it.
func stashLog(list []Stash) []byte {
	var b []byte
	for _, s := range slices.Backward(list) {
		b = fmt.Appendf(b, "0 %s cairn\t%s\n", s.ID, s.Message)
	}
	return b
}

func hasStash(list []Stash, s Stash) bool {
	return slices.ContainsFunc(list, func(o Stash) bool { return o.ID == s.ID })
}

func sameStashes(a, b []Stash) bool {
	return slices.EqualFunc(a, b, func(x, y Stash) bool { return x.ID == y.ID })
}
