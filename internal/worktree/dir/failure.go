package dir

// Failure sorts the errors of looking at a path by what a scan does about them.
type Failure uint8

const (
	Fatal      Failure = iota // stops the scan: the answer would be incomplete
	Gone                      // deleted since it was listed
	Replaced                  // has become another kind of thing
	Unreadable                // reported and left out
)
