package cairn

// doctor checks and mends one store.
type doctor struct {
	*rewriter
}
