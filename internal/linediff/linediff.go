package linediff

import "bytes"

// binaryProbe is how much of a file git looks at to tell binary from text.
const binaryProbe = 8000

// Binary reports whether git would call the content binary: a NUL among its
// first 8,000 bytes.
func Binary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), binaryProbe)], 0) >= 0
}

// Edit says that lines [A0,A1) of the old text became lines [B0,B1) of the new
// one. Lines are numbered from 0; at most one of the two ranges is empty.
type Edit struct{ A0, A1, B0, B1 int }

// Stat counts changed lines; a modified line is one deleted and one added.
type Stat struct{ Added, Deleted int }

// Diff returns the edits that turn a into b, in order, placed where git diff
// prints them. Between two edits there is at least one common line.
func Diff(a, b []byte) []Edit {
	if bytes.Equal(a, b) {
		return nil
	}
	return placed(newText(a), newText(b)).list()
}

// placed compares two texts and puts the changes where git prints them.
func placed(a, b text) *script {
	s := compare(a, b)
	s.slide(a, b, true)
	return s
}

// Count returns what git diff --numstat counts.
func Count(a, b []byte) Stat {
	switch {
	case bytes.Equal(a, b):
		return Stat{}
	case len(a) == 0:
		return Stat{Added: lineCount(b)}
	case len(b) == 0:
		return Stat{Deleted: lineCount(a)}
	}
	return compare(newText(a), newText(b)).stat()
}
