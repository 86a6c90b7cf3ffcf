package linediff

// DiffSequence compares two sequences, one element a line. Unlike Diff it pays no attention to
// indentation, which elements do not have: git compares words in this way.
func DiffSequence(a, b []byte) []Edit {
	ta, tb := cutTail(newText(a), newText(b))
	s := compare(ta, tb)
	s.slide(ta, tb, false)
	return s.list()
}
