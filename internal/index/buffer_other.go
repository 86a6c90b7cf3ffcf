//go:build !linux

package index

// newBuffer returns n zero bytes.
func newBuffer(n int) []byte { return make([]byte, n) }
