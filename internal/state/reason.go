package state

// Purged is the reason of a skipped path whose contents a purge has taken out of the history.
const Purged = "purged"

// PathReason is a path that was left alone, and why.
type PathReason struct {
	Path   Path   `json:"path"` // from the root, '/'-separated
	Reason string `json:"reason"`
}
