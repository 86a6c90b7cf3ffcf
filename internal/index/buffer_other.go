//go:build !linux

package index

func newBuffer(n int) []byte { return make([]byte, n) }
