package system

// Usage is what a contender's processes cost. PeakBytes is 0 where the system does
// not tell.
type Usage struct {
	CPUSeconds float64
	PeakBytes  int64
}

// FileID names a file of this machine, whatever names it has.
type FileID struct{ Device, Inode uint64 }

// Floors are the best times that the machine allows. A contender that examines every file cannot be
// faster than the bare walk. A contender that stores every byte under its SHA-1 in zlib form has to
// read, hash and compress.

// Walked is what a bare walk saw.
type Walked struct {
	Dirs, Files int64
}
