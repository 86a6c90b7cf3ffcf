package wording

import (
	"fmt"
	"strings"
)

// The lines about a way back that every door shows beside its lists. Each is one fact.

// listedPaths is how many paths such a line names.
const listedPaths = 5

// Listed is a line that ends in paths: the first ones, and how many there are besides.
func Listed(what string, paths []string, quote func(string) string) string {
	names := make([]string, 0, listedPaths)
	for _, path := range paths[:min(len(paths), listedPaths)] {
		names = append(names, quote(path))
	}
	text := what + ": " + strings.Join(names, ", ")
	if more := len(paths) - listedPaths; more > 0 {
		text += ", and " + Count(more, "other path")
	}
	return text
}

// MergedLine names paths that hold later changes, too.
func MergedLine(paths []string, quote func(string) string) string {
	return Listed("written since as well, so both changes were merged", paths, quote)
}

// MergedHereLine is MergedLine for a merge of another directory.
func MergedHereLine(paths []string, quote func(string) string) string {
	return Listed("changed here as well, so both changes were merged", paths, quote)
}

// WithheldLine names files that the superuser has brought back without bits that would let every user act for
// their owners.
func WithheldLine(paths []string, quote func(string) string) string {
	return Listed("brought back without setuid and setgid bits, because of other users' rights in the directory", paths, quote)
}

// UnnamedLine names paths that changed while edit tools ran, and that no tool had named.
func UnnamedLine(paths []string, quote func(string) string) string {
	return Listed("changed while an edit tool ran that did not name them, so they may be yours, and went along", paths, quote)
}

// MissedLine counts the steps of a session that no checkpoint holds.
func MissedLine(n int, why string) string {
	return fmt.Sprintf("%s of this session could not be captured and cannot be taken back, the latest because: %s", Count(n, "step"), why)
}

// LeftLine names paths that a way back leaves, for a reason.
func LeftLine(reason string, paths []string, quote func(string) string) string {
	return Listed("not taken back, "+reason, paths, quote)
}

// SavedOutsideLine names paths outside the root that a way back leaves, or that a plan would leave, and could
// take back.
func SavedOutsideLine(paths []string, planned bool, quote func(string) string) string {
	way := "redo, then undo with --outside takes"
	if planned {
		way = "--outside takes"
	}
	return Listed("saved before they were changed outside this directory, so "+way+" them back, too", paths, quote)
}
