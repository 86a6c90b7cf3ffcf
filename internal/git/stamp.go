package git

// Stamp is the stat data of a path. Two states of a file or directory that a program has changed in
// between have different stamps, unless the clock of the file system did not move.
type Stamp struct {
	Size, MTime, CTime int64 // times in nanoseconds since 1970; a platform may lack CTime
	Ino                uint64
	Mode               uint32
}

// Newest returns the time of the last change, as far as the stamp tells.
func (s Stamp) Newest() int64 { return max(s.MTime, s.CTime) }
