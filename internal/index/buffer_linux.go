package index

import "golang.org/x/sys/unix"

// hugePage is the usual size of one; no harm is done where it is another.
const hugePage = 2 << 20

// newBuffer returns n zero bytes. Most processes load an index once, into memory
// that the kernel first has to map and clear page by page: for the 6 MB of 80,000
// files that took 2 ms of 3.3 ms, in huge pages 0.2 ms.
func newBuffer(n int) []byte {
	buf := make([]byte, n)
	if n >= hugePage {
		// The advice is for whole pages, on which large allocations begin. It may
		// be refused.
		whole := n &^ (unix.Getpagesize() - 1)
		_ = unix.Madvise(buf[:whole], unix.MADV_HUGEPAGE)
	}
	return buf
}
