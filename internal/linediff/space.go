package linediff

import "bytes"

// DiffIgnoringSpace is Diff for lines that are equal if they differ in blanks only, as git diff -w
// compares them.
func DiffIgnoringSpace(a, b []byte) []Edit {
	if bytes.Equal(a, b) {
		return nil
	}
	return placedIgnoringSpace(newText(a), newText(b)).list()
}

// CountIgnoringSpace is Count for lines that are equal if they differ in blanks only.
func CountIgnoringSpace(a, b []byte) Stat {
	return compare(newText(withoutSpace(a)), newText(withoutSpace(b))).stat()
}

// placedIgnoringSpace compares the lines without their blanks. The indentation of the lines
// themselves decides where a change is printed.
func placedIgnoringSpace(a, b text) *script {
	keyA, keyB := newText(withoutSpace(a.content)), newText(withoutSpace(b.content))
	s := compare(keyA, keyB)
	s.slideBy(a, b, keyA, keyB, true)
	return s
}

// withoutSpace removes the blanks from every line. Each line keeps an end, and the last one gets
// one: to git, the end of a line is a blank, too.
func withoutSpace(content []byte) []byte {
	out := make([]byte, 0, len(content)+1)
	for _, c := range content {
		if c == '\n' || !isSpace(c) {
			out = append(out, c)
		}
	}
	if n := len(content); n > 0 && content[n-1] != '\n' {
		out = append(out, '\n')
	}
	return out
}

// isSpace reports whether git takes a byte for a blank. Form feeds are none.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
