package dir

// Failure classifies an error of lstat, open or read by what it says about the path.
type Failure uint8

const (
	Fatal      Failure = iota // nothing is known about the path
	Gone                      // the path does not exist any more
	Replaced                  // the path has another type now
	Unreadable                // the path exists and cannot be read
)
