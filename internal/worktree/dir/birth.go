package dir

// Birth tells a directory from all others on a machine, also after a rename. An inode number is
// given again after a removal, but not together with the time of creation. A copy has another
// Birth.
type Birth struct {
	Ino  uint64 // number of the inode
	Time int64  // of creation, nanoseconds since 1970
}
