package pack

const (
	// idxKept is the size of the largest index that is kept in memory after many searches: 290,000
	// objects.
	idxKept = 8 << 20

	// idxPerSearch is the size of an index for each search in its file after which it is read
	// whole. Reading and comparing 4 KiB costs about what a search in the file costs.
	idxPerSearch = 4 << 10
)

// searched counts a search in the file of an index. A long walk over the history, such as the log of a
// path among 10,000 checkpoints, searches for each object, and a fifth of its time would be reads of
// the index. So an index that has been searched often is read whole.
func (p *Pack) searched(x *Index) {
	if x.data != nil || x.size > idxKept || p.searches.Add(1) != x.size/idxPerSearch {
		return
	}
	whole, err := readIndex(x.src, x.size, true)
	if err != nil {
		return // the search in the file goes on, and finds what can be found
	}
	whole.src = nil
	p.idx.CompareAndSwap(x, whole)
}
