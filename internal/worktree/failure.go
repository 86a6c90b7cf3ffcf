package worktree

// failure sorts the errors of looking at a path by what a scan does about them.
type failure uint8

const (
	failFatal      failure = iota // stops the scan: the answer would be incomplete
	failGone                      // deleted since it was listed
	failReplaced                  // has become another kind of thing
	failUnreadable                // reported and left out
)
