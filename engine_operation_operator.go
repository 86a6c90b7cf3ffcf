package cairn

// operator carries out operations.
type operator struct {
	*capturer
}
