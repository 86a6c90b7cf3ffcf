package cairn

// rewriter rewrites the history of a store.
type rewriter struct {
	*capturer
}
