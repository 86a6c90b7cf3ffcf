package cairn

// differ compares states of a store.
type differ struct {
	*store
}
